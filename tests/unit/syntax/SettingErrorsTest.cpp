// SPDX-License-Identifier: MIT
// Wrong settings of `tune`, `test` and `bench`.
#include "tests/unit/syntax/Helpers.h"

using namespace tilegym;

TEST_CASE("setting errors", "[errors]") {
  test::checkErrors({
      {"tune { BM in [1] }", {"1:6 expected the name of the kernel to tune, found `{`"}},
      {"tune k", {"1:7 expected `{` and the contents of `tune`, found the end of the file"}},
      {"tune k { BM [1] }", {"1:13 expected `=` or `in` after `BM`, found `[`"}},
      {"tune k { BM == 1 }",
       {"1:13 expected `=` or `in` after `BM`, found `==` | `==` compares; a value is set with `=`"}},
      {"tune k { BM in }", {"1:16 expected an expression, found `}`"}},
      {"tune k { BM in [1], BN in [2] }",
       {"1:19 expected the end of the setting, found `,` | one statement a line, or `;` between them"}},
      {"tune k { arch { } }", {"1:15 expected the name of an arch, found `{`"}},
      {"tune k { arhc sm_90a { } }", {"1:10 unknown item `arhc` | did you mean `arch`?"}},
      {"tune k { wehre BM > 3 }", {"1:10 unknown item `wehre` | did you mean `where`?"}},
      {"test { case { } }",
       {"1:13 expected the name of the case in quotes, found `{` | as in `case \"one row\" { ... }`"}},
      {"test { case \"a\" }", {"1:17 expected `{` and the contents of `case`, found `}`"}},
      {"test { cas \"a\" { } }", {"1:8 unknown item `cas` | did you mean `case`?"}},
      {"test { tolerence { f32: 0 } }", {"1:8 unknown item `tolerence` | did you mean `tolerance`?"}},
      {"test { tolerance { f32 = 0 } }",
       {"1:24 expected `:` and the tolerance after `f32`, found `=` | as in `f32: 1e-6` or `f32: (1e-6, "
        "1e-8)`"}},
      {"test { tolerance { f32: 0, f16: 0 } }",
       {"1:26 expected the end of the tolerance, found `,` | one statement a line, or `;` between them"}},
      {"test { tolerance { f32: 0 }\n tolerance { f16: 0 } }",
       {"2:2 a second `tolerance` | put all dtypes into one"}},
      {"test { expect y = 3 }",
       {"1:8 `expect` outside a `case` | write `case \"name\" { ...; expect y = ... }`"}},
      {"test { case \"a\" { expect y in [3] } }", {"1:26 `expect` without `=` | write `expect y = [[...]]`"}},
      {"test { case \"a\" { expct y = 3 } }", {"1:19 unknown item `expct` | did you mean `expect`?"}},
      {"test { oracle \"x\" }", {"1:15 expected the name of the other library, found a string"}},
      {"test { oracle torch }",
       {"1:21 expected the expression in quotes, found `}` | as in `oracle torch \"torch.relu(x)\"`"}},
      {"test { oracle torch x }",
       {"1:21 expected the expression in quotes, found `x` | as in `oracle torch \"torch.relu(x)\"`"}},
      {"test { foo \"x\" }",
       {"1:8 unknown item `foo` | here stand `NAME = value`, `NAME in [...]`, `case`, `tolerance`, `oracle`, "
        "`where`"}},
      {"bench none",
       {"1:11 expected the reason in quotes after `bench none`, found the end of the file | as in `bench "
        "none \"a helper of other ops\"`"}},
      {"bench none why",
       {"1:12 expected the reason in quotes after `bench none`, found `why` | as in `bench none \"a helper "
        "of other ops\"`"}},
      {"bench { peer torch }",
       {"1:20 expected the expression in quotes, found `}` | as in `peer torch \"torch.relu(x)\"`"}},
      {"bench { pear torch \"x\" }", {"1:9 unknown item `pear` | did you mean `peer`?"}},
      {"bench { 3 }", {"1:9 expected the name of a setting, found `3`"}},
      {"bench { test = 3 }",
       {"1:9 `test` is a keyword and cannot be the name of a setting | choose another name"}},
  });
}

TEST_CASE("more setting errors", "[errors]") {
  test::checkErrors({
      {"tune 3 { BM in [1] }", {"1:6 expected the name of the kernel to tune, found `3`"}},
      {"tune k { arch sm_90a }", {"1:22 expected `{` and the contents of `arch`, found `}`"}},
      {"tune k { arch sm_90a { BM [2] } }", {"1:27 expected `=` or `in` after `BM`, found `[`"}},
      {"test { tolerance { 3: 0 } }", {"1:20 expected a dtype, found `3`"}},
      {"test { tolerance }", {"1:18 expected `{` and the contents of `tolerance`, found `}`"}},
      {"test { N in [1]; R }", {"1:20 expected `=` or `in` after `R`, found `}`"}},
  });
}
