// SPDX-License-Identifier: MIT
// The builtin table for readers: docs/builtins.md, and the spec in which each example runs.
#include "compiler/semantics/Builtins.h"

namespace tilegym::sem {

std::string builtinExampleSpec(const BuiltinInfo &info) {
  bool ownGrid = info.id == Builtin::grid_;
  return "## Runs an example: x[i, j] = 8 * i + j, c[i] = i, R = 4, C = 8.\n"
         "op example(x: f32[R, C], w: f32[C]?, list l: f32[P[]], inout c: i32[C]) -> y: i32[R, C] = 0\n"
         "fn times(a, b) { a * b }\n"
         "reference { y = 0 }\n"
         "kernel k() {\n" +
         std::string(ownGrid ? "" : "grid(R)\n") + info.example +
         "\n}\n"
         "test {\n"
         "case \"example\" { R = 4; C = 8; P = [1, 2]; x = iota; w = iota; l = iota; c = iota; expect y = [" +
         [] {
           std::string rows;
           for (int i = 0; i < 4; ++i)
             rows += std::string(i ? ", " : "") + "[0, 0, 0, 0, 0, 0, 0, 0]";
           return rows;
         }() +
         "] }\n"
         "tolerance { i32: 0 }\n"
         "}\n"
         "bench none \"an example\"\n";
}

std::string builtinsPage() {
  std::string page = "# Builtin functions\n\n"
                     "Made from the compiler's table. `x` must be given, `x?` may be, `x=` may be and only "
                     "by name, `x...` is any number. Each\n"
                     "example is run by the tests, in a kernel where `x[i, j] = 8 * i + j`, `c[i] = i`, `R = "
                     "4` and `C = 8`, `w` is an optional tensor,\n"
                     "`l` a list of two and `times` a `fn` that multiplies.\n";
  std::string_view heading;
  for (const BuiltinInfo &info : builtins()) {
    if (name(info.family) != heading) {
      heading = name(info.family);
      page += "\n## " + std::string(1, char(toupper(heading[0]))) + std::string(heading.substr(1)) + "\n";
    }
    page += "\n### `" + info.signature + "`\n" + info.doc + ".\n```\n" + info.example + "\n```\n";
  }
  return page;
}

} // namespace tilegym::sem
