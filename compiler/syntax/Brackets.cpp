// SPDX-License-Identifier: MIT
// Pairs brackets once, up front, so that the parser can step over a broken bracket as a whole and never reports the
// same missing bracket again.
#include "compiler/syntax/Keywords.h"
#include "compiler/syntax/Lexer.h"

namespace tilegym::syntax {
namespace {

class Matcher {
public:
  Matcher(const SourceFile &file, TokenStream &stream, DiagnosticSink &sink)
      : file(file), tokens(stream.tokens), sink(sink) {}

  void run() {
    for (uint32_t i = 0; i < tokens.size(); ++i) {
      const Token &token = tokens[i];
      if (startsSection(token))
        popUnclosed([](Tok) { return true; }, token);
      else if (startsStatement(token))
        popUnclosed(isRound, token);
      switch (token.kind) {
      case Tok::LBrace:
        if (!isInlineFunction(i))
          popUnclosed(isRound, token);
        open.push_back(i);
        break;
      case Tok::LParen:
      case Tok::LBracket:
        open.push_back(i);
        break;
      case Tok::RBrace:
        popUnclosed(isRound, token);
        close(i, Tok::LBrace);
        break;
      case Tok::RParen:
      case Tok::RBracket:
        closeRound(i);
        break;
      case Tok::End:
        popUnclosed([](Tok) { return true; }, token);
        break;
      default:
        break;
      }
    }
  }

private:
  static bool isRound(Tok kind) { return kind == Tok::LParen || kind == Tok::LBracket; }
  static const char *closer(Tok kind) {
    return kind == Tok::LParen ? ")" : kind == Tok::LBracket ? "]" : "}";
  }

  bool startsSection(const Token &token) const {
    return token.startsLine && token.kind == Tok::Keyword && isSectionWord(token.text) &&
           file.lineColumn(token.begin).column == 1;
  }
  /// Words that no line inside brackets can start with.
  static bool startsStatement(const Token &token) {
    if (!token.startsLine || token.kind != Tok::Keyword)
      return false;
    for (const char *word : {"let", "var", "for", "while", "if", "else", "break", "continue", "return"})
      if (token.text == word)
        return true;
    return false;
  }

  /// Whether the brace opens the body of `fn (a, b) { ... }` inside of an expression. The parser says that it cannot stand there; its
  /// brackets are as they should be.
  bool isInlineFunction(uint32_t brace) const {
    if (brace == 0 || tokens[brace - 1].kind != Tok::RParen || tokens[brace - 1].match == noMatch)
      return false;
    uint32_t paren = tokens[brace - 1].match;
    if (paren > 1 && tokens[paren - 1].kind == Tok::Ident)
      --paren; // a name
    return paren > 0 && tokens[paren - 1].kind == Tok::Keyword && tokens[paren - 1].text == "fn" &&
           !startsSection(tokens[paren - 1]);
  }

  /// Reports and drops the innermost open brackets as long as `kind` says so, `most` of them.
  void popUnclosed(bool (*kind)(Tok), const Token &before, size_t most = SIZE_MAX) {
    for (; most > 0 && !open.empty() && kind(tokens[open.back()].kind); --most) {
      const Token &token = tokens[open.back()];
      sink.error({&file, token.begin, token.end},
                 quoted(token.text) + " is not closed before " + describe(before),
                 std::string("add `") + closer(token.kind) + "`");
      open.pop_back();
    }
  }

  void close(uint32_t i, Tok opener) {
    if (open.empty() || tokens[open.back()].kind != opener) {
      const Token &token = tokens[i];
      sink.error({&file, token.begin, token.end}, quoted(token.text) + " closes nothing",
                 "remove it, or open it earlier");
      return;
    }
    tokens[i].match = open.back();
    tokens[open.back()].match = i;
    open.pop_back();
  }

  void closeRound(uint32_t i) {
    Tok opener = tokens[i].kind == Tok::RParen ? Tok::LParen : Tok::LBracket;
    // `(a]`: if the right opener is further out, the inner one was forgotten.
    // The search is bounded, since it runs once for each closing bracket.
    constexpr size_t farthest = 64;
    size_t at = open.size(), lowest = at > farthest ? at - farthest : 0;
    while (at > lowest && isRound(tokens[open[at - 1]].kind) && tokens[open[at - 1]].kind != opener)
      --at;
    if (at > 0 && tokens[open[at - 1]].kind == opener) {
      while (open.size() > at)
        popUnclosed(isRound, tokens[i], 1);
    } else if (!open.empty() && isRound(tokens[open.back()].kind)) {
      // The wrong closing bracket: one mistake, not an unclosed one and one too many.
      const Token &outer = tokens[open.back()], &token = tokens[i];
      sink.error({&file, token.begin, token.end}, quoted(token.text) + " closes " + quoted(outer.text),
                 std::string("write `") + closer(outer.kind) + "`");
      open.pop_back();
      return;
    }
    close(i, opener);
  }

  const SourceFile &file;
  std::vector<Token> &tokens;
  DiagnosticSink &sink;
  std::vector<uint32_t> open;
};

} // namespace

void matchBrackets(const SourceFile &file, TokenStream &stream, DiagnosticSink &sink) {
  Matcher(file, stream, sink).run();
}

} // namespace tilegym::syntax
