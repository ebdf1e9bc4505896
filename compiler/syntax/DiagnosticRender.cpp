// SPDX-License-Identifier: MIT
// Diagnostics as text for people: place, message, the source line and a caret. Whatever the file holds (tabs, long
// lines, bad UTF-8, control characters), the output is valid UTF-8 and the caret stands under what is meant.
#include "compiler/syntax/Diagnostic.h"
#include "compiler/syntax/Utf8.h"
#include <algorithm>

namespace tilegym {
namespace {

constexpr size_t maxLineColumns = 120; ///< longer source lines are cut to a window around the caret
constexpr size_t tabWidth = 4;

struct Colors {
  const char *bold = "", *red = "", *yellow = "", *cyan = "", *green = "", *reset = "";
};
Colors palette(bool color) {
  if (!color)
    return {};
  return {"\033[1m", "\033[1;31m", "\033[1;35m", "\033[1;36m", "\033[1;32m", "\033[0m"};
}

/// A source line as shown, one entry a column, with the columns that stand for bytes [begin, end) of it.
struct ShownLine {
  std::vector<std::string> columns;
  size_t caretBegin = 0, caretEnd = 0;
};

ShownLine layOut(std::string_view line, size_t begin, size_t end) {
  ShownLine shown;
  bool sawBegin = false, sawEnd = false;
  for (size_t i = 0; i < line.size();) {
    if (!sawBegin && i >= begin)
      shown.caretBegin = shown.columns.size(), sawBegin = true;
    if (!sawEnd && i >= end)
      shown.caretEnd = shown.columns.size(), sawEnd = true;
    Utf8Char c = decodeUtf8(line, i);
    if (line[i] == '\t') {
      size_t width = tabWidth - shown.columns.size() % tabWidth;
      shown.columns.insert(shown.columns.end(), width, " ");
    } else if (!c.valid || c.codepoint < 0x20 || (c.codepoint >= 0x7F && c.codepoint < 0xA0)) {
      shown.columns.push_back(
          "\xEF\xBF\xBD"); // the replacement character: never pass raw control bytes to a terminal
    } else {
      shown.columns.emplace_back(line.substr(i, c.length));
    }
    i += c.length;
  }
  if (!sawBegin)
    shown.caretBegin = shown.columns.size();
  if (!sawEnd)
    shown.caretEnd = shown.columns.size();
  shown.caretEnd = std::max(shown.caretEnd, shown.caretBegin + 1); // an empty range still gets one caret
  return shown;
}

void appendSource(std::string &out, SourceRange range, const Colors &colors) {
  auto place = range.file->lineColumn(range.begin);
  std::string_view line = range.file->line(place.line);
  size_t begin = place.column - 1;
  size_t length = range.end > range.begin ? range.end - range.begin : 0;
  ShownLine shown = layOut(line, begin, std::min(begin + length, line.size()));

  size_t first = 0, last = shown.columns.size();
  if (last > maxLineColumns) {
    first = shown.caretBegin > maxLineColumns / 2 ? shown.caretBegin - maxLineColumns / 2 : 0;
    first = std::min(first, last - maxLineColumns);
    last = first + maxLineColumns;
  }
  std::string number = std::to_string(place.line);
  std::string text;
  for (size_t i = first; i < last; ++i)
    text += shown.columns[i];
  text.erase(text.find_last_not_of(' ') + 1);
  const char *cutLeft = first > 0 ? "..." : "";
  out += " " + number + (text.empty() ? " |" : " | ") + cutLeft + text +
         (last < shown.columns.size() ? "..." : "") + "\n";

  size_t caretEnd = std::min(shown.caretEnd, std::max(last, shown.caretBegin + 1));
  out += std::string(number.size() + 1, ' ') + " | " + std::string(std::string_view(cutLeft).size(), ' ');
  out += std::string(shown.caretBegin - first, ' ') + colors.green + "^";
  out += std::string(caretEnd - shown.caretBegin - 1, '~') + colors.reset + "\n";
}

void appendDiagnostic(std::string &out, const Diagnostic &diagnostic, const Colors &colors) {
  if (diagnostic.range.file) {
    auto place = diagnostic.range.file->lineColumn(diagnostic.range.begin);
    out += colors.bold + diagnostic.range.file->name() + ":" + std::to_string(place.line) + ":" +
           std::to_string(place.column) + ": " + colors.reset;
  }
  switch (diagnostic.severity) {
  case Severity::Error:
    out += std::string(colors.red) + "error: ";
    break;
  case Severity::Warning:
    out += std::string(colors.yellow) + "warning: ";
    break;
  case Severity::Note:
    out += std::string(colors.cyan) + "note: ";
    break;
  }
  out += colors.reset + diagnostic.message + (diagnostic.rule.empty() ? "" : " [" + diagnostic.rule + "]") +
         "\n";
  if (diagnostic.range.file)
    appendSource(out, diagnostic.range, colors);
  if (!diagnostic.help.empty())
    out += std::string("  ") + colors.cyan + "help: " + colors.reset + diagnostic.help + "\n";
  for (const Diagnostic &note : diagnostic.notes)
    appendDiagnostic(out, note, colors);
}

} // namespace

std::string render(const Diagnostic &diagnostic, bool color) {
  std::string out;
  appendDiagnostic(out, diagnostic, palette(color));
  return out;
}

std::string renderAll(const DiagnosticSink &sink, bool color) {
  std::string out;
  for (const Diagnostic &diagnostic : sink.all())
    out += render(diagnostic, color);
  return out;
}

} // namespace tilegym
