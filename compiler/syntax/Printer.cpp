// SPDX-License-Identifier: MIT
// Layout: lines, indentation, wrapping, comments, and things between braces.
#include "compiler/syntax/Printer.h"
#include "compiler/syntax/PrinterImpl.h"

namespace tilegym::syntax {

using namespace ast;

/// Shown width: bytes, which is right for all but comments and strings, and there only breaks a line early.
size_t Printer::column() const {
  size_t newline = out.rfind('\n');
  return newline == std::string::npos ? out.size() : out.size() - newline - 1;
}

void Printer::startLine() { out.append(indent * 2, ' '); }

/// `#x` and `##x` get a space after the signs.
void Printer::comment(std::string_view text) {
  size_t signs = text.find_first_not_of('#');
  if (signs == std::string_view::npos || text[signs] == ' ' || text[signs] == '!') {
    out += text;
    return;
  }
  out += text.substr(0, signs);
  out += ' ';
  out += text.substr(signs);
}

void Printer::comments(const std::vector<std::string> &list) {
  for (const std::string &text : list) {
    if (!text.empty()) {
      startLine();
      comment(text);
    }
    endLine();
  }
}

/// Writes the flow from the current column on. A line that is too long is broken at the cheapest place that fits, the
/// last of equals; the rest is indented by four.
void Printer::wrap(const Flow &flow) {
  size_t begin = 0;
  auto next = flow.breaks.begin();
  while (column() + flow.text.size() - begin > printWidth) {
    size_t room = printWidth > column() ? printWidth - column() : 0;
    const Flow::Break *best = nullptr, *firstBeyond = nullptr;
    for (auto b = next; b != flow.breaks.end(); ++b) {
      size_t length = b->at - 1 - begin; // the space itself is dropped
      if (length > room) {
        firstBeyond = &*b;
        break;
      }
      if (length > 0 && (!best || b->cost <= best->cost))
        best = &*b;
    }
    if (!best)
      best = firstBeyond; // nothing fits: the line gets as short as it can
    if (!best)
      break;
    out += std::string_view(flow.text).substr(begin, best->at - 1 - begin);
    out += '\n';
    out.append(indent * 2 + 4, ' ');
    begin = best->at;
    next = flow.breaks.begin() + (best - flow.breaks.data()) + 1;
  }
  out += std::string_view(flow.text).substr(begin);
}

bool Printer::flatEntries(Flow &flow, const std::vector<Entry> &list,
                          const std::vector<std::string> &endComments, bool oneLine) {
  if (list.empty() && endComments.empty()) {
    flow.add("{}");
    return true;
  }
  if (!oneLine || !endComments.empty())
    return false;
  flow.add("{ ");
  for (const Entry &entry : list) {
    if (!entry.isFlat || !entry.trivia->comments.empty() || !entry.trivia->trailingComment.empty())
      return false;
    if (&entry != &list.front())
      flow.add("; ");
    flow.add(entry.flow);
  }
  flow.add(" }");
  return true;
}

/// The lines between two braces. Things written on one line with `;` stay so as long as they fit.
void Printer::entries(const std::vector<Entry> &list, const std::vector<std::string> &endComments) {
  const Entry *previous = nullptr; // only if another may follow on its line
  for (const Entry &entry : list) {
    const Trivia &trivia = *entry.trivia;
    bool joins = previous && trivia.joined && trivia.comments.empty() && entry.isFlat &&
                 column() + 2 + entry.flow.text.size() <= printWidth;
    if (joins) {
      out += "; " + entry.flow.text;
    } else {
      if (&entry != &list.front()) {
        endLine();
        if (trivia.blankBefore)
          endLine();
      }
      comments(trivia.comments);
      startLine();
    }
    bool fits = entry.isFlat && column() + (joins ? 0 : entry.flow.text.size()) <= printWidth;
    if (!joins && fits)
      out += entry.flow.text;
    else if (!joins && entry.print)
      entry.print();
    else if (!joins)
      wrap(entry.flow);
    if (!trivia.trailingComment.empty()) {
      out += "  ";
      comment(trivia.trailingComment);
    }
    previous = fits && trivia.trailingComment.empty() ? &entry : nullptr;
  }
  if (!list.empty())
    endLine();
  comments(endComments);
}

void Printer::braces(const std::vector<Entry> &list, const std::vector<std::string> &endComments,
                     bool oneLine) {
  Flow flat;
  if (flatEntries(flat, list, endComments, oneLine) && column() + 1 + flat.text.size() <= printWidth) {
    out += " " + flat.text;
    return;
  }
  out += " {\n";
  ++indent;
  entries(list, endComments);
  --indent;
  startLine();
  out += '}';
}

void Printer::block(const Block &block) { braces(stmtEntries(block), block.endComments, block.oneLine); }

std::string Printer::spec(const Spec &spec) {
  using Section = Spec::Section;
  comments(spec.headComments);
  const Section *previous = nullptr;
  for (const auto &[kind, index] : spec.order) {
    auto trivia = [&](auto &decl) -> const Trivia & { return decl; };
    const Trivia &own = kind == Section::Use         ? trivia(spec.uses[index])
                        : kind == Section::Fn        ? trivia(spec.fns[index])
                        : kind == Section::Op        ? trivia(*spec.op)
                        : kind == Section::Reference ? trivia(*spec.reference)
                        : kind == Section::Kernel    ? trivia(spec.kernels[index])
                        : kind == Section::Tune      ? trivia(spec.tunes[index])
                        : kind == Section::Test      ? trivia(*spec.test)
                                                     : trivia(*spec.bench);
    bool mayFollow = kind == Section::Tune || kind == Section::Bench || kind == Section::Fn ||
                     (kind == Section::Use && previous && *previous == Section::Use);
    if (previous ? own.blankBefore || !mayFollow : !spec.headComments.empty())
      endLine();
    comments(own.comments);
    section(spec, kind, index);
    if (!own.trailingComment.empty()) {
      out += "  ";
      comment(own.trailingComment);
    }
    endLine();
    previous = &kind;
  }
  if (!spec.endComments.empty()) {
    if (previous || !spec.headComments.empty())
      endLine();
    comments(spec.endComments);
  }
  return std::move(out);
}

} // namespace tilegym::syntax

std::string tilegym::printSpec(const ast::Spec &spec) { return syntax::Printer().spec(spec); }
