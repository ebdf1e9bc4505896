// SPDX-License-Identifier: MIT
// Bytes to tokens and comments. Every byte is consumed exactly once; what is no token is reported and becomes Tok::Bad.
#include "compiler/syntax/Lexer.h"
#include "compiler/syntax/Keywords.h"
#include "compiler/syntax/Utf8.h"
#include <algorithm>

namespace tilegym::syntax {

Token &Lexer::push(Tok kind, uint32_t begin) {
  Token &token = out.tokens.emplace_back();
  token.kind = kind;
  token.begin = begin;
  token.end = static_cast<uint32_t>(pos);
  token.startsLine = lineStart;
  token.blankBefore = lineStart && blank;
  token.text = text.substr(begin, pos - begin);
  lineStart = blank = false;
  return token;
}

void Lexer::readComment() {
  Comment comment;
  comment.begin = static_cast<uint32_t>(pos);
  comment.nextToken = static_cast<uint32_t>(out.tokens.size());
  comment.ownLine = lineStart;
  comment.blankBefore = lineStart && blank;
  size_t end = std::min(text.find('\n', pos), text.size());
  bool reported = false;
  for (size_t i = pos; i < end; ++i) {
    Utf8Char c = decodeUtf8(text, i);
    if (!c.valid && !reported) {
      sink.error(range(i, i + 1), "this comment is not valid UTF-8 here", "save the file as UTF-8");
      reported = true;
    }
    i += c.length - 1;
  }
  comment.text = text.substr(pos, end - pos);
  comment.text.erase(comment.text.find_last_not_of(" \t\r\f\v") + 1);
  pos = end;
  lineStart = blank = false;
  out.comments.push_back(std::move(comment));
}

void Lexer::skipBlanksAndComments() {
  while (pos < text.size()) {
    char c = text[pos];
    if (c == '\n') {
      blank = lineStart; // the line that ends here held nothing
      lineStart = true;
      ++pos;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++pos;
    } else if (c == '#') {
      readComment();
    } else {
      return;
    }
  }
}

void Lexer::readWord() {
  uint32_t begin = static_cast<uint32_t>(pos);
  while (isWordChar(peek()))
    ++pos;
  bool reserved = isReserved(text.substr(begin, pos - begin));
  push(reserved ? Tok::Keyword : Tok::Ident, begin);
}

void Lexer::readEscape(std::string &value, bool &bad) {
  static constexpr std::string_view letters = "nt\"\\0", meanings{"\n\t\"\\\0", 5};
  size_t which = letters.find(peek(1));
  if (pos + 1 < text.size() && which != std::string_view::npos) {
    value += meanings[which];
    pos += 2;
    return;
  }
  Utf8Char c = pos + 1 < text.size() ? decodeUtf8(text, pos + 1) : Utf8Char{};
  if (peek(1) != '\n' && peek(1) != '\r' && pos + 1 < text.size()) {
    sink.error(range(pos, pos + 1 + c.length),
               "unknown escape " + quoted(text.substr(pos, 1 + c.length)) + " in a string",
               "the escapes are `\\n`, `\\t`, `\\\"`, `\\\\` and `\\0`");
    bad = true;
  }
  ++pos; // the backslash; what follows is read as itself
}

void Lexer::readString() {
  uint32_t begin = static_cast<uint32_t>(pos++);
  std::string value;
  bool bad = false;
  while (pos < text.size() && text[pos] != '"' && text[pos] != '\n' && text[pos] != '\r') {
    if (text[pos] == '\\') {
      readEscape(value, bad);
      continue;
    }
    Utf8Char c = decodeUtf8(text, pos);
    if ((!c.valid || (c.codepoint < 0x20 && text[pos] != '\t') || c.codepoint == 0x7F) && !bad) {
      sink.error(range(pos, pos + 1),
                 c.valid ? "a control character in a string" : "this string is not valid UTF-8 here",
                 c.valid ? "write `\\n`, `\\t` or `\\0`" : "save the file as UTF-8");
      bad = true;
    }
    value += text.substr(pos, c.length);
    pos += c.length;
  }
  if (peek() == '"') {
    ++pos;
  } else {
    sink.error(range(begin, pos), "a string that does not end on its line",
               "close it with `\"`; a newline inside is written `\\n`");
    bad = true;
  }
  push(bad ? Tok::Bad : Tok::String, begin).text = value;
}

namespace {
struct Spelling {
  std::string_view text;
  Tok kind;
};
} // namespace

// Longest first, so that the first that fits is right.
static constexpr Spelling spellings[] = {{"//=", Tok::FloorDivAssign},
                                         {"**=", Tok::PowAssign},
                                         {"<<=", Tok::ShlAssign},
                                         {">>=", Tok::ShrAssign},
                                         {"..", Tok::DotDot},
                                         {":+", Tok::ColonPlus},
                                         {"->", Tok::Arrow},
                                         {"==", Tok::Eq},
                                         {"!=", Tok::Ne},
                                         {"<=", Tok::Le},
                                         {">=", Tok::Ge},
                                         {"<<", Tok::Shl},
                                         {">>", Tok::Shr},
                                         {"//", Tok::FloorDiv},
                                         {"**", Tok::Pow},
                                         {"+=", Tok::AddAssign},
                                         {"-=", Tok::SubAssign},
                                         {"*=", Tok::MulAssign},
                                         {"/=", Tok::DivAssign},
                                         {"%=", Tok::ModAssign},
                                         {"@=", Tok::MatMulAssign},
                                         {"&=", Tok::AndAssign},
                                         {"|=", Tok::OrAssign},
                                         {"^=", Tok::XorAssign},
                                         {"(", Tok::LParen},
                                         {")", Tok::RParen},
                                         {"[", Tok::LBracket},
                                         {"]", Tok::RBracket},
                                         {"{", Tok::LBrace},
                                         {"}", Tok::RBrace},
                                         {",", Tok::Comma},
                                         {";", Tok::Semicolon},
                                         {":", Tok::Colon},
                                         {".", Tok::Dot},
                                         {"?", Tok::Question},
                                         {"=", Tok::Assign},
                                         {"+", Tok::Add},
                                         {"-", Tok::Sub},
                                         {"*", Tok::Mul},
                                         {"/", Tok::Div},
                                         {"%", Tok::Mod},
                                         {"@", Tok::MatMul},
                                         {"&", Tok::And},
                                         {"|", Tok::Or},
                                         {"^", Tok::Xor},
                                         {"<", Tok::Lt},
                                         {">", Tok::Gt},
                                         {"!", Tok::Not},
                                         {"~", Tok::Tilde}};

void Lexer::readPunctuation() {
  std::string_view rest = text.substr(pos);
  // `&&`, `||`, `++` and the like are other languages' operators: name ours instead of failing at the second half.
  static constexpr struct {
    std::string_view text, help;
  } foreign[] = {{"&&", "`and` of conditions is written `&`, each comparison in parentheses"},
                 {"||", "`or` of conditions is written `|`, each comparison in parentheses"},
                 {"++", "write `+= 1`"},
                 {":=", "write `let name = value`"},
                 {"=>", "write `>=`, or `->` before results"}};
  for (auto &entry : foreign) {
    if (rest.starts_with(entry.text)) {
      sink.error(range(pos, pos + entry.text.size()), quoted(entry.text) + " is no operator",
                 std::string(entry.help));
      uint32_t begin = static_cast<uint32_t>(pos);
      pos += entry.text.size();
      push(Tok::Bad, begin);
      return;
    }
  }
  for (const Spelling &spelling : spellings) {
    if (rest.starts_with(spelling.text)) {
      uint32_t begin = static_cast<uint32_t>(pos);
      pos += spelling.text.size();
      push(spelling.kind, begin);
      return;
    }
  }
  readStrayCharacter();
}

void Lexer::readStrayCharacter() {
  static constexpr struct {
    std::string_view character, help;
  } lookAlikes[] = {{"\u2212", "write `-`"},
                    {"\u2013", "write `-`"},
                    {"\u00d7", "write `*`"},
                    {"\u2264", "write `<=`"},
                    {"\u2265", "write `>=`"},
                    {"\u2260", "write `!=`"},
                    {"\u2192", "write `->`"},
                    {"\u221e", "write `inf`"},
                    {"\u03c0", "write `PI`"},
                    {"\u201c", "write `\"`"},
                    {"\u201d", "write `\"`"},
                    {"'", "a string stands in `\"`"},
                    {"\u2018", "a string stands in `\"`"},
                    {"\u2019", "a string stands in `\"`"},
                    {"\u00a0", "write a plain space"},
                    {"$", "names are letters, digits and `_`"}};
  Utf8Char c = decodeUtf8(text, pos);
  std::string_view found = text.substr(pos, c.length);
  std::string help = c.valid
                         ? "names are ASCII letters, digits and `_`; other text goes in comments and strings"
                         : "save the file as UTF-8";
  for (auto &entry : lookAlikes)
    if (found == entry.character)
      help = entry.help;
  uint32_t begin = static_cast<uint32_t>(pos);
  size_t closing = found == "'" ? text.find_first_of("'\n", pos + 1) : std::string_view::npos;
  if (closing < text.size() && text[closing] == '\'') {
    pos = closing + 1; // a string in the wrong quotes is one mistake
  } else {
    // So is a run of stray characters.
    while (pos < text.size() && text[pos] != '\n') {
      Utf8Char next = decodeUtf8(text, pos);
      bool stray = !next.valid || next.codepoint >= 0x80 || next.codepoint < 0x09 || next.codepoint == 0x7F ||
                   text[pos] == text[begin];
      if (!stray)
        break;
      pos += next.length;
    }
  }
  sink.error(range(begin, pos),
             c.valid ? "unexpected character " + quoted(found) : "a byte that is not valid UTF-8", help);
  push(Tok::Bad, begin);
}

TokenStream Lexer::run() {
  if (text.starts_with("\xEF\xBB\xBF"))
    pos = 3; // a byte order mark
  for (;;) {
    skipBlanksAndComments();
    if (pos >= text.size())
      break;
    char c = text[pos];
    if (isWordStart(c))
      readWord();
    else if (isAsciiDigit(c) || (c == '.' && isAsciiDigit(peek(1))))
      readNumber();
    else if (c == '"')
      readString();
    else
      readPunctuation();
  }
  lineStart = true;
  push(Tok::End, static_cast<uint32_t>(pos));
  return std::move(out);
}

TokenStream tokenize(const SourceFile &file, DiagnosticSink &sink) {
  TokenStream stream = Lexer(file, sink).run();
  matchBrackets(file, stream, sink);
  return stream;
}

std::string quoted(std::string_view text) {
  constexpr size_t longest = 40;
  std::string out = "`";
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++count) {
    if (count == longest) {
      out += "...";
      break;
    }
    Utf8Char c = decodeUtf8(text, i);
    if (!c.valid || c.codepoint < 0x20 || c.codepoint == 0x7F)
      out += "\xEF\xBF\xBD";
    else
      out += text.substr(i, c.length);
    i += c.length;
  }
  return out + "`";
}

std::string describe(const Token &token) {
  switch (token.kind) {
  case Tok::End:
    return "the end of the file";
  case Tok::String:
    return "a string";
  case Tok::Keyword:
    return "the keyword " + quoted(token.text);
  default:
    return quoted(token.text);
  }
}

} // namespace tilegym::syntax
