// SPDX-License-Identifier: MIT
// Parses, renders every diagnostic; valid text is printed, parsed again and compared, then analyzed and checked.
#include "tests/fuzz/OneSpec.h"
#include "compiler/semantics/OpModel.h"
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

  DiagnosticSink meaning;
  auto op = sem::analyze(tree, {}, meaning);
  bool checked = op && sem::checkSpec(*op, meaning);
  require(checked || meaning.hasErrors(), "what is refused is refused with an error", text);
  checkDiagnostics(meaning, text);
  return checked;
}

} // namespace tilegym::fuzz
