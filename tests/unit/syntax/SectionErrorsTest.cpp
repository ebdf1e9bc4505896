// SPDX-License-Identifier: MIT
// Wrong sections.
#include "tests/unit/syntax/Helpers.h"

using namespace tilegym;

TEST_CASE("section errors", "[errors]") {
  test::checkErrors({
      {"kernal k() {}", {"1:1 expected a section, found `kernal` | did you mean `kernel`?"}},
      {"frobnicate",
       {"1:1 expected a section, found `frobnicate` | the sections are `op`, `reference`, `kernel`, `plan`, "
        "`tune`, `test`, `bench`, `fn` and `use`"}},
      {"x = 3",
       {"1:1 expected a section, found `x` | the sections are `op`, `reference`, `kernel`, `plan`, `tune`, "
        "`test`, `bench`, `fn` and `use`"}},
      {"kernel k {}",
       {"1:10 expected `(` and the parameters of `k`, found `{` | a kernel without parameters is written "
        "`name()`"}},
      {"kernel () {}", {"1:8 expected the name of the kernel, found `(`"}},
      {"kernel k(3) {}", {"1:10 expected the name of a parameter, found `3`"}},
      {"kernel k(BM BN) {}", {"1:13 expected `,` or `)` in the parameters, found `BN`"}},
      {"kernel k(BM) where BM > 3 {}",
       {"1:14 `where` after a kernel | a kernel is guarded with `when`; `where` belongs to `op` and `tune`"}},
      {"kernel k(BM)",
       {"1:13 expected `when` or `{` after the parameters of `k`, found the end of the file"}},
      {"kernel k(BM) when {}", {"1:19 expected an expression, found `{`"}},
      {"kernel k(BM) { } bench none \"x\"",
       {"1:18 expected the end of the section, found the keyword `bench` | each section starts on a line of "
        "its own"}},
      {"fn f {}", {"1:6 expected `(` and the parameters of `f`, found `{`"}},
      {"fn f(a: f32) { a }",
       {"1:7 expected `,` or `)` in the parameters, found `:` | parameters of a `fn` have no type: it is "
        "inlined"}},
      {"fn f(a) -> f32 { a }",
       {"1:9 expected `{` and the body of the function, found `->` | the value is the last expression of the "
        "body"}},
      {"fn f(a) = a",
       {"1:9 expected `{` and the body of the function, found `=` | the value is the last expression of the "
        "body"}},
      {"fn f(a) { a\n  b }",
       {"1:11 this value is not used | the value of a `fn` is its last expression, outside any `if` or "
        "loop"}},
      {"fn f(a) { if a { b } }",
       {"1:18 this value is not used | the value of a `fn` is its last expression, outside any `if` or "
        "loop"}},
      {"use \"attention\"",
       {"1:5 expected the name of a library file, found a string | write it without quotes and ending: `use "
        "attention`"}},
      {"use a b", {"1:7 expected the end of `use`, found `b` | one statement a line, or `;` between them"}},
      {"reference x {}", {"1:11 expected `{` and the body of the reference, found `x`"}},
      {"reference {}\nreference {}",
       {"2:1 a second `reference` | a spec has one `reference`; put both into one, or remove this"}},
      {"op f(x: T[N])\nop g(x: T[N])",
       {"2:1 a second `op` | a spec has one `op`; put both into one, or remove this"}},
      {"test {}\ntest {}",
       {"2:1 a second `test` | a spec has one `test`; put both into one, or remove this"}},
      {"bench {}\nbench {}",
       {"2:1 a second `bench` | a spec has one `bench`; put both into one, or remove this"}},
  });
}

TEST_CASE("more section errors", "[errors]") {
  test::checkErrors({
      {"def f(a) {}", {"1:1 expected a section, found `def` | functions are `fn name(a, b) { ... }`"}},
      {"func f(a) {}", {"1:1 expected a section, found `func` | functions are `fn name(a, b) { ... }`"}},
      {"import a", {"1:1 expected a section, found `import` | write `use name`"}},
      {"include a", {"1:1 expected a section, found `include` | write `use name`"}},
      {"kernel k(BM = ) {}", {"1:15 expected an expression, found `)`"}},
      {"kernel k(p: ) {}", {"1:13 expected a type, found `)`"}},
      {"fn (a) {}", {"1:4 expected the name of the function, found `(`"}},
      {"fn f(3) {}", {"1:6 expected the name of a parameter, found `3`"}},
      {"fn f(a) { while a { b }\n for i in 0 .. 2 { c }\n a }",
       {"1:21 this value is not used | the value of a `fn` is its last expression, outside any `if` or loop",
        "2:20 this value is not used | the value of a `fn` is its last expression, outside any `if` or "
        "loop"}},
      {"use", {"1:4 expected the name of a library file, found the end of the file"}},
  });
}
