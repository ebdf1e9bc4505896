// SPDX-License-Identifier: MIT
// Wrong interfaces: parameters, types, results, clauses.
#include "tests/unit/syntax/Helpers.h"

using namespace tilegym;

TEST_CASE("interface errors", "[errors]") {
  test::checkErrors({
      {"op", {"1:3 expected the name of the op, found the end of the file"}},
      {"op 3", {"1:4 expected the name of the op, found `3`"}},
      {"op f", {"1:5 expected `(` and the parameters of the op, found the end of the file"}},
      {"op f(x) -> y: T[N]",
       {"1:7 expected `:` and a type after `x`, found `)` | as in `x: T[M, N]` or `eps: f32 = 1e-6`"}},
      {"op f(x: T[N] -> y: T[N]", {"1:5 `(` is not closed before the end of the file | add `)`"}},
      {"op f(x: T[N]) y: T[N]",
       {"1:15 expected `->` and the results, or a clause such as `where`, found `y` | results are written "
        "`-> y: T[N]`"}},
      {"op f(x: T[N]): T[N]",
       {"1:14 expected `->` and the results, or a clause such as `where`, found `:` | results are written "
        "`-> y: T[N]`"}},
      {"op f(x: T[N]) -> ()", {"1:19 empty results | leave `->` out where everything is `inout`"}},
      {"op f(x: T[N]) -> y: T[N], z: T[N]",
       {"1:25 expected a clause of the op or a section, found `,` | several results stand in parentheses: "
        "`-> (y: T[N], z: T[N])`"}},
      {"op f(x: T[N]) -> inout y: T[N]", {"1:18 `inout` on a result | it belongs to parameters"}},
      {"op f(const const x: i32)", {"1:12 `const` is given twice | remove one"}},
      {"op f(cosnt x: i32)", {"1:6 unknown modifier `cosnt` | did you mean `const`?"}},
      {"op f(x: f32 | f16)",
       {"1:13 a choice of types for `x` | name the dtype, `x: T`, and list the choices in `where T: f32 | "
        "f16`"}},
      {"op f(const x: a | 4)",
       {"1:19 a number among the values of `x` | write `const x: i32` and list the numbers in `where`"}},
      {"op f(x: T[B|2])",
       {"1:13 expected `1` after `|` in a dim, found `2` | `B|1` takes extent B or 1, and 1 is broadcast"}},
      {"op f(x: T[*2])", {"1:12 leading dims need a name | as in `T[*R, N]`"}},
      {"op f(x: T[*R|1])", {"1:14 leading dims cannot broadcast | give these dims names of their own"}},
      {"op f(x: T[M N])", {"1:13 expected `,` or `]` in the dims, found `N`"}},
      {"op f(x: T[f()[]])", {"1:11 a dim per element needs a name | as in `list a: T[M[], K]`"}},
      {"op f(x: 3)", {"1:9 expected a type, found `3`"}},
      {"op f(x: T[N]) {}",
       {"1:15 expected a clause of the op or a section, found `{` | an op has no body: its meaning stands in "
        "`reference { ... }`"}},
      {"op f(x: T[N])\n  wehre T: f32",
       {"2:3 expected a clause of the op or a section, found `wehre` | did you mean `where`?"}},
      {"op f(x: T[N]) when N > 3",
       {"1:15 expected a clause of the op or a section, found `when` | `when` guards a kernel; an op says "
        "which inputs it takes in `where`"}},
      {"op f(x: T[N])\n  alias x",
       {"2:3 expected a clause of the op or a section, found `alias` | both names are needed: `y alias x`"}},
      {"op f(x: T[N])\n  where T: f32 + 1", {"2:16 expected a clause of the op or a section, found `+`"}},
      {"op f(x: T[N])\n  where", {"2:8 expected an expression, found the end of the file"}},
      {"op f(x: T[N])\n  serves liger(x)",
       {"2:10 expected a dispatch name in quotes after `serves`, found `liger` | as in `serves "
        "\"liger.softmax\"(x)`"}},
      {"op f(x: T[N])\n  serves \"a\"",
       {"2:13 expected `(` and the arguments of `a`, found the end of the file"}},
      {"op f(x: T[N])\n  serves \"a\"(x: 1)",
       {"2:17 expected what the argument is, after `:`, found `1` | one of ours (`input: x`), or `ignored`, "
        "`none`, `transposes a`, `in_place`"}},
      {"op f(x: T[N])\n  serves \"a\"(x: transposes)",
       {"2:27 expected the name of the argument whose axes change places, found `)`"}},
      {"op f(x: T[N])\n  serves \"a\"(x: in_place unless 1)",
       {"2:33 expected the name of a const after `unless`, found `1`"}},
      {"op f(x: T[N])\n  serves \"a\"(x) -> (y z)",
       {"2:23 expected `,` or `)` in the results of `a`, found `z`"}},
      {"op f(x: T[N])\n  serves \"a\"(x) -> 1",
       {"2:20 expected the name of an output, or `none`, found `1`"}},
      {"op f(x: T[N])\n  serves \"a\"(3)", {"2:14 expected the name of an argument, found `3`"}},
      {"op f(x: T[N])\n  gradient of g(y -> dy)",
       {"2:24 expected `;` between outputs and inputs, found `)` | as in `gradient of f(y -> dy; x -> dx)`"}},
      {"op f(x: T[N])\n  gradient of g(y)",
       {"2:18 expected `->` and the name of the gradient of `y`, found `)`"}},
      {"op f(x: T[N])\n  gradient of g",
       {"2:16 expected `(` and the pairs of names, found the end of the file | as in `gradient of f(y -> dy; "
        "x -> dx)`"}},
      {"op f(x: T[N])\n  gradient of g(y -> dy; x -> dx)\n  gradient of h(y -> dy; x -> dx)",
       {"3:3 a second `gradient of` | an op is the gradient of one other"}},
      {"op f(x: T[N])\n  y alias", {"2:10 expected the name of a parameter, found the end of the file"}},
      {"op f(x: T[N])\n  y alias x, z",
       {"2:15 expected `alias`, found the end of the file | as in `y alias x`"}},
  });
}

