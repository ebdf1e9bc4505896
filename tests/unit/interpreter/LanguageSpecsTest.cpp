// SPDX-License-Identifier: MIT
// The specs of tests/specs/good use each construct of the language; every case of them passes in the interpreter.
#include "compiler/interpreter/CaseRunner.h"
#include "compiler/semantics/SpecLookup.h"
#include "compiler/semantics/TestCalls.h"
#include <catch2/catch.hpp>
#include <filesystem>

using namespace tilegym;

TEST_CASE("specs that use each construct do what they say") {
  std::string folder = std::string(TILEGYM_SOURCE_DIR) + "/tests/specs/good";
  size_t ran = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".tile")
      continue;
    DiagnosticSink sink;
    auto op = sem::loadSpec(entry.path().string(), {{folder}}, sink);
    INFO(entry.path().filename().string() << "\n" << renderAll(sink));
    REQUIRE(op);
    sem::TestModel model = sem::readTest(*op, *op->spec->test, sink);
    std::vector<sem::TestCall> cases = sem::testCalls(*op, model, sink);
    interp::InterpreterBackend backend(*op, {});
    interp::CaseRunner runner(*op, model);
    for (const sem::TestCall &test : cases) {
      interp::CaseResult result = runner.run(test, backend);
      std::string text = test.name + " " + result.skipped;
      for (const std::string &failure : result.failures)
        text += "\n" + failure;
      INFO(text);
      CHECK(result.status == interp::CaseResult::Passed);
      ++ran;
    }
  }
  CHECK(ran > 40);
}
