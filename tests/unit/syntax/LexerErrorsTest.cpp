// SPDX-License-Identifier: MIT
// Characters, numbers and strings that are none.
#include "tests/unit/syntax/Helpers.h"

using namespace tilegym;

TEST_CASE("lexer errors", "[errors]") {
  test::checkErrors({
      {"reference { y = 1. }", {"1:17 `1.` is no number | write `1.0`; a range is `a .. b`"}},
      {"reference { y = 1.e5 }", {"1:17 `1.e5` is no number | write `1.0`; a range is `a .. b`"}},
      {"reference { y = .5 }", {"1:17 `.5` is no number | write `0.5`; a range is `a .. b`"}},
      {"reference { y = 1.5f }",
       {"1:17 `1.5f` is no number | a number has no suffix: convert it, as in `f32(1.5)`"}},
      {"reference { y = 1__0 }",
       {"1:17 `1__0` is no number | digits go before and after `.` and `e`, and `_` only between digits"}},
      {"reference { y = 1e }",
       {"1:17 `1e` is no number | digits go before and after `.` and `e`, and `_` only between digits"}},
      {"reference { y = 007 }", {"1:17 `007` is no number | a number has no leading zeros"}},
      {"reference { y = 0x }",
       {"1:17 `0x` is no number | digits go before and after `.` and `e`, and `_` only between digits"}},
      {"reference { y = 18446744073709551616 }",
       {"1:17 `18446744073709551616` does not fit 64 bits | the largest integer is 18446744073709551615"}},
      {"reference { y = 1e999 }", {"1:17 `1e999` does not fit f64 | write `inf` or `0.0` if that is meant"}},
      {"reference { y = \"abc }",
       {"1:11 `{` is not closed before the end of the file | add `}`",
        "1:17 a string that does not end on its line | close it with `\"`; a newline inside is written "
        "`\\n`"}},
      {"reference { y = \"a\\qb\" }",
       {"1:19 unknown escape `\\q` in a string | the escapes are `\\n`, `\\t`, `\\\"`, `\\\\` and `\\0`"}},
      {"reference { y = a && b }",
       {"1:19 `&&` is no operator | `and` of conditions is written `&`, each comparison in parentheses"}},
      {"reference { y = a || b }",
       {"1:19 `||` is no operator | `or` of conditions is written `|`, each comparison in parentheses"}},
      {"reference { i++ }", {"1:14 `++` is no operator | write `+= 1`"}},
      {"reference { y := 3 }", {"1:15 `:=` is no operator | write `let name = value`"}},
      {"reference { y => 3 }", {"1:15 `=>` is no operator | write `>=`, or `->` before results"}},
      {"reference { y = a − b }", {"1:19 unexpected character `−` | write `-`"}},
      {"reference { y = é }",
       {"1:17 unexpected character `é` | names are ASCII letters, digits and `_`; other text goes in "
        "comments and strings"}},
      {"reference { y = 'a' }", {"1:17 unexpected character `'` | a string stands in `\"`"}},
      {"reference { y = $a }", {"1:17 unexpected character `$` | names are letters, digits and `_`"}},
      {"reference { y = \xFF"
       " }",
       {"1:17 a byte that is not valid UTF-8 | save the file as UTF-8"}},
  });
}

TEST_CASE("bytes that no text holds", "[errors]") {
  test::checkErrors({
      {"# a\xFF"
       "b\xFE\n",
       {"1:4 this comment is not valid UTF-8 here | save the file as UTF-8"}},
      {"reference { f(\"a\xFF\") }", {"1:17 this string is not valid UTF-8 here | save the file as UTF-8"}},
      {"reference { f(\"a\x01\") }", {"1:17 a control character in a string | write `\\n`, `\\t` or `\\0`"}},
      {std::string("reference { y = \0 a }", 21),
       {"1:17 unexpected character `\xEF\xBF\xBD` | names are ASCII letters, digits and `_`; other text goes "
        "in comments and strings"}},
      {"reference { y = \xC3",
       {"1:11 `{` is not closed before the end of the file | add `}`",
        "1:17 a byte that is not valid UTF-8 | save the file as UTF-8"}},
  });
}

TEST_CASE("a lone expression ends where the text does", "[errors]") {
  DiagnosticSink sink;
  CHECK_FALSE(parseExpr(std::make_shared<SourceFile>("e", "a b"), sink));
  CHECK(test::errorsOf(sink) ==
        std::vector<std::string>{"1:3 expected the end of the expression, found `b`"});
}
