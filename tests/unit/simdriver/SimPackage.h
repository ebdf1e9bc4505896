// SPDX-License-Identifier: MIT
// A spec's text as a package of code for the simulator, which tests of the driver open.
#pragma once
#include "compiler/driver/CompileOp.h"
#include "compiler/syntax/Parser.h"
#include "llvm/Support/Error.h"
#include <catch2/catch.hpp>
#include <string>

namespace tilegym {

inline std::string simPackage(const std::string &spec, const std::string &name) {
  DiagnosticSink sink;
  auto parsed =
      std::make_shared<ast::Spec>(parseSpec(std::make_shared<SourceFile>(name + ".tile", spec), sink));
  auto op = sem::analyze(parsed, {}, sink);
  INFO(renderAll(sink));
  REQUIRE(op);
  driver::CompileOpOptions options;
  options.archs = {llvm::cantFail(emit::parseArch("sm_90a"))};
  options.cache = false;
  options.jobs = 1;
  options.pipeline.platform = driver::Platform::Simulator;
  driver::CompileReport report;
  auto compiled = driver::compileOp(op, options, report, sink);
  INFO(renderAll(sink));
  REQUIRE(compiled);
  emit::Package package;
  package.name = name;
  package.embedPtx = false;
  package.ops.push_back(std::move(*compiled));
  return llvm::cantFail(emit::writeTable(package));
}

} // namespace tilegym
