// SPDX-License-Identifier: MIT
// Diagnostics as JSON for editors and scripts. Written by hand because the language part depends on nothing.
#include "compiler/syntax/Diagnostic.h"
#include "compiler/syntax/Utf8.h"

namespace tilegym {
namespace {

void appendString(std::string &out, std::string_view text) {
  static const char hex[] = "0123456789abcdef";
  out += '"';
  for (size_t i = 0; i < text.size();) {
    Utf8Char c = decodeUtf8(text, i);
    if (!c.valid) {
      out += "\\ufffd";
    } else if (text[i] == '"' || text[i] == '\\') {
      out += '\\';
      out += text[i];
    } else if (text[i] == '\n') {
      out += "\\n";
    } else if (c.codepoint < 0x20 || c.codepoint == 0x7F) {
      out += "\\u00";
      out += hex[c.codepoint >> 4];
      out += hex[c.codepoint & 15];
    } else {
      out += text.substr(i, c.length);
    }
    i += c.length;
  }
  out += '"';
}

void appendList(std::string &out, const std::vector<Diagnostic> &list);

void appendDiagnostic(std::string &out, const Diagnostic &diagnostic) {
  static const char *const severities[] = {"note", "warning", "error"};
  out += "{\"severity\": \"";
  out += severities[static_cast<int>(diagnostic.severity)];
  out += '"';
  if (const SourceFile *file = diagnostic.range.file) {
    auto begin = file->lineColumn(diagnostic.range.begin), end = file->lineColumn(diagnostic.range.end);
    out += ", \"file\": ";
    appendString(out, file->name());
    out += ", \"line\": " + std::to_string(begin.line) + ", \"column\": " + std::to_string(begin.column);
    out += ", \"endLine\": " + std::to_string(end.line) + ", \"endColumn\": " + std::to_string(end.column);
  }
  out += ", \"message\": ";
  appendString(out, diagnostic.message);
  if (!diagnostic.rule.empty()) {
    out += ", \"rule\": ";
    appendString(out, diagnostic.rule);
  }
  out += ", \"help\": ";
  appendString(out, diagnostic.help);
  out += ", \"notes\": ";
  appendList(out, diagnostic.notes);
  out += '}';
}

void appendList(std::string &out, const std::vector<Diagnostic> &list) {
  out += '[';
  for (size_t i = 0; i < list.size(); ++i) {
    if (i)
      out += ", ";
    appendDiagnostic(out, list[i]);
  }
  out += ']';
}

} // namespace

std::string renderJson(const DiagnosticSink &sink) {
  std::string out;
  appendList(out, sink.all());
  return out + "\n";
}

} // namespace tilegym
