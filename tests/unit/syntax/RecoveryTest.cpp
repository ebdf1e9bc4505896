// SPDX-License-Identifier: MIT
// One run reports several errors, each once, and reads all that is right around them; bounds hold.
#include "compiler/syntax/Dump.h"
#include "tests/unit/syntax/Helpers.h"

using namespace tilegym;
using Strings = std::vector<std::string>;

TEST_CASE("each broken statement is reported and the others are read", "[recovery]") {
  auto parsed = test::parse("kernel k() {\n"
                            "  let a = \n"
                            "  }\n"
                            "kernel l() {\n"
                            "  lett b = 1\n"
                            "  let c = 2\n"
                            "  let d = f(3 4)\n"
                            "  for i in { let e = (1 2) }\n"
                            "  while x { y = * }\n"
                            "  let g = 3\n"
                            "}\n"
                            "tune l { BM [1]; BN in [2]; warps == 3 }\n");
  CHECK(test::errorsOf(parsed.sink) ==
        Strings{
            "2:10 expected an expression, found the end of the line",
            "5:3 unknown statement `lett` | did you mean `let`?",
            "7:15 expected `,` or `)` in the arguments, found `4`", "8:12 expected an expression, found `{`",
            "8:25 expected `)`, found `2`", "9:17 expected an expression, found `*`",
            "12:13 expected `=` or `in` after `BM`, found `[`",
            "12:35 expected `=` or `in` after `warps`, found `==` | `==` compares; a value is set with `=`"});
  CHECK(dumpSpec(parsed.spec) ==
        "(kernel k)\n(kernel l\n  (let c 2)\n  (while x)\n  (let g 3))\n(tune l\n  (in BN (list 2)))\n");
}

TEST_CASE("a forgotten bracket does not swallow the rest", "[recovery]") {
  auto parsed = test::parse("kernel k() {\n"
                            "  let a = f(1, (2\n"
                            "  let b = 3\n"
                            "  if a {\n"
                            "    c = 1\n"
                            "kernel l() {\n"
                            "  let d = 1 +\n"
                            "}\n");
  CHECK(test::errorsOf(parsed.sink) == Strings{"1:12 `{` is not closed before the keyword `kernel` | add `}`",
                                               "2:12 `(` is not closed before the keyword `let` | add `)`",
                                               "2:16 `(` is not closed before the keyword `let` | add `)`",
                                               "4:8 `{` is not closed before the keyword `kernel` | add `}`",
                                               "7:14 expected an expression, found the end of the line"});
  CHECK(dumpSpec(parsed.spec) ==
        "(kernel k\n  (let b 3)\n  (if a\n    (then\n      (= c 1))))\n(kernel l)\n");
}

TEST_CASE("a broken section does not hide the next", "[recovery]") {
  auto parsed = test::parse("op f(x) -> y: T[N]\n"
                            "kernal k() { let a = }\n"
                            "kernel l( { let b = }\n"
                            "test { case { } }\n");
  CHECK(
      test::errorsOf(parsed.sink) ==
      Strings{"1:7 expected `:` and a type after `x`, found `)` | as in `x: T[M, N]` or `eps: f32 = 1e-6`",
              "2:1 expected a section, found `kernal` | did you mean `kernel`?",
              "3:9 `(` is not closed before `{` | add `)`", "3:21 expected an expression, found `}`",
              "4:13 expected the name of the case in quotes, found `{` | as in `case \"one row\" { ... }`"});
}

TEST_CASE("a second section points at the first", "[recovery]") {
  auto parsed = test::parse("test {}\ntest { x }\n");
  REQUIRE(parsed.sink.all().size() == 2);
  REQUIRE(parsed.sink.all()[0].notes.size() == 1);
  CHECK(parsed.sink.all()[0].notes[0].message == "the first is here");
  CHECK(parsed.sink.all()[0].notes[0].range.begin == 0);
}

TEST_CASE("errors are bounded", "[recovery]") {
  std::string text = "reference {\n";
  for (int i = 0; i < 200; ++i)
    text += "  a b\n";
  auto parsed = test::parse(text + "}\n");
  CHECK(parsed.sink.all().size() == 51);
  CHECK(parsed.sink.all().back().message == "more than 50 errors; the rest is not shown");
}

TEST_CASE("nesting is bounded", "[recovery]") {
  auto repeat = [](const std::string &text, size_t times) {
    std::string all;
    for (size_t i = 0; i < times; ++i)
      all += text;
    return all;
  };
  auto messages = [](const std::string &body) {
    Strings list;
    auto parsed = test::parse("reference {\n" + body + "\n}");
    for (const Diagnostic &diagnostic : parsed.sink.all())
      list.push_back(diagnostic.message + " | " + diagnostic.help);
    return list;
  };
  Strings deep{"this expression is nested more than 256 levels deep | name parts of it with `let`"};
  CHECK(messages("y = " + repeat("(", 100000) + "x" + repeat(")", 100000)) == deep);
  CHECK(messages("y = " + repeat("[", 100000) + "x" + repeat("]", 100000)) == deep);
  CHECK(messages("y = " + repeat("f(", 100000) + "x" + repeat(")", 100000)) == deep);
  CHECK(messages("y = " + repeat("-", 100000) + "x") == deep);
  CHECK(messages("y = x" + repeat("[0]", 100000)) == deep);
  CHECK(messages("y = x" + repeat(".T", 100000)) == deep);
  CHECK(messages("y = x" + repeat(" + x", 100000)) == deep);
  CHECK(messages("y = x" + repeat(" ** x", 100000)) == deep);
  CHECK(messages("y = x" + repeat(" + x", 200)).empty());
  CHECK(messages("y = " + repeat("(", 200) + "x" + repeat(")", 200)).empty());
  CHECK(messages(repeat("if a {\n", 70) + repeat("}\n", 70)) ==
        Strings{"blocks and `else if` are nested more than 64 levels deep | move the inner ones to a `fn`"});
  CHECK(messages("if a {}" + repeat(" else if a {}", 100000)) ==
        Strings{"blocks and `else if` are nested more than 64 levels deep | move the inner ones to a `fn`"});
}

TEST_CASE("the size of a file is bounded", "[recovery]") {
  auto parsed = test::parse(std::string((4u << 20) + 1, ' '));
  CHECK(test::errorsOf(parsed.sink) ==
        Strings{"1:1 the file has 4194305 bytes, a spec at most 4194304 | is this really a spec?"});
  CHECK(test::parse(std::string(4u << 20, ' ')).sink.all().empty());
}

TEST_CASE("an empty file is an empty spec", "[recovery]") {
  for (const char *text : {"", "\n", "# only a comment", "\xEF\xBB\xBF", ";;"}) {
    ast::Spec spec = test::parseOk(text);
    CHECK(spec.order.empty());
  }
}

TEST_CASE("texts that are no specs are given up soon", "[recovery]") {
  // Each took quadratic time or kept millions of reports at first; a test that takes minutes is the failure.
  for (const char *piece : {"(", "{", "$ \xC3\xA9 ", "a b;", "kernal x\n", "'", "\"a", "if x {\n", "\xFF"}) {
    std::string text;
    while (text.size() < (1u << 20))
      text += piece;
    INFO(piece);
    auto parsed = test::parse("reference { " + text);
    CHECK(parsed.sink.hasErrors());
    CHECK(parsed.sink.all().size() <= 51);
  }
  std::string half(1u << 19, '('), other(1u << 19, ']');
  CHECK(test::parse("reference { y = " + half + other + "}").sink.all().size() == 51);
}
