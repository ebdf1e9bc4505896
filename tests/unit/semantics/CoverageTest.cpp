// SPDX-License-Identifier: MIT
// Calls that the op takes and no kernel does: found, named and warned of; no false alarm where guards and checks cover all.
#include "compiler/semantics/Coverage.h"
#include "tests/unit/semantics/SpecText.h"

using namespace tilegym;
using namespace tilegym::sem;

namespace {

std::string spec(const std::string &guards, const std::string &where = "T: f32 | bf16") {
  return specAround("op f(x: T[M, N], w: T[N]?, k: i32 = 1) -> y: T[M, N]\n  where " + where, guards,
                    "M = 1; N = 1; case \"c\" { T = f32; expect y = [[0]] }; tolerance { f32: 0; bf16: 0 }");
}

std::string uncovered(const std::string &guards, const std::string &where = "T: f32 | bf16") {
  return findUncovered(*mustAnalyze(spec(guards, where))).value_or("none");
}

std::string kernel(const std::string &name, const std::string &when) {
  return "kernel " + name + "() " + when + " { grid(1) }\n";
}

} // namespace

TEST_CASE("every legal call has a kernel") {
  CHECK(uncovered(kernel("a", "when N <= 64") + kernel("b", "")) == "none");
  CHECK(uncovered(kernel("a", "when N <= 64") + kernel("b", "when N > 64")) == "none");
  CHECK(uncovered(kernel("a", "when N <= 64"), "T: f32 | bf16, N <= 64") == "none");
  CHECK(uncovered(kernel("a", "when T == f32") + kernel("b", "when sizeof(T) == 2")) == "none");
  CHECK(uncovered(kernel("a", "when present(w) & (N > 3)") + kernel("b", "when !present(w) | (N <= 3)")) ==
        "none");
  CHECK(uncovered(kernel("a", "when k > 0"), "T: f32 | bf16, k >= 1") == "none");
}

TEST_CASE("a legal call without a kernel is found") {
  CHECK(uncovered(kernel("a", "when N <= 64")) == "N = 65, T = f32");
  CHECK(uncovered(kernel("a", "when N < 64") + kernel("b", "when N > 64")) == "N = 64, T = f32");
  CHECK(uncovered(kernel("a", "when N <= 64"), "T: f32 | bf16, N <= 66") == "N = 65, T = f32");
  CHECK(uncovered(kernel("a", "when T == f32")) == "T = bf16");
  CHECK(uncovered(kernel("a", "when (N <= 64) | (M <= 8)")) == "N = 65, M = 9, T = f32");
  CHECK(uncovered(kernel("a", "when k > 0")) == "k = -1, T = f32");
  CHECK(uncovered(kernel("a", "when 2 * N <= 512")) == "N = 511, T = f32");
}

TEST_CASE("a kernel of fast facts alone takes no call whatever its strides") {
  const std::string fast = "tune a { warps = 4; facts = fast }\n",
                    general = "tune b { warps = 4; facts = general }\n";
  CHECK(uncovered(kernel("a", "") + fast) == "T = f32");
  CHECK(uncovered(kernel("a", "") + fast + kernel("b", "when N <= 64") + general) == "N = 65, T = f32");
  CHECK(uncovered(kernel("a", "when N <= 64") + fast + kernel("b", "") + general) == "none");
  DiagnosticSink sink;
  std::string text = spec(kernel("a", "") + fast);
  CHECK(tryAnalyze(text, sink));
  REQUIRE(sink.all().size() == 1);
  const Diagnostic &warning = sink.all()[0];
  CHECK(warning.message == "no kernel takes a call with T = f32 whatever its strides");
  CHECK(warning.help == "leave out the last `facts = fast`, or add a kernel of `facts = general`");
  CHECK(text.substr(warning.range.begin, warning.range.end - warning.range.begin) == "a");
}

TEST_CASE("analysis warns of it at the last guard") {
  DiagnosticSink sink;
  std::string text = spec(kernel("a", "when N <= 64") + kernel("b", "when N == 65"));
  CHECK(tryAnalyze(text, sink));
  REQUIRE(sink.all().size() == 1);
  const Diagnostic &warning = sink.all()[0];
  CHECK(warning.severity == Severity::Warning);
  CHECK(warning.message == "no kernel takes a call with N = 66, T = f32");
  CHECK(warning.help == "leave out the last guard, or say in `where` which calls the op refuses");
  CHECK(text.substr(warning.range.begin, warning.range.end - warning.range.begin) == "N == 65");
}
