// SPDX-License-Identifier: MIT
// The public entry points: bounds on the input, and reports in the order of the text.
#include "compiler/syntax/Parser.h"
#include "compiler/syntax/ParserImpl.h"
#include <algorithm>

namespace tilegym {

namespace {

constexpr size_t maxFileSize = 4u << 20;
constexpr size_t maxErrors = 50; ///< shown
constexpr size_t maxKept = 1000; ///< before they are put in order

/// The lexer runs ahead of the parser, so reports are put in the order of the text here.
void report(DiagnosticSink &found, DiagnosticSink &sink) {
  std::vector<const Diagnostic *> sorted;
  for (const Diagnostic &diagnostic : found.all())
    sorted.push_back(&diagnostic);
  // Equal places keep the order of the reports, which is that of their addresses.
  std::sort(sorted.begin(), sorted.end(), [](const Diagnostic *a, const Diagnostic *b) {
    return a->range.begin != b->range.begin ? a->range.begin < b->range.begin : a < b;
  });
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i == maxErrors) {
      sink.error(sorted[i]->range,
                 "more than " + std::to_string(maxErrors) + " errors; the rest is not shown",
                 "mend these first");
      return;
    }
    sink.error(sorted[i]->range, sorted[i]->message, sorted[i]->help).notes = sorted[i]->notes;
  }
}

bool tooLarge(const SourceFile &file, DiagnosticSink &sink) {
  if (file.text().size() <= maxFileSize)
    return false;
  sink.error({&file, 0, 0},
             "the file has " + std::to_string(file.text().size()) + " bytes, a spec at most " +
                 std::to_string(maxFileSize),
             "is this really a spec?");
  return true;
}

} // namespace

ast::Spec parseSpec(std::shared_ptr<const SourceFile> file, DiagnosticSink &sink) {
  ast::Spec spec;
  spec.file = file;
  sink.keep(file);
  if (tooLarge(*file, sink))
    return spec;
  DiagnosticSink found(maxKept);
  spec = syntax::Parser(file, found).parseSpec();
  report(found, sink);
  return spec;
}

ast::ExprPtr parseExpr(std::shared_ptr<const SourceFile> file, DiagnosticSink &sink) {
  sink.keep(file);
  if (tooLarge(*file, sink))
    return nullptr;
  DiagnosticSink found(maxKept);
  ast::ExprPtr expr = syntax::Parser(file, found).parseWholeExpr();
  report(found, sink);
  return found.hasErrors() ? nullptr : std::move(expr);
}

} // namespace tilegym
