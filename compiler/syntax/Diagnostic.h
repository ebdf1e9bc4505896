// SPDX-License-Identifier: MIT
// Errors, warnings and notes with their place, collected by a DiagnosticSink and printed with the source line and a caret
// (or as JSON). Nothing in the language part throws: a function that can fail reports here and returns an empty value.
#pragma once
#include "compiler/syntax/Source.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tilegym {

enum class Severity { Note, Warning, Error };

/// `message` says what was found and what was expected, in lower case and without a full stop; `help` says what to do.
struct Diagnostic {
  Severity severity = Severity::Error;
  SourceRange range;
  std::string message;
  std::string help;
  std::string rule = {};              ///< of a lint finding: which rule
  std::vector<Diagnostic> notes = {}; ///< other places involved
};

class DiagnosticSink {
public:
  /// Beyond `limit` diagnostics, further ones are counted but not kept.
  explicit DiagnosticSink(size_t limit = SIZE_MAX) : limit(limit) {}
  /// The returned reference is valid until the next report; use it to attach help and notes.
  Diagnostic &error(SourceRange range, std::string message, std::string help = {});
  Diagnostic &warning(SourceRange range, std::string message, std::string help = {});
  bool hasErrors() const { return errorCount != 0; }
  size_t numErrors() const { return errorCount; }
  const std::vector<Diagnostic> &all() const { return diagnostics; }
  /// Keeps a file alive as long as the sink, so that what was reported can still be shown when its tree is gone. The parser does it.
  void keep(std::shared_ptr<const SourceFile> file) { files.push_back(std::move(file)); }

private:
  std::vector<std::shared_ptr<const SourceFile>> files;
  Diagnostic &add(Severity severity, SourceRange range, std::string message, std::string help);

  size_t limit;
  std::vector<Diagnostic> diagnostics;
  Diagnostic dropped; ///< the last one beyond the limit
  size_t errorCount = 0;
};

/// `file:line:col: error: message`, the source line, a caret under the range, then help and notes.
std::string render(const Diagnostic &diagnostic, bool color = false);
std::string renderAll(const DiagnosticSink &sink, bool color = false);
/// A JSON array of {severity, file, line, column, endLine, endColumn, message, rule (of a lint finding), help, notes}.
std::string renderJson(const DiagnosticSink &sink);

} // namespace tilegym
