// SPDX-License-Identifier: MIT
// The example of each builtin, as its reference page shows it, runs and its asserts hold.
#include "compiler/interpreter/CaseRunner.h"
#include "compiler/semantics/Builtins.h"
#include "compiler/semantics/TestCalls.h"
#include "compiler/syntax/Parser.h"
#include <catch2/catch.hpp>

using namespace tilegym;

namespace {

/// What running one example says: nothing where all is well.
std::string runExample(const sem::BuiltinInfo &info) {
  std::string text = sem::builtinExampleSpec(info);
  DiagnosticSink sink;
  auto spec = std::make_shared<ast::Spec>(parseSpec(std::make_shared<SourceFile>(info.name, text), sink));
  auto op = sink.hasErrors() ? nullptr : sem::analyze(spec, {}, sink);
  if (!op || !sem::checkSpec(*op, sink))
    return renderAll(sink);
  sem::TestModel model = sem::readTest(*op, *op->spec->test, sink);
  std::vector<sem::TestCall> calls = sem::testCalls(*op, model, sink);
  std::vector<interp::Fault> faults;
  auto arguments =
      calls.size() == 1 ? interp::makeInputs(*op, calls[0], interp::Spread::Dense, faults) : std::nullopt;
  if (!arguments)
    return "no inputs";
  sem::Specialization point = calls[0].bound.spec;
  point.kernel = 0;
  std::string said;
  for (const interp::Fault &fault : interp::runVariant(*op, point, *arguments).faults)
    said += render(interp::toDiagnostic(fault));
  return said;
}

} // namespace

TEST_CASE("examples of builtins hold") {
  for (const sem::BuiltinInfo &info : sem::builtins()) {
    INFO(info.example);
    CHECK(runExample(info) == "");
  }
  sem::BuiltinInfo wrong = *sem::findBuiltin("abs");
  wrong.example = "assert(abs(-3) == 4)";
  CHECK(runExample(wrong).find("abs(-3) == 4") != std::string::npos);
}
