// SPDX-License-Identifier: MIT
// The lexer's insides, shared by its files: one pass over the bytes, then one over the tokens to pair the brackets.
#pragma once
#include "compiler/syntax/Token.h"

namespace tilegym::syntax {

class Lexer {
public:
  Lexer(const SourceFile &file, DiagnosticSink &sink) : file(file), text(file.text()), sink(sink) {}
  TokenStream run();

private:
  void skipBlanksAndComments();
  void readComment();
  void readWord();
  void readString();
  void readEscape(std::string &value, bool &bad);
  void readPunctuation();
  void readStrayCharacter();
  // Numbers.cpp
  void readNumber();
  bool readDigits(bool (*isDigit)(char));
  void badNumber(uint32_t begin, const std::string &help);

  char peek(size_t ahead = 0) const { return pos + ahead < text.size() ? text[pos + ahead] : '\0'; }
  Token &push(Tok kind, uint32_t begin);
  SourceRange range(size_t begin, size_t end) const {
    return {&file, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }

  const SourceFile &file;
  std::string_view text;
  DiagnosticSink &sink;
  TokenStream out;
  size_t pos = 0;
  bool lineStart = true; ///< nothing but blanks so far on this line
  bool blank = false;    ///< the line above is empty
};

inline bool isAsciiDigit(char c) { return c >= '0' && c <= '9'; }
inline bool isWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool isWordChar(char c) { return isWordStart(c) || isAsciiDigit(c); }

/// Pairs every bracket with its partner (Token::match) and reports those without one. Guesses where a forgotten closing
/// bracket was meant from braces, statement words at a line's start and section words in column 1, so that one slip
/// does not swallow the rest of the file.
void matchBrackets(const SourceFile &file, TokenStream &stream, DiagnosticSink &sink);

} // namespace tilegym::syntax
