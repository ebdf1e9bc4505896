// SPDX-License-Identifier: MIT
// Wrong expressions.
#include "tests/unit/syntax/Helpers.h"

using namespace tilegym;

TEST_CASE("expression errors", "[errors]") {
  test::checkErrors({
      {"reference { y = a < b < c }", {"1:23 comparisons do not chain | write `(a < b) & (b < c)`"}},
      {"reference { y = a & b == c }",
       {"1:23 `==` beside `&` needs parentheses | write `x & (a == b)`, or `(x & a) == b` if that is meant"}},
      {"reference { y = a == b | c }",
       {"1:19 `==` beside `|` needs parentheses | write `x | (a == b)`, or `(x | a) == b` if that is meant"}},
      {"reference { y = a + }", {"1:21 expected an expression, found `}`"}},
      {"reference { y = +a }", {"1:17 expected an expression, found `+` | remove the `+`"}},
      {"reference { y = a b }",
       {"1:19 expected the end of the statement, found `b` | one statement a line, or `;` between them"}},
      {"reference { y = }", {"1:17 expected an expression, found `}`"}},
      {"reference { y = a and b }",
       {"1:19 unexpected `and` after an expression | `and` is written `&`, each comparison in parentheses: "
        "`(a < b) & (c < d)`"}},
      {"reference { y = a or b }",
       {"1:19 unexpected `or` after an expression | `or` is written `|`, each comparison in parentheses: `(a "
        "< b) | (c < d)`"}},
      {"reference { y = not a }", {"1:17 unknown operator `not` | `not` is written `!`"}},
      {"reference { y = a if b else c }",
       {"1:19 unexpected `if` after an expression | choose between values with `select(condition, a, b)`"}},
      {"reference { y = a ? b : c }",
       {"1:19 unexpected `?` after an expression | choose between values with `select(condition, a, b)`"}},
      {"reference { y = True }", {"1:17 unknown word `True` | write `true`"}},
      {"reference { y = False }", {"1:17 unknown word `False` | write `false`"}},
      {"reference { y = () }", {"1:17 empty parentheses | write the value they should hold"}},
      {"reference { y = (a,) }", {"1:17 a tuple of one element | remove the comma"}},
      {"reference { y = (a, b }", {"1:17 `(` is not closed before `}` | add `)`"}},
      {"reference { y = (a b) }", {"1:20 expected `)`, found `b`"}},
      {"reference { y = [a b] }", {"1:20 expected `,` or `]` in a list, found `b`"}},
      {"reference { y = [0 .. 4] }",
       {"1:20 expected `,` or `]` in a list, found `..` | a range stands by itself: `N in 1 .. 9`"}},
      {"reference { y = f(a b) }", {"1:21 expected `,` or `)` in the arguments, found `b`"}},
      {"reference { y = f(axis=1, x) }",
       {"1:27 an argument without a name after `axis=` | put it before, or name it"}},
      {"reference { y = f(axis=1, axis=2) }", {"1:27 the argument `axis` is given twice | remove one"}},
      {"reference { y = sum(g in n: g) }",
       {"1:26 a comprehension runs over a range, found an expression | write `0 .. n`, or `a .. b step s`"}},
      {"reference { y = sum(g in 0 .. n) }",
       {"1:32 expected `:` and the value after the range, found `)` | as in `sum(g in 0 .. n: f(g))`"}},
      {"reference { y = sum(g in 0 .. n: g, h) }",
       {"1:37 a comprehension stands alone among the arguments | name it first with `let`"}},
      {"reference { y = 3(a) }",
       {"1:18 this is not callable | only names and methods such as `x.tile` are called"}},
      {"reference { y = x.3 }", {"1:18 `.3` is no number | write `0.3`; a range is `a .. b`"}},
      {"reference { y = x. }", {"1:20 expected a name after `.`, found `}`"}},
      {"reference { y = x[0 .. 4] }",
       {"1:21 expected `,` or `]` in an index, found `..` | a bounded view is `lo : hi`, a tile `start :+ "
        "length`"}},
      {"reference { y = x[a:b:c] }",
       {"1:22 expected `,` or `]` in an index, found `:` | an index has no step"}},
      {"reference { y = x[a :+] }", {"1:23 expected an expression, found `]`"}},
      {"reference { y = inline_ptx(\"a\", x) }",
       {"1:36 expected `reference` and the meaning of `inline_ptx`, found `}` | write `inline_ptx(\"...\", "
        "x) reference expr`; the interpreter runs `expr`"}},
      {"reference { y = for }", {"1:17 expected an expression, found the keyword `for`"}},
  });
}

TEST_CASE("more expression errors", "[errors]") {
  test::checkErrors({
      {"reference { y = sum(g in 0 .. 3: ) }", {"1:34 expected an expression, found `)`"}},
      {"reference { y = sum(h, g in 0 .. 3: g) }",
       {"1:24 a comprehension stands alone among the arguments | name it first with `let`"}},
      {"reference { y = x[3 :+ ] }", {"1:24 expected an expression, found `]`"}},
      {"reference { y = a ** }", {"1:22 expected an expression, found `}`"}},
      {"reference { y = inline_ptx(\"a\") reference }", {"1:43 expected an expression, found `}`"}},
      {"reference { y = - }", {"1:19 expected an expression, found `}`"}},
      {"reference { y = a @@ b }", {"1:20 expected an expression, found `@`"}},
      {"reference { y = 0 .. 3 }",
       {"1:19 expected the end of the statement, found `..` | a range stands in a `for`, a comprehension or "
        "a setting, not among values"}},
  });
}
