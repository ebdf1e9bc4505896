// SPDX-License-Identifier: MIT
// From an op model to the hand-made package's structures.
#include "tests/unit/runtime/SpecPackage.h"
#include "compiler/syntax/Parser.h"
#include <bit>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

namespace tilegym::testing {

std::string sourceFile(const std::string &path) {
  std::ifstream in(std::string(TILEGYM_SOURCE_DIR) + "/" + path);
  REQUIRE(in);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

static int64_t bitsOf(const sem::Constant &c) {
  return c.isFloat() ? std::bit_cast<int64_t>(c.asFloat()) : c.asInt();
}

OpText opOfSpec(const std::string &text, const std::vector<std::pair<std::string, std::string>> &libraries,
                std::vector<uint64_t> present) {
  DiagnosticSink sink;
  sem::SearchPath path;
  for (const auto &[name, contents] : libraries)
    path.libraries.emplace_back(name, std::make_shared<const SourceFile>(name, contents));
  auto spec =
      std::make_shared<const ast::Spec>(parseSpec(std::make_shared<const SourceFile>("op.tile", text), sink));
  auto model = sem::analyze(spec, path, sink);
  INFO(renderAll(sink));
  REQUIRE(model);
  OpText o;
  o.name = model->name;
  o.sources = {{"op.tile", text}};
  o.sources.insert(o.sources.end(), libraries.begin(), libraries.end());
  VariantText v;
  for (const sem::TypeVar &var : model->typeVars) {
    std::vector<uint8_t> choices;
    for (tilegym::DType d : var.choices)
      choices.push_back(uint8_t(d));
    v.dtypes.push_back(choices[0]);
    o.typeVars.push_back({var.name, choices});
  }
  for (const sem::DimVar &d : model->dims)
    o.dims.push_back({d.name, d.choices, d.isGroup, d.perElement});
  for (const sem::TensorParam &t : model->tensors) {
    TensorText tensor{t.name,     Role(t.role), uint32_t(t.typeVar), {},
                      t.optional, {},           uint32_t(t.aliasOf), t.isList};
    for (const sem::DimUse &use : t.dims)
      tensor.dims.push_back({uint32_t(use.dim), use.orOne, use.isGroup, {}});
    o.tensors.push_back(tensor);
  }
  for (const sem::ScalarParam &s : model->scalars) {
    ScalarText scalar{s.name, uint32_t(s.typeVar), s.isConst, {}, {}};
    for (const sem::Constant &c : s.choices)
      scalar.choices.push_back(bitsOf(c));
    if (s.defaultValue)
      scalar.defaultBits = bitsOf(*s.defaultValue);
    v.consts.push_back(s.isConst ? scalar.choices[0] : kRunTime);
    o.scalars.push_back(scalar);
  }
  o.kernels = {{"rows"}};
  for (uint64_t bits : present) {
    v.present = bits;
    o.variants.push_back(v);
  }
  return o;
}

} // namespace tilegym::testing
