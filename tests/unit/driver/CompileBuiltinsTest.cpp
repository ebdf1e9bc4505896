// SPDX-License-Identifier: MIT
// The example of each builtin compiles to PTX with its asserts in, or the compiler says that the target cannot yet, of these and no others.
#include "compiler/driver/ChooseVariant.h"
#include "compiler/driver/Compile.h"
#include "compiler/semantics/Builtins.h"
#include "compiler/syntax/Parser.h"
#include "llvm/Support/Error.h"
#include <catch2/catch.hpp>
#include <set>

using namespace tilegym;

namespace {

/// What compiling one example says: nothing where all is well.
std::string compileExample(const sem::BuiltinInfo &info, tile::FactKind facts, driver::Stage stage) {
  DiagnosticSink sink;
  auto file = std::make_shared<SourceFile>(info.name, sem::builtinExampleSpec(info));
  auto spec = std::make_shared<ast::Spec>(parseSpec(file, sink));
  auto op = sink.hasErrors() ? nullptr : sem::analyze(spec, {}, sink);
  if (!op)
    return renderAll(sink);
  auto variant = driver::chooseVariant(*op, op->kernels[0].name, {}, "", sink);
  if (!variant)
    return renderAll(sink);
  driver::CompileOptions options;
  options.arch = llvm::cantFail(emit::parseArch("sm_80"));
  options.stopAfter = stage;
  options.pipeline.checks = true;
  auto compiled = driver::compileVariant(*op, *variant, facts, options, sink);
  return compiled && !sink.hasErrors() ? "" : renderAll(sink);
}

} // namespace

TEST_CASE("examples of builtins compile") {
  const std::set<std::string> later = {"mma_scaled", "sort", "topk", "histogram"};
  for (const sem::BuiltinInfo &info : sem::builtins()) {
    INFO(info.name << ": " << info.example);
    std::string fast = compileExample(info, tile::FactKind::Fast, driver::Stage::Ptx);
    if (later.count(info.name)) {
      CHECK(fast.find("the target cannot lower ") != std::string::npos);
      continue;
    }
    CHECK(fast == "");
    CHECK(compileExample(info, tile::FactKind::General, driver::Stage::Llvm) == "");
  }
}