TEST_CASE("more interface errors", "[errors]") {
  test::checkErrors({
      {"op f(x: T[N])\n  where T: f32 | (f16 + 1)",
       {"2:18 a choice of `T` is a name or an integer | as in `T: f32 | f16` or `D: 64 | 128`; a condition "
        "is written without `:`"}},
      {"op f(x: T[N])\n  where T: f32 | x.y",
       {"2:18 a choice of `T` is a name or an integer | as in `T: f32 | f16` or `D: 64 | 128`; a condition "
        "is written without `:`"}},
      {"op f(x: T[N])\n  serves \"a\"(x y)", {"2:16 expected `,` or `)` in the arguments of `a`, found `y`"}},
      {"op f(x: T[N])\n  serves \"a\"(x=)", {"2:16 expected an expression, found `)`"}},
      {"op f(x: T[N])\n  gradient of g(y -> dy; x -> dx z)",
       {"2:34 expected `,` or `)` after the inputs, found `z`"}},
      {"op f(x: T[N])\n  gradient of 3",
       {"2:15 expected the name of the op whose gradient this is, found `3`"}},
      {"op f(x: T[N])\n  gradient of g(3)", {"2:17 expected a name, found `3`"}},
      {"op f(x: T[N])\n  gradient of g(y -> 3; x -> dx)", {"2:22 expected a name, found `3`"}},
      {"op f(x: T[N])\n  y alias 3", {"2:11 expected the name of a parameter, found `3`"}},
      {"op f(x: T[3 +])", {"1:14 expected an expression, found `]`"}},
      {"op f(x: T[N] = )", {"1:16 expected an expression, found `)`"}},
      {"op f(x: T[N]) -> y",
       {"1:19 expected `:` and a type after `y`, found the end of the file | as in `x: T[M, N]` or `eps: f32 "
        "= 1e-6`"}},
  });
}
