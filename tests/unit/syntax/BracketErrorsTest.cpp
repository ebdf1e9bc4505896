// SPDX-License-Identifier: MIT
// Brackets without a partner: one report each, and what follows is still read.
#include "tests/unit/syntax/Helpers.h"

using namespace tilegym;

TEST_CASE("bracket errors", "[errors]") {
  test::checkErrors({
      {"reference { y = f(a }", {"1:18 `(` is not closed before `}` | add `)`"}},
      {"reference {\n  y = f(a\n  let z = 3\n}",
       {"2:8 `(` is not closed before the keyword `let` | add `)`"}},
      {"reference { y = a) }", {"1:18 `)` closes nothing | remove it, or open it earlier"}},
      {"reference { y = [a) }", {"1:19 `)` closes `[` | write `]`"}},
      {"reference { y = (a] }", {"1:19 `]` closes `(` | write `)`"}},
      {"reference { y = ((a] ) }", {"1:20 `]` closes `(` | write `)`"}},
      {"reference { y = a }}", {"1:20 `}` closes nothing | remove it, or open it earlier"}},
      {"reference { y = a\nbench none \"x\"",
       {"1:11 `{` is not closed before the keyword `bench` | add `}`"}},
      {"reference {", {"1:11 `{` is not closed before the end of the file | add `}`"}},
  });
}

TEST_CASE("more bracket errors", "[errors]") {
  test::checkErrors({
      {"reference { y = ([a) }", {"1:18 `[` is not closed before `)` | add `]`"}},
      {"reference { let x = 1 } }", {"1:25 `}` closes nothing | remove it, or open it earlier"}},
      {"}\nbench none \"x\"", {"1:1 `}` closes nothing | remove it, or open it earlier"}},
      {"reference { y = x[3 : ) }", {"1:23 `)` closes `[` | write `]`"}},
  });
}
