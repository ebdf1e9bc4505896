// SPDX-License-Identifier: MIT
// Tokens, comments, error reports and recovery of the parser.
#include "compiler/syntax/Keywords.h"
#include "compiler/syntax/ParserImpl.h"
#include <algorithm>

namespace tilegym::syntax {

Parser::Parser(std::shared_ptr<const SourceFile> file, DiagnosticSink &sink)
    : file(std::move(file)), sink(sink), stream(tokenize(*this->file, sink)) {}

// ---------------------------------------------------------------- errors

Diagnostic *Parser::error(SourceRange range, std::string message, std::string help) {
  if (panic)
    return nullptr;
  panic = true;
  return &sink.error(range, std::move(message), std::move(help));
}

std::string Parser::found() const {
  if (lineEnded() && !at(Tok::End))
    return "the end of the line";
  return describe(tok());
}

SourceRange Parser::foundRange() const {
  if (lineEnded() && pos > 0)
    return {file.get(), previous().end, previous().end};
  return rangeOf(tok());
}

bool Parser::expected(const std::string &what, std::string help) {
  // The lexer has already said what is wrong with these.
  bool brokenBracket = tok().match == noMatch && (at(Tok::RParen) || at(Tok::RBracket) || at(Tok::RBrace));
  if (at(Tok::Bad) || brokenBracket || inBroken)
    panic = true;
  error(foundRange(), "expected " + what + ", found " + found(), std::move(help));
  return false;
}

bool Parser::expect(Tok kind, const char *what, const char *where, const char *help) {
  if (at(kind) && !lineEnded()) {
    advance();
    return true;
  }
  return expected(std::string(what) + " " + where, help);
}

// ---------------------------------------------------------------- recovery

bool Parser::atSectionStart() const {
  return tok().startsLine && at(Tok::Keyword) && isSectionWord(tok().text) &&
         file->lineColumn(tok().begin).column == 1;
}

/// Nobody reads hundreds of errors, so a file that is no spec at all is not worth its time.
bool Parser::giveUp() {
  constexpr size_t enough = 500;
  if (sink.numErrors() < enough)
    return false;
  pos = stream.tokens.size() - 1;
  return true;
}

/// `begin` is the token the broken statement starts with. Brackets and blocks that it opened are stepped over whole, so the
/// next token is really outside it; an unpaired bracket (already reported) counts for nothing.
void Parser::skipStatement(size_t begin) {
  panic = inBroken = false;
  roundDepth = 0;
  if (giveUp())
    return;
  size_t stop = pos;
  pos = begin;
  bool first = true;
  while (!at(Tok::End)) {
    // A block, or an `else`, on the line after its header belongs to it.
    bool newLine = tok().startsLine && !at(Tok::LBrace) && !atWord("else");
    if (!first && pos >= stop && (newLine || at(Tok::Semicolon)))
      break;
    if (at(Tok::RBrace) || (!first && atSectionStart()))
      break;
    first = false;
    bool opens = at(Tok::LParen) || at(Tok::LBracket) || at(Tok::LBrace);
    if (opens && tok().match != noMatch)
      pos = tok().match;
    advance();
  }
}

void Parser::skipToSection(size_t begin) {
  panic = inBroken = false;
  roundDepth = 0;
  blockDepth = 0;
  if (giveUp())
    return;
  if (pos == begin)
    advance();
  while (!at(Tok::End) && !atSectionStart()) {
    // A misspelt section is worth its own report.
    if (at(Tok::Ident) && tok().startsLine && file->lineColumn(tok().begin).column == 1 &&
        !nearest(tok().text, {"op", "reference", "kernel", "plan", "tune", "test", "bench"}).empty())
      break;
    if (at(Tok::LBrace) && tok().match != noMatch)
      pos = std::max<size_t>(pos, tok().match);
    advance();
  }
}

/// After a broken header: to the `{` of its body, if it is on the same line.
bool Parser::recoverAtBrace() {
  roundDepth = 0;
  for (bool first = true; !at(Tok::End) && !at(Tok::LBrace) && !at(Tok::RBrace); first = false) {
    if (!first && tok().startsLine)
      return false;
    if ((at(Tok::LParen) || at(Tok::LBracket)) && tok().match != noMatch)
      pos = tok().match;
    advance();
  }
  return at(Tok::LBrace);
}

/// A statement, setting or section header ends here, or there is something left on its line.
bool Parser::endStatement(const char *what) {
  if (atStatementEnd())
    return true;
  return expected(std::string("the end of ") + what,
                  at(Tok::DotDot)
                      ? "a range stands in a `for`, a comprehension or a setting, not among values"
                      : "one statement a line, or `;` between them");
}

// ---------------------------------------------------------------- comments

/// Comments before the current token that nobody has taken: to `doc` where they are `##`, else to `trivia`.
void Parser::takeLeading(ast::Trivia &trivia, std::vector<std::string> *doc) {
  trivia.blankBefore = tok().blankBefore;
  bool first = true;
  for (; nextComment < stream.comments.size() && stream.comments[nextComment].nextToken <= pos;
       ++nextComment) {
    const Comment &comment = stream.comments[nextComment];
    if (first)
      trivia.blankBefore = comment.blankBefore;
    if (doc && comment.isDoc()) {
      size_t text = comment.text.find_first_not_of(" #");
      doc->push_back(text == std::string::npos ? "" : comment.text.substr(comment.text[2] == ' ' ? 3 : 2));
    } else {
      if (comment.blankBefore && !trivia.comments.empty())
        trivia.comments.emplace_back();
      trivia.comments.push_back(comment.text);
    }
    first = false;
  }
  if (!first && tok().blankBefore && !trivia.comments.empty())
    trivia.comments.emplace_back();
}

/// A comment after the previous token on its line.
bool Parser::takeTrailing(std::string &trailing) {
  if (nextComment >= stream.comments.size())
    return false;
  const Comment &comment = stream.comments[nextComment];
  if (comment.nextToken != pos || comment.ownLine)
    return false;
  trailing = comment.text;
  ++nextComment;
  return true;
}

/// After the last token of an item: comments inside it move above it, one after it on its line stays there.
void Parser::finish(ast::Trivia &trivia) {
  for (; nextComment < stream.comments.size() && stream.comments[nextComment].nextToken < pos;
       ++nextComment) {
    // From inside an item, `##` documents nothing; above it, it would.
    const std::string &text = stream.comments[nextComment].text;
    trivia.comments.push_back("#" + text.substr(std::min(text.find_first_not_of('#'), text.size())));
  }
  if (!at(Tok::Semicolon)) {
    takeTrailing(trivia.trailingComment);
    return;
  }
  // `a; # why`: the comment stands after the semicolon.
  if (nextComment < stream.comments.size()) {
    const Comment &comment = stream.comments[nextComment];
    if (comment.nextToken == pos + 1 && !comment.ownLine) {
      trivia.trailingComment = comment.text;
      ++nextComment;
    }
  }
}

/// What is left before a closing brace or the end of the file.
void Parser::takeRest(std::vector<std::string> &comments) {
  ast::Trivia trivia;
  takeLeading(trivia);
  if (!trivia.comments.empty() && trivia.comments.back().empty())
    trivia.comments.pop_back();
  for (std::string &comment : trivia.comments)
    comments.push_back(std::move(comment));
}

} // namespace tilegym::syntax
