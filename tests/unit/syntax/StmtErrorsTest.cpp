// SPDX-License-Identifier: MIT
// Wrong statements.
#include "tests/unit/syntax/Helpers.h"

using namespace tilegym;

TEST_CASE("statement errors", "[errors]") {
  test::checkErrors({
      {"reference { lett x = 3 }", {"1:13 unknown statement `lett` | did you mean `let`?"}},
      {"reference { fro i in 0 .. 3 {} }", {"1:13 unknown statement `fro` | did you mean `for`?"}},
      {"reference { whlie a {} }", {"1:13 unknown statement `whlie` | did you mean `while`?"}},
      {"reference { whlie(a) {} }",
       {"1:22 expected the end of the statement, found `{` | did you mean `while`?"}},
      {"reference { elif a {} }", {"1:13 unknown statement `elif` | write `else if`"}},
      {"reference { def f(a) {} }",
       {"1:13 unknown statement `def` | functions are `fn name(a, b) { ... }`, beside the sections"}},
      {"reference { float x = 3 }", {"1:13 unknown statement `float` | write `let x = ...`"}},
      {"reference { let x: f32 = 3 }",
       {"1:18 expected `=` and a value after `x`, found `:` | names have no type annotation: convert the "
        "value, as in `let x = f32(0)`"}},
      {"reference { let a, b = f(x) }",
       {"1:18 expected `=` and a value after `a`, found `,` | write `let (a, b) = ...`"}},
      {"reference { let (a) = f(x) }", {"1:13 a tuple of fewer than two names | write `let name = value`"}},
      {"reference { let (a, 3) = f(x) }", {"1:21 expected a name, found `3`"}},
      {"reference { let x }", {"1:19 expected `=` and a value after `x`, found `}`"}},
      {"reference { let x == 3 }", {"1:19 expected `=` and a value after `x`, found `==` | `==` compares"}},
      {"reference { let 3 = 3 }", {"1:17 expected a name, found `3`"}},
      {"reference { let test = 3 }", {"1:17 `test` is a keyword and cannot be a name | choose another name"}},
      {"reference { let\nx = 3 }", {"1:16 expected a name, found the end of the line"}},
      {"reference { let x = 3 let y = 4 }",
       {"1:23 expected the end of the statement, found the keyword `let` | one statement a line, or `;` "
        "between them"}},
      {"reference { x + 1 }",
       {"1:13 this value is not used | only calls stand alone as statements; bind a value with `let`"}},
      {"reference { x == 1 }", {"1:13 this value is not used | `==` compares; assign with `=`"}},
      {"reference { x }",
       {"1:13 this value is not used | only calls stand alone as statements; bind a value with `let`"}},
      {"reference { y = a\n - b }",
       {"2:2 this value is not used | to go on from the line above, end that line with the operator, or use "
        "parentheses"}},
      {"reference { y = a\n + b }",
       {"2:2 a statement cannot start with `+` | to go on from the line above, end that line with the "
        "operator, or use parentheses"}},
      {"reference { f(x) = 3 }",
       {"1:13 cannot assign to this | assign to a name, to `y[i]`, or to `(a, b)`"}},
      {"reference { a + b = 3 }",
       {"1:13 cannot assign to this | assign to a name, to `y[i]`, or to `(a, b)`"}},
      {"reference { (a, f(x)) = g() }",
       {"1:17 cannot assign to this | assign to a name, to `y[i]`, or to `(a, b)`"}},
      {"reference { (a, b) += g() }",
       {"1:20 `+=` needs one target, found a tuple | update the names one by one"}},
      {"reference { x: f32 = 3 }",
       {"1:14 expected the end of the statement, found `:` | names have no type annotation: write `let x = "
        "f32(0)`"}},
      {"reference { return x }",
       {"1:20 `return` ends the block of the grid and takes no value | the value of a `fn` is its last "
        "expression, without `return`"}},
      {"reference { else {} }", {"1:13 `else` without an `if` before it | it follows the `}` of an `if`"}},
      {"reference { kernel k() {} }",
       {"1:13 `kernel` starts a section, which cannot stand inside a block | close the block with `}` "
        "first"}},
      {"reference { in x }", {"1:13 a statement cannot start with the keyword `in`"}},
      {"reference { const x = 3 }",
       {"1:19 expected `if` or `for` after `const`, found `x` | a value is bound with `let`, also one that "
        "is known at compile time"}},
      {"reference { for i in n {} }",
       {"1:22 a loop runs over a range, found an expression | write `0 .. n`, or `a .. b step s`"}},
      {"reference { for i in range(n) {} }",
       {"1:22 a loop runs over a range, found an expression | `range(n)` is written `0 .. n`"}},
      {"reference { for (i = 0; i < n; i++) {} }",
       {"1:17 expected the name of the loop variable, found `(` | write `for i in 0 .. n { ... }`",
        "1:33 `++` is no operator | write `+= 1`"}},
      {"reference { for i = 0 .. n {} }",
       {"1:19 expected `in` after the loop variable, found `=` | write `for i in 0 .. n { ... }`"}},
      {"reference { for i in 0 .. n\n x = 3 }",
       {"1:28 expected `{` and the body of the loop, found the end of the line"}},
      {"reference { while { } }", {"1:19 expected an expression, found `{`"}},
      {"reference { if a = b { } }", {"1:18 `=` in a condition | `=` assigns; compare with `==`"}},
      {"reference { if a x = 3 }", {"1:18 expected `{` and the body of the `if`, found `x`"}},
      {"reference { math approx, }", {"1:26 expected a math flag, found `}`"}},
      {"reference { math approx ftz }",
       {"1:25 expected the end of the statement, found `ftz` | one statement a line, or `;` between them"}},
      {"reference { scratch p f32[N] }",
       {"1:23 expected `:` and a type, found `f32` | as in `scratch p: f32[B, D]`"}},
      {"reference { scratch p: f32[N] = 0 }",
       {"1:31 scratch has no initial value | write it in an earlier launch of the plan"}},
      {"reference { launch k }", {"1:22 expected `(` and the kernel's arguments, found `}`"}},
      {"reference { launch k(a b) }", {"1:24 expected `,` or `)` in the arguments, found `b`"}},
      {"reference { .foo() }",
       {"1:13 a statement cannot start with `.` | to go on from the line above, end that line with the "
        "operator, or use parentheses"}},
      {"reference { x = 3, }",
       {"1:18 expected the end of the statement, found `,` | one statement a line, or `;` between them"}},
  });
}

TEST_CASE("more statement errors", "[errors]") {
  test::checkErrors({
      {"reference { true }",
       {"1:13 this value is not used | only calls stand alone as statements; bind a value with `let`"}},
      {"reference { scratch : f32[N] }",
       {"1:21 expected the end of the statement, found `:` | names have no type annotation: write `let x = "
        "f32(0)`"}},
      {"reference { launch 3 }",
       {"1:20 expected the end of the statement, found `3` | one statement a line, or `;` between them"}},
      {"reference { for 3 in 0 .. 2 {} }", {"1:17 expected the name of the loop variable, found `3`"}},
      {"reference { for i in 0 .. {} }", {"1:27 expected an expression, found `{`"}},
      {"reference { if }", {"1:16 expected an expression, found `}`"}},
  });
}
