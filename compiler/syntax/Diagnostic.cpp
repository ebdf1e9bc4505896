// SPDX-License-Identifier: MIT
// Collects diagnostics in the order they were reported.
#include "compiler/syntax/Diagnostic.h"

namespace tilegym {

Diagnostic &DiagnosticSink::add(Severity severity, SourceRange range, std::string message, std::string help) {
  Diagnostic &diagnostic = diagnostics.size() < limit ? diagnostics.emplace_back() : dropped = Diagnostic();
  diagnostic.severity = severity;
  diagnostic.range = range;
  diagnostic.message = std::move(message);
  diagnostic.help = std::move(help);
  return diagnostic;
}

Diagnostic &DiagnosticSink::error(SourceRange range, std::string message, std::string help) {
  ++errorCount;
  return add(Severity::Error, range, std::move(message), std::move(help));
}

Diagnostic &DiagnosticSink::warning(SourceRange range, std::string message, std::string help) {
  return add(Severity::Warning, range, std::move(message), std::move(help));
}

} // namespace tilegym
