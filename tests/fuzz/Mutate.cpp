// SPDX-License-Identifier: MIT
// The mutations. Most keep the text near a valid spec, since random bytes never get past the lexer.
#include "tests/fuzz/Mutate.h"
#include <algorithm>
#include <cctype>

namespace tilegym::fuzz {

uint64_t Random::next() {
  state += 0x9E3779B97F4A7C15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static const std::vector<std::string> &vocabulary() {
  static const std::vector<std::string> words = {"op",
                                                 "reference",
                                                 "kernel",
                                                 "plan",
                                                 "tune",
                                                 "test",
                                                 "bench",
                                                 "fn",
                                                 "use",
                                                 "let",
                                                 "var",
                                                 "const",
                                                 "for",
                                                 "while",
                                                 "if",
                                                 "else",
                                                 "break",
                                                 "continue",
                                                 "return",
                                                 "in",
                                                 "true",
                                                 "false",
                                                 "where",
                                                 "when",
                                                 "serves",
                                                 "gradient of",
                                                 "alias",
                                                 "nondeterministic",
                                                 "math",
                                                 "scratch",
                                                 "launch",
                                                 "case",
                                                 "expect",
                                                 "tolerance",
                                                 "oracle",
                                                 "peer",
                                                 "arch",
                                                 "list",
                                                 "inout",
                                                 "step",
                                                 "none",
                                                 "None",
                                                 "all",
                                                 "x",
                                                 "y",
                                                 "N",
                                                 "BM",
                                                 "f32",
                                                 "bf16",
                                                 "inf",
                                                 "nan",
                                                 "inline_ptx",
                                                 "load",
                                                 "store",
                                                 "sum",
                                                 "max",
                                                 "iota",
                                                 "mma",
                                                 "0",
                                                 "1",
                                                 "-1",
                                                 "1.5",
                                                 "2e-6",
                                                 "0x10",
                                                 "18446744073709551616",
                                                 "1.",
                                                 ".5",
                                                 "1e999",
                                                 "\"s\"",
                                                 "\"",
                                                 "\"\\",
                                                 "(",
                                                 ")",
                                                 "[",
                                                 "]",
                                                 "{",
                                                 "}",
                                                 ",",
                                                 ";",
                                                 ":",
                                                 ".",
                                                 "..",
                                                 ":+",
                                                 "->",
                                                 "?",
                                                 "=",
                                                 "==",
                                                 "!=",
                                                 "<",
                                                 "<=",
                                                 ">",
                                                 ">=",
                                                 "+",
                                                 "-",
                                                 "*",
                                                 "/",
                                                 "//",
                                                 "%",
                                                 "**",
                                                 "@",
                                                 "&",
                                                 "|",
                                                 "^",
                                                 "<<",
                                                 ">>",
                                                 "!",
                                                 "~",
                                                 "+=",
                                                 "|=",
                                                 "**=",
                                                 "#",
                                                 "##",
                                                 "# c\n",
                                                 "## d\n",
                                                 "\n",
                                                 "\n\n",
                                                 "\t",
                                                 "\r\n",
                                                 " ",
                                                 "\\",
                                                 "'",
                                                 "$",
                                                 "\xC3\xA9",
                                                 "\xE2\x88\x92",
                                                 "\xF0\x9F\x98\x80",
                                                 "\xFF",
                                                 "\xC3",
                                                 std::string(1, '\0'),
                                                 "axis=1",
                                                 "f(x, axis=0)",
                                                 "x[i, 0 :+ N]",
                                                 "0 .. N step 2",
                                                 "g in 0 .. n: g",
                                                 "T[*R, N]",
                                                 "M[]",
                                                 "B|1",
                                                 "reference x"};
  return words;
}

static std::string pick(Random &random) { return vocabulary()[random.below(vocabulary().size())]; }

static std::string randomBytes(Random &random) {
  std::string text(random.below(400), '\0');
  for (char &c : text)
    c = static_cast<char>(random.next());
  return text;
}

static std::string randomTokens(Random &random) {
  std::string text;
  for (size_t i = random.below(200); i > 0; --i)
    text += pick(random) + (random.below(4) ? " " : "\n");
  return text;
}

/// Something opened very often: the parser must bound its recursion, not the stack.
static std::string nested(Random &random) {
  static const std::vector<std::string> openers = {"(",
                                                   "[",
                                                   "-",
                                                   "!",
                                                   "f(",
                                                   "x[",
                                                   "{ ",
                                                   "if a { ",
                                                   "for i in 0 .. n { ",
                                                   "if a {} else ",
                                                   "a ** ",
                                                   "a + ",
                                                   "f(a, ",
                                                   "x.y",
                                                   "x[0]",
                                                   "1 +(",
                                                   "while a { ",
                                                   "fn f(a) {",
                                                   "0 .. "};
  std::string text = random.below(2) ? "reference {\n  y = " : "kernel k() {\n  ";
  const std::string &opener = openers[random.below(openers.size())];
  for (size_t i = size_t(1) << random.below(17); i > 0; --i)
    text += opener;
  return text + (random.below(2) ? "x" : " }");
}

static size_t lineStart(const std::string &text, Random &random) {
  size_t newline = text.rfind('\n', random.below(text.size()));
  return newline == std::string::npos ? 0 : newline + 1;
}

static void mutate(std::string &text, const std::vector<std::string> &corpus, Random &random) {
  size_t at = random.below(text.size() + 1);
  size_t length = std::min<size_t>(random.below(random.below(4) ? 8 : 200), text.size() - at);
  switch (random.below(11)) {
  case 0: // a bit of a byte
    if (at < text.size())
      text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
    break;
  case 1:
    text.erase(at, length);
    break;
  case 2: // twice
    text.insert(at, text.substr(at, length));
    break;
  case 3:
  case 4:
    text.insert(at, random.below(2) ? pick(random) : " " + pick(random) + " ");
    break;
  case 5:
  case 6: { // a word for another
    while (at < text.size() && text[at] == ' ')
      ++at;
    size_t end = at;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
      ++end;
    text.replace(at, std::max<size_t>(end - at, at < text.size()), pick(random));
    break;
  }
  case 7: // a line gone
  {
    size_t begin = lineStart(text, random), end = text.find('\n', begin);
    text.erase(begin, end == std::string::npos ? end : end - begin + 1);
    break;
  }
  case 8: // a line from elsewhere
  {
    const std::string &other = corpus[random.below(corpus.size())];
    size_t begin = lineStart(other, random), end = std::min(other.find('\n', begin), other.size() - 1);
    text.insert(lineStart(text, random), other.substr(begin, end - begin + 1));
    break;
  }
  case 9:
    text.resize(at);
    break;
  case 10: { // the tail of another spec
    const std::string &other = corpus[random.below(corpus.size())];
    text.resize(at);
    text += other.substr(random.below(other.size()));
    break;
  }
  }
}

struct Span {
  size_t begin = 0, end = 0;
};

/// A name or number of the text, anywhere.
static Span someWord(const std::string &text, Random &random) {
  auto isWord = [&](size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
  };
  size_t at = random.below(text.size());
  for (size_t tries = 0; tries < text.size() && !isWord(at); ++tries)
    at = (at + 1) % text.size();
  Span word{at, at};
  while (word.begin > 0 && isWord(word.begin - 1))
    --word.begin;
  while (isWord(word.end))
    ++word.end;
  return word;
}

/// Words of the spec in each other's place: most such texts parse, so names, dtypes and shapes get their turn.
static void swapWords(std::string &text, const std::string &source, Random &random) {
  Span from = someWord(source, random), to = someWord(text, random);
  text.replace(to.begin, to.end - to.begin, source.substr(from.begin, from.end - from.begin));
}

std::string makeInput(Random &random, const std::vector<std::string> &corpus) {
  switch (random.below(20)) {
  case 0:
    return randomBytes(random);
  case 1:
    return randomTokens(random);
  case 2:
    return nested(random);
  case 3:
  case 4:
  case 5:
  case 6:
  case 7:
  case 8: {
    std::string text = corpus[random.below(corpus.size())], original = text;
    for (size_t i = 1 + random.below(3); i > 0; --i)
      swapWords(text, original, random);
    return text;
  }
  default: {
    std::string text = corpus[random.below(corpus.size())];
    for (size_t i = 1 + random.below(random.below(2) ? 3 : 20); i > 0; --i)
      mutate(text, corpus, random);
    return text;
  }
  }
}

} // namespace tilegym::fuzz
