// SPDX-License-Identifier: MIT
// manifest.json: what a package holds, for people and tools. The runtime never reads it.
#include "compiler/emit/Package.h"
#include "compiler/emit/Signature.h"
#include "tilegym/format/Checksum.h"
#include "tilegym/format/Table.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

namespace tilegym::emit {
namespace {

using json = nlohmann::ordered_json;

std::string hex(uint64_t value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format_hex_no_prefix(value, 16);
  return text;
}

json constantOf(const sem::Constant &c) {
  return c.isBool() ? json(c.asBool()) : c.isInt() ? json(c.asInt()) : json(c.asFloat());
}

json variantOf(const sem::OpModel &op, const PackageVariant &v) {
  json j;
  j["entry"] = v.abi.entry;
  j["kernel"] = op.kernels[v.spec.kernel].name;
  j["arch"] = v.arch.chip;
  j["facts"] = tile::nameOf(v.abi.kind());
  for (size_t i = 0; i < op.typeVars.size(); ++i)
    if (!op.typeVars[i].name.empty())
      j["dtypes"][op.typeVars[i].name] = std::string(name(v.spec.dtypes[i]));
  for (size_t i = 0; i < op.scalars.size(); ++i)
    if (op.scalars[i].isConst)
      j["consts"][op.scalars[i].name] = constantOf(v.spec.consts[i]);
  for (size_t i = 0; i < op.dims.size(); ++i)
    if (!op.dims[i].choices.empty())
      j["dims"][op.dims[i].name] = v.spec.constDims[i];
  for (size_t i = 0; i < op.tensors.size(); ++i)
    if (op.tensors[i].optional)
      j["present"][op.tensors[i].name] = bool(v.spec.present[i]);
  for (const sem::NamedInt &p : v.spec.params)
    j["params"][p.name] = p.value;
  for (const sem::NamedInt &k : v.spec.knobs)
    j["knobs"][k.name] = k.value;
  if (v.plan) {
    j.erase("facts");
    for (const sem::ScratchBuffer &buffer : v.plan->steps.scratch)
      j["scratch"].push_back(
          {{"name", buffer.name}, {"dtype", std::string(name(buffer.dtype))}, {"rank", buffer.dims.size()}});
    for (const PackageOp &launched : v.plan->launched) {
      json variants = json::array();
      for (const PackageVariant &one : launched.variants)
        variants.push_back(variantOf(*launched.model, one));
      j["launches"].push_back({{"variants", std::move(variants)}});
    }
    return j;
  }
  for (const tile::TensorMapABI &map : v.abi.maps) {
    json box = json::array();
    for (const tile::MapAxis &axis : map.axes)
      box.push_back(axis.box);
    j["tensor_maps"].push_back(
        {{"tensor", op.tensors[map.tensor].name}, {"box", std::move(box)}, {"swizzle", map.swizzle}});
  }
  j["threads"] = v.abi.threads();
  if (v.abi.blocksPerSm)
    j["blocks_per_sm"] = v.abi.blocksPerSm;
  j["shared_bytes"] = v.sharedBytes;
  if (!v.cubin.empty()) {
    j["registers"] = v.resources.registers;
    j["spill_bytes"] = v.resources.spills();
    j["stack_bytes"] = v.resources.stack;
    j["cubin_bytes"] = v.cubin.size();
  }
  j["ptx_hash"] = hex(format::checksum64(v.ptx.data(), v.ptx.size()));
  return j;
}

} // namespace

std::string writeManifest(const Package &package, llvm::StringRef table) {
  json j;
  j["package"] = package.name;
  j["format"] = format::kVersion;
  j["producer"] = package.producer;
  j["hash"] = hex(format::checksum64(table.data(), table.size()));
  j["ops"] = json::array();
  for (const PackageOp &op : package.ops) {
    json o;
    o["name"] = op.model->name;
    o["doc"] = op.model->doc;
    for (const sem::TensorParam &t : op.model->tensors) {
      o["tensors"].push_back({{"name", t.name},
                              {"role", t.role == sem::Role::Input    ? "input"
                                       : t.role == sem::Role::Output ? "output"
                                                                     : "inout"},
                              {"optional", t.optional}});
      if (t.isList)
        o["tensors"].back()["list"] = true;
    }
    for (const sem::ScalarParam &s : op.model->scalars)
      o["scalars"].push_back({{"name", s.name}, {"const", s.isConst}});
    static const char *const kinds[] = {"tensor", "scalar", "pointer", "const", "list"};
    for (const CArgument &a : signatureOf(*op.model))
      o["arguments"].push_back({{"name", a.name},
                                {"kind", kinds[a.kind]},
                                {"dtype", a.kind == CArgument::Tensor || a.kind == CArgument::List
                                              ? json()
                                              : json(std::string(name(a.dtype)))}});
    for (const sem::KernelModel &k : op.model->kernels)
      o["kernels"].push_back({{"name", k.name}, {"guarded", k.guard != nullptr}});
    o["variants"] = json::array();
    for (const PackageVariant &v : op.variants)
      o["variants"].push_back(variantOf(*op.model, v));
    j["ops"].push_back(std::move(o));
  }
  return j.dump(2) + "\n";
}

} // namespace tilegym::emit
