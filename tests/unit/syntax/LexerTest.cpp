// SPDX-License-Identifier: MIT
// Tokens, comments, lines and columns.
#include "compiler/syntax/Keywords.h"
#include "compiler/syntax/Token.h"
#include "tests/unit/syntax/Helpers.h"

using namespace tilegym;
using syntax::Tok;

static syntax::TokenStream lex(const std::string &text) {
  SourceFile file("l.tile", text);
  DiagnosticSink sink;
  auto stream = syntax::tokenize(file, sink);
  CHECK(renderAll(sink) == "");
  return stream;
}

static std::vector<std::string> texts(const std::string &text) {
  std::vector<std::string> list;
  for (const syntax::Token &token : lex(text).tokens)
    if (token.kind != Tok::End)
      list.push_back(token.text);
  return list;
}

TEST_CASE("the longest token wins", "[lexer]") {
  using Strings = std::vector<std::string>;
  CHECK(texts("0..N") == Strings{"0", "..", "N"});
  CHECK(texts("0..5") == Strings{"0", "..", "5"});
  CHECK(texts("1.5..2") == Strings{"1.5", "..", "2"});
  CHECK(texts("a:+b") == Strings{"a", ":+", "b"});
  CHECK(texts("a: +b") == Strings{"a", ":", "+", "b"});
  CHECK(texts("a//b//=c") == Strings{"a", "//", "b", "//=", "c"});
  CHECK(texts("a**b*c**=d") == Strings{"a", "**", "b", "*", "c", "**=", "d"});
  CHECK(texts("a<<b<=c<d<<=e") == Strings{"a", "<<", "b", "<=", "c", "<", "d", "<<=", "e"});
  CHECK(texts("a->b-c") == Strings{"a", "->", "b", "-", "c"});
  CHECK(texts("x==-1!=!y") == Strings{"x", "==", "-", "1", "!=", "!", "y"});
  CHECK(texts("T[N]?") == Strings{"T", "[", "N", "]", "?"});
  CHECK(texts("1e5 1E+5 1.5e-5 0xFF") == Strings{"1e5", "1E+5", "1.5e-5", "0xFF"});
}

TEST_CASE("tokens know whether they start a line", "[lexer]") {
  auto stream = lex("a b\n c # x\n\n  d\n");
  std::vector<std::pair<bool, bool>> flags;
  for (const syntax::Token &token : stream.tokens)
    flags.emplace_back(token.startsLine, token.blankBefore);
  CHECK(flags == std::vector<std::pair<bool, bool>>{
                     {true, false}, {false, false}, {true, false}, {true, true}, {true, false}});
}

TEST_CASE("comments know what they follow", "[lexer]") {
  auto stream = lex("a # beside  \n\n## doc\n#\nb");
  REQUIRE(stream.comments.size() == 3);
  CHECK(stream.comments[0].text == "# beside");
  CHECK((!stream.comments[0].ownLine && !stream.comments[0].isDoc() && stream.comments[0].nextToken == 1));
  CHECK((stream.comments[1].ownLine && stream.comments[1].isDoc() && stream.comments[1].blankBefore));
  CHECK(stream.comments[2].text == "#");
}

TEST_CASE("a # in a string is no comment", "[lexer]") {
  auto stream = lex("\"a # b\" c");
  CHECK(stream.comments.empty());
  CHECK(stream.tokens[0].text == "a # b");
}

TEST_CASE("numbers have their exact values", "[lexer]") {
  auto stream = lex("18446744073709551615 0xFFFFFFFFFFFFFFFF 0b11 1_000 0.1 1e-320 1.7976931348623157e308");
  CHECK(stream.tokens[0].intValue == UINT64_MAX);
  CHECK(stream.tokens[1].intValue == UINT64_MAX);
  CHECK(stream.tokens[2].intValue == 3);
  CHECK(stream.tokens[3].intValue == 1000);
  CHECK(stream.tokens[4].floatValue == 0.1);
  CHECK(stream.tokens[5].floatValue == 1e-320);
  CHECK(stream.tokens[6].floatValue == 1.7976931348623157e308);
}

TEST_CASE("lines and columns", "[lexer]") {
  SourceFile file("s", "ab\n\ncd");
  auto place = [&](uint32_t offset) {
    auto p = file.lineColumn(offset);
    return std::pair<uint32_t, uint32_t>(p.line, p.column);
  };
  using Place = std::pair<uint32_t, uint32_t>;
  CHECK(place(0) == Place(1, 1));
  CHECK(place(2) == Place(1, 3));
  CHECK(place(3) == Place(2, 1));
  CHECK(place(5) == Place(3, 2));
  CHECK(place(6) == Place(3, 3));
  CHECK(place(99) == Place(3, 3));
  CHECK(file.line(1) == "ab");
  CHECK(file.line(2).empty());
  CHECK(file.line(3) == "cd");
  CHECK(file.line(0).empty());
  CHECK(file.line(4).empty());
}

TEST_CASE("the nearest word", "[lexer]") {
  using syntax::nearest;
  CHECK(nearest("kernal", {"op", "kernel", "tune"}) == "kernel");
  CHECK(nearest("fro", {"for", "fn"}) == "for");
  CHECK(nearest("x", {"op", "fn"}).empty());
  CHECK(nearest("something", {"op", "kernel"}).empty());
  CHECK(nearest(std::string(1000, 'k'), {"kernel"}).empty());
  CHECK(syntax::didYouMean("tset", {"test", "tune"}) == "did you mean `test`?");
  CHECK(syntax::didYouMean("zzz", {"test", "tune"}).empty());
}

TEST_CASE("words in messages are short and clean", "[lexer]") {
  CHECK(syntax::quoted("abc") == "`abc`");
  CHECK(syntax::quoted(std::string(100, 'a')) == "`" + std::string(40, 'a') + "...`");
  CHECK(syntax::quoted("a\xFF\nb") == "`a\xEF\xBF\xBD\xEF\xBF\xBD"
                                      "b`");
}
