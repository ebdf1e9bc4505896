// SPDX-License-Identifier: MIT
// docs/language.md is true: its whole specs parse, check and pass their own tests in the interpreter, in canonical form; its
// fragments parse; its errors read as printed; every builtin, knob and dtype of the tables is described and used.
#include "compiler/interpreter/CaseRunner.h"
#include "compiler/semantics/Builtins.h"
#include "compiler/semantics/Knobs.h"
#include "compiler/semantics/Lint.h"
#include "compiler/semantics/TestCalls.h"
#include "compiler/syntax/Parser.h"
#include "compiler/syntax/Printer.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <regex>

using namespace tilegym;

namespace {

/// ```` ```kind ... ``` ````: `tile` a whole spec, `tile part` sections of one, `tile wrong` a spec with an error, which the
/// `text` block after it shows.
struct Fence {
  std::string kind, text;
  size_t line = 0;
};

std::string readPage() {
  std::ifstream in(std::string(TILEGYM_SOURCE_DIR) + "/docs/language.md", std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Fence> fences(const std::string &page) {
  std::vector<Fence> list;
  bool inside = false;
  size_t number = 0;
  for (size_t at = 0; at < page.size(); ++number) {
    size_t end = std::min(page.find('\n', at), page.size());
    std::string line = page.substr(at, end - at);
    at = end + 1;
    if (line.rfind("```", 0) == 0) {
      inside = !inside;
      if (inside)
        list.push_back({line.substr(3), "", number + 1});
    } else if (inside) {
      list.back().text += line + "\n";
    }
  }
  REQUIRE_FALSE(inside);
  return list;
}

std::shared_ptr<const sem::OpModel> analyzed(const std::string &text, DiagnosticSink &sink) {
  auto tree =
      std::make_shared<const ast::Spec>(parseSpec(std::make_shared<SourceFile>("example.tile", text), sink));
  return sink.hasErrors() ? nullptr : sem::analyze(tree, {}, sink);
}

/// Checks a whole spec and runs its tests; the failures, as text.
std::string failuresOf(const std::string &text) {
  DiagnosticSink sink;
  auto op = analyzed(text, sink);
  if (!op || !sem::checkSpec(*op, sink))
    return renderAll(sink);
  sem::TestModel tests = sem::readTest(*op, *op->spec->test, sink);
  std::vector<sem::TestCall> calls = sem::testCalls(*op, tests, sink);
  if (sink.hasErrors() || calls.empty())
    return renderAll(sink) + (calls.empty() ? "no test at all" : "");
  interp::InterpreterBackend backend(*op, {});
  interp::CaseRunner runner(*op, tests);
  std::string failures;
  for (const sem::TestCall &call : calls) {
    interp::CaseResult result = runner.run(call, backend);
    if (result.status != interp::CaseResult::Passed)
      failures += call.name + ": " + result.skipped + "\n";
    for (const std::string &failure : result.failures)
      failures += failure + "\n";
  }
  return failures;
}

} // namespace

TEST_CASE("examples of the language reference run") {
  size_t whole = 0, parts = 0;
  for (const Fence &fence : fences(readPage())) {
    INFO("docs/language.md:" << fence.line << "\n" << fence.text);
    if (fence.kind == "tile") {
      ++whole;
      CHECK(failuresOf(fence.text) == "");
    }
    if (fence.kind == "tile" || fence.kind == "tile part") {
      ++parts;
      DiagnosticSink sink;
      ast::Spec spec = parseSpec(std::make_shared<SourceFile>("example.tile", fence.text), sink);
      CHECK(renderAll(sink) == "");
      CHECK(printSpec(spec) == fence.text);
    }
  }
  CHECK(whole >= 15);
  CHECK(parts > whole);
}

TEST_CASE("errors of the language reference read as printed") {
  std::vector<Fence> list = fences(readPage());
  size_t seen = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind != "tile wrong")
      continue;
    ++seen;
    INFO("docs/language.md:" << list[i].line);
    REQUIRE(i + 1 < list.size());
    REQUIRE(list[i + 1].kind == "text");
    DiagnosticSink sink;
    analyzed(list[i].text, sink);
    CHECK(renderAll(sink) == list[i + 1].text);
  }
  CHECK(seen >= 2);
}

TEST_CASE("every builtin is described as the table has it, and called in an example") {
  std::string page = readPage(), examples;
  for (const Fence &fence : fences(page))
    if (fence.kind == "tile")
      examples += fence.text;
  // `kernel all() {` calls nothing.
  examples = std::regex_replace(examples, std::regex("(^|\\n)(op|kernel|plan|fn|tune) [^\\n]*"), "$1");
  for (const sem::BuiltinInfo &builtin : sem::builtins()) {
    INFO(builtin.signature);
    CHECK(page.find("| `" + builtin.signature + "` |") != std::string::npos);
    CHECK(std::regex_search(examples, std::regex("\\b" + builtin.name + "\\(")));
  }
}

TEST_CASE("every knob, lint rule and dtype is described") {
  std::string page = readPage();
  for (const sem::LintRule &rule : sem::lintRules()) {
    INFO(rule.name);
    CHECK(page.find("| `" + std::string(rule.name) + "`") != std::string::npos);
  }
  for (const sem::KnobInfo &knob : sem::knobs()) {
    INFO(knob.name);
    CHECK(page.find("| `" + std::string(knob.name) + "` | ") != std::string::npos);
    CHECK(page.find(" | " + knob.doc) != std::string::npos);
    for (const std::string &word : knob.words)
      CHECK(page.find("`" + word + "`") != std::string::npos);
  }
  for (DType type : allDTypes) {
    INFO(name(type));
    CHECK(page.find("`" + std::string(name(type)) + "`") != std::string::npos);
  }
}
