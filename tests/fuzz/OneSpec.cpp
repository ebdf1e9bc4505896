// SPDX-License-Identifier: MIT
// Parses, renders every diagnostic, and for valid text prints it, parses it again and compares; then the meaning: analysis, bodies,
// variants, tune points and test calls.
#include "tests/fuzz/OneSpec.h"
#include "compiler/semantics/TestCalls.h"
#include "compiler/syntax/Dump.h"
#include "compiler/syntax/Parser.h"
#include "compiler/syntax/Printer.h"
#include "compiler/syntax/Utf8.h"
#include <cstdio>
#include <cstdlib>

namespace tilegym::fuzz {
namespace {

void require(bool holds, const char *claim, std::string_view input, std::string_view detail = {}) {
  if (holds)
    return;
  std::fprintf(stderr, "fuzz: not so: %s\n%.*s\n---- input\n%.*s\n----\n", claim, int(detail.size()),
               detail.data(), int(input.size()), input.data());
  std::abort();
}

bool isUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    Utf8Char c = decodeUtf8(text, i);
    if (!c.valid)
      return false;
    i += c.length;
  }
  return true;
}

void checkDiagnostics(const DiagnosticSink &sink, std::string_view text) {
  for (const Diagnostic &diagnostic : sink.all()) {
    require(diagnostic.range.begin <= diagnostic.range.end && diagnostic.range.end <= text.size(),
            "a diagnostic's range lies in the text", text, diagnostic.message);
    require(!diagnostic.message.empty() && isUtf8(diagnostic.message) && isUtf8(diagnostic.help),
            "messages are not empty and valid UTF-8", text, diagnostic.message);
  }
  std::string shown = renderAll(sink) + renderAll(sink, true) + renderJson(sink);
  require(isUtf8(shown), "rendered diagnostics are valid UTF-8", text, shown);
}

/// Everything that reads a syntactically valid spec. True if it is right.
bool checkMeaning(std::shared_ptr<const ast::Spec> spec, std::string_view text) {
  DiagnosticSink sink;
  std::shared_ptr<const sem::OpModel> op = sem::analyze(spec, {}, sink);
  checkDiagnostics(sink, text);
  require((op != nullptr) != sink.hasErrors(), "a spec is refused with an error and only then", text,
          renderAll(sink));
  if (!op)
    return false;
  bool right = sem::checkSpec(*op, sink);
  require(right != sink.hasErrors(), "bodies are refused with an error and only then", text, renderAll(sink));
  std::vector<sem::Specialization> interfaces = sem::enumerateInterfaces(*op);
  for (size_t kernel = 0; kernel < op->kernels.size() && !interfaces.empty(); ++kernel)
    for (const sem::Specialization &base : sem::enumerateDerived(*op, interfaces.back(), int64_t(kernel)))
      sem::candidates(*op, base, "sm_90a", sink);
  sem::TestModel tests = sem::readTest(*op, *spec->test, sink);
  sem::testCalls(*op, tests, sink);
  checkDiagnostics(sink, text);
  return right;
}

} // namespace

bool fuzzOneSpec(std::string_view text) {
  DiagnosticSink sink;
  auto tree = std::make_shared<ast::Spec>(
      parseSpec(std::make_shared<SourceFile>("fuzz.tile", std::string(text)), sink));
  const ast::Spec &spec = *tree;
  checkDiagnostics(sink, text);
  std::string printed = printSpec(spec); // a tree with holes must print, too
  if (sink.hasErrors())
    return false;

  DiagnosticSink again;
  ast::Spec second = parseSpec(std::make_shared<SourceFile>("printed.tile", printed), again);
  require(!again.hasErrors(), "what the formatter prints parses", text, renderAll(again));
  require(dumpSpec(second) == dumpSpec(spec), "formatting keeps the tree", text, printed);
  std::string twice = printSpec(second);
  require(twice == printed, "formatting is a fixed point", text, printed + "---- then\n" + twice);
  return checkMeaning(tree, text);
}

} // namespace tilegym::fuzz
