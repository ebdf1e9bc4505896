// SPDX-License-Identifier: MIT
// What the lexer gives: tokens that know whether they start a line, and the comments between them. There are no newline
// tokens: inside brackets a newline means nothing, elsewhere the parser looks at `startsLine`.
#pragma once
#include "compiler/syntax/Diagnostic.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tilegym::syntax {

enum class Tok : uint8_t {
  End,
  Ident,
  Keyword,
  Int,
  Float,
  String,
  LParen,
  RParen,
  LBracket,
  RBracket,
  LBrace,
  RBrace,
  Comma,
  Semicolon,
  Colon,
  Dot,
  DotDot,
  ColonPlus,
  Arrow,
  Question,
  Assign, // =
  AddAssign,
  SubAssign,
  MulAssign,
  DivAssign,
  FloorDivAssign,
  ModAssign,
  PowAssign,
  MatMulAssign,
  AndAssign,
  OrAssign,
  XorAssign,
  ShlAssign,
  ShrAssign, // in the order of ast::BinaryOp
  Add,
  Sub,
  Mul,
  Div,
  FloorDiv,
  Mod,
  Pow,
  MatMul,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge, // the same order
  Not,
  Tilde,
  Bad, ///< already reported by the lexer; the parser skips what holds it without a second report
};

inline constexpr uint32_t noMatch = UINT32_MAX;

struct Token {
  Tok kind = Tok::End;
  bool startsLine = false;  ///< first on its line (the end of the file counts)
  bool blankBefore = false; ///< an empty line right above it
  uint32_t begin = 0, end = 0;
  uint32_t match = noMatch; ///< brackets: the index of the partner, or noMatch for one that was reported
  std::string text;         ///< Ident, Keyword and numbers as written; String with escapes resolved
  uint64_t intValue = 0;
  double floatValue = 0;
};

struct Comment {
  std::string text; ///< with its `#`, without trailing blanks
  uint32_t begin = 0;
  uint32_t nextToken = 0;   ///< index of the first token after it
  bool ownLine = false;     ///< nothing but blanks before it on its line
  bool blankBefore = false; ///< an empty line right above it
  bool isDoc() const { return text.size() >= 2 && text[1] == '#'; }
};

struct TokenStream {
  std::vector<Token> tokens; ///< ends with one Tok::End
  std::vector<Comment> comments;
};

TokenStream tokenize(const SourceFile &file, DiagnosticSink &sink);

/// How the token is called in a message: "`let`", "a number `3`", "the end of the file".
std::string describe(const Token &token);
/// `text` for a message: cut if long, odd bytes replaced, in backquotes.
std::string quoted(std::string_view text);

} // namespace tilegym::syntax
