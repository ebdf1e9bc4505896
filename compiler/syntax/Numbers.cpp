// SPDX-License-Identifier: MIT
// Number tokens: `42`, `1_000`, `0xff`, `0b101`, `1.5`, `2e-6`. `0..N` is `0`, `..`, `N`; `1.` and `.5` are errors, so that
// a range and a fraction never look alike.
#include "compiler/syntax/Lexer.h"
#include <algorithm>
#include <charconv>

namespace tilegym::syntax {

static bool isHexDigit(char c) { return isAsciiDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static bool isBinaryDigit(char c) { return c == '0' || c == '1'; }

/// Digits with single underscores between them. False where there is none, or an underscore is out of place.
bool Lexer::readDigits(bool (*isDigit)(char)) {
  bool wellFormed = isDigit(peek());
  char last = '_';
  while (isDigit(peek()) || peek() == '_') {
    if (peek() == '_' && last == '_')
      wellFormed = false;
    last = text[pos++];
  }
  return wellFormed && last != '_';
}

void Lexer::badNumber(uint32_t begin, const std::string &help) {
  while (isWordChar(peek()))
    ++pos;
  sink.error(range(begin, pos), quoted(text.substr(begin, pos - begin)) + " is no number", help);
  push(Tok::Bad, begin);
}

void Lexer::readNumber() {
  uint32_t begin = static_cast<uint32_t>(pos);
  if (peek() == '.') {
    ++pos;
    while (isAsciiDigit(peek()))
      ++pos;
    std::string fraction(text.substr(begin, pos - begin));
    return badNumber(begin, "write `0" + (fraction.size() < 24 ? fraction : ".5") + "`; a range is `a .. b`");
  }

  bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
  bool binary = peek() == '0' && (peek(1) == 'b' || peek(1) == 'B');
  bool wellFormed, isFloat = false;
  if (hex || binary) {
    pos += 2;
    wellFormed = readDigits(hex ? isHexDigit : isBinaryDigit);
  } else {
    wellFormed = readDigits(isAsciiDigit);
    if (peek() == '.' && peek(1) != '.') {
      ++pos;
      if (!isAsciiDigit(peek())) {
        std::string digits(text.substr(begin, pos - begin - 1));
        return badNumber(begin, "write `" + (digits.size() < 24 ? digits : "1") + ".0`; a range is `a .. b`");
      }
      isFloat = true;
      wellFormed &= readDigits(isAsciiDigit);
    }
    if (peek() == 'e' || peek() == 'E') {
      isFloat = true;
      pos += peek(1) == '-' || peek(1) == '+' ? 2 : 1;
      wellFormed &= readDigits(isAsciiDigit);
    }
  }
  if (!wellFormed)
    return badNumber(begin, "digits go before and after `.` and `e`, and `_` only between digits");
  if (isWordChar(peek()))
    return badNumber(begin, "a number has no suffix: convert it, as in `f32(1.5)`");

  std::string digits(text.substr(begin, pos - begin));
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  if (!isFloat && !hex && !binary && digits.size() > 1 && digits[0] == '0')
    return badNumber(begin, "a number has no leading zeros");

  const char *first = digits.data() + (hex || binary ? 2 : 0), *last = digits.data() + digits.size();
  uint64_t intValue = 0;
  double floatValue = 0;
  std::errc status = isFloat ? std::from_chars(first, last, floatValue).ec
                             : std::from_chars(first, last, intValue,
                                               hex      ? 16
                                               : binary ? 2
                                                        : 10)
                                   .ec;
  if (status != std::errc()) {
    sink.error(range(begin, pos),
               quoted(text.substr(begin, pos - begin)) + " does not fit " + (isFloat ? "f64" : "64 bits"),
               isFloat ? "write `inf` or `0.0` if that is meant"
                       : "the largest integer is 18446744073709551615");
    push(Tok::Bad, begin);
    return;
  }
  Token &token = push(isFloat ? Tok::Float : Tok::Int, begin);
  token.intValue = intValue;
  token.floatValue = floatValue;
}

} // namespace tilegym::syntax
