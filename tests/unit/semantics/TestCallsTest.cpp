// SPDX-License-Identifier: MIT
// The calls that test and bench sections make.
#include "compiler/semantics/TestCalls.h"
#include "tests/unit/semantics/SpecText.h"

using namespace tilegym;
using namespace tilegym::sem;

namespace {

struct Calls {
  std::shared_ptr<const OpModel> op;
  TestModel model;
  DiagnosticSink sink;
  std::vector<TestCall> all;
  Calls(const std::string &header, const std::string &test)
      : op(mustAnalyze(specAround(header, "kernel only(BN) { grid(1) }\ntune only { BN in [1] }", test))) {
    model = readTest(*op, *op->spec->test, sink);
    all = testCalls(*op, model, sink);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const TestCall &call : all)
      result.push_back(call.name);
    return result;
  }
  std::string error() const { return sink.all().empty() ? "" : sink.all()[0].message; }
};

using Names = std::vector<std::string>;
using Extents = std::vector<int64_t>;

} // namespace

TEST_CASE("lists are crossed and cases completed") {
  Calls calls("op f(x: T[*R, N], eps: f32 = 1e-6) -> y: T[*R, N] where T: f32 | f16",
              "R in [1, [2, 3]]; N in [0, 5]; T in all; case \"hand\" { R = 1; N = 2; x = [[1, 2]]; expect y "
              "= [[1, 2]] }; "
              "case \"small\" { R = 2; N = 1; T = f16; eps in [0, 1] }; tolerance { f32: 0; f16: 0 }");
  CHECK(calls.error() == "");
  CHECK(calls.names() == Names{"R=1 N=0 T=f32", "R=1 N=0 T=f16", "R=1 N=5 T=f32", "R=1 N=5 T=f16",
                               "R=[2,3] N=0 T=f32", "R=[2,3] N=0 T=f16", "R=[2,3] N=5 T=f32",
                               "R=[2,3] N=5 T=f16", "hand T=f32", "hand T=f16", "small eps=0.0",
                               "small eps=1.0"});
  const TestCall &wide = calls.all[6];
  CHECK(wide.shape.tensors[0][0].extents == Extents{2, 3, 5});
  CHECK(wide.bound.values.dims == Extents{6, 5});
  CHECK(wide.bound.shapes[1][0] == Extents{2, 3, 5});
  REQUIRE(wide.fillings[0].size() == 1);
  CHECK(wide.fillings[0][0].kind == Generator::Normal);
  CHECK(wide.fillings[0][0].args == std::vector<double>{0, 1});
  const TestCall &hand = calls.all[8];
  REQUIRE(hand.testCase);
  CHECK(hand.testCase->expects[0].literals[0].elements[1] == Constant{2.0});
  REQUIRE(hand.fillings[0][0].literal);
  CHECK(hand.fillings[0][0].literal->shape == Extents{1, 2});
  CHECK(hand.seed != calls.all[9].seed);
  CHECK(calls.all[11].shape.scalars[0] == Constant{1.0});
}

TEST_CASE("dims may follow others, generators too, combinations that `where` refuses are left out") {
  Calls calls("op f(q: f32[H, S], k: f32[HK, SK], i: i32[S]) -> y: f32[H, S] where H % HK == 0",
              "SK = S + 2; H in [2, 3]; HK in [1, 2]; S = 4; i = randint(0, SK); case \"c\" { H = 1; HK = 1; "
              "S = 0; expect y = [[]] }; "
              "tolerance { f32: 0 }");
  CHECK(calls.error() == "");
  CHECK(calls.names() == Names{"H=2 S=4 HK=1 SK=6", "H=2 S=4 HK=2 SK=6", "H=3 S=4 HK=1 SK=6", "c"});
  CHECK(calls.all[0].fillings[2][0].args == std::vector<double>{0, 6});
  CHECK(calls.all[3].bound.values.dims == Extents{1, 0, 1, 2});
}

TEST_CASE("optional tensors, lists, dims from literals") {
  Calls calls("op f(x: f32[N], w: f32[N]?, list a: f32[M[], N]) -> (y: f32[N], z: f32[N]?)",
              "w in [normal, None]; case \"c\" { x = [1, 2, 3]; M = [4, 5]; z = None; expect y = [1, 2, 3] "
              "}; tolerance { f32: 0 }");
  CHECK(calls.error() == "");
  CHECK(calls.names() == Names{"c w=normal", "c w=None"});
  CHECK(calls.all[0].bound.spec.present == std::vector<bool>{true, true, true, true, false});
  CHECK(calls.all[1].bound.spec.present == std::vector<bool>{true, false, true, true, false});
  CHECK(calls.all[0].bound.values.dims[0] == 3);
  REQUIRE(calls.all[0].shape.tensors[2].size() == 2);
  CHECK(calls.all[0].shape.tensors[2][1].extents == Extents{5, 3});
}

TEST_CASE("without a list of a dim, a section that says everything makes combinations") {
  const std::string header = "op f(x: T[M, N], s: f32, k: i32[M]) -> y: T[M, N] where T: f32 | f16";
  const std::string rest = "case \"c\" { N = 1; expect y = [[1], [1]] }; tolerance { f32: 0; f16: 0 }";
  CHECK(Calls(header, "M = 2; N = 5; s = 0; k = iota; " + rest).names() ==
        Names{"M=2 N=5 T=f32", "M=2 N=5 T=f16", "c T=f32", "c T=f16"});
  CHECK(Calls(header, "M = 2; N = 5; s in [0, 1]; k = iota; T = f16; " + rest).names() ==
        Names{"M=2 N=5 T=f16 s=0.0", "M=2 N=5 T=f16 s=1.0", "c s=0.0", "c s=1.0"});
  // What lacks a dim, a scalar or integers completes the cases only.
  CHECK(Calls(header, "M = 2; s = 0; k = iota; " + rest).names() == Names{"c T=f32", "c T=f16"});
  Calls fixed("op f(x: f32[4]) -> y: f32[4]", "x = iota; case \"c\" { x = 1; expect y = [1, 1, 1, 1] }; "
                                              "case \"d\" { }; tolerance { f32: 0 }");
  CHECK(fixed.error() == "");
  CHECK(fixed.names() == Names{"", "c", "d"});
}

TEST_CASE("optional tensors that nothing is said of are left out, each in turn and all") {
  const std::string header = "op f(x: f32[N], w: f32[N]?) -> (y: f32[N], z: f32[N]?)";
  const std::string rest = "case \"c\" { x = [1]; expect y = [1] }; tolerance { f32: 0 }";
  Calls calls(header, "N in [1, 2]; " + rest);
  CHECK(calls.names() == Names{"N=1", "N=2", "N=1 w=None", "N=2 w=None", "N=1 z=None", "N=2 z=None",
                               "N=1 w=None z=None", "N=2 w=None z=None", "c"});
  CHECK(calls.all[0].bound.spec.present == std::vector<bool>{true, true, true, true});
  CHECK(calls.all[2].bound.spec.present == std::vector<bool>{true, false, true, true});
  CHECK(calls.all[4].bound.spec.present == std::vector<bool>{true, true, true, false});
  CHECK(calls.all[6].bound.spec.present == std::vector<bool>{true, false, true, false});
  CHECK(calls.all[2].fillings[1].empty());
  CHECK(Calls(header, "N = 1; w = 2; " + rest).names() == Names{"N=1", "N=1 z=None", "c"});
  CHECK(Calls(header, "N = 1; w = None; z = None; " + rest).names() == Names{"N=1", "c"});
  // An op is not called for nothing, nor without a tensor that a dim needs.
  CHECK(Calls("op f(x: f32[N]) -> (y: f32[N]?, z: f32[N]?)", "N = 1; " + rest).names() ==
        Names{"N=1", "N=1 y=None", "N=1 z=None", "c"});
  CHECK(Calls("op f(x: f32[N], w: f32[N]?) -> y: f32[N] where present(w) | (N > 1)", "N in [1, 2]; " + rest)
            .names() == Names{"N=1", "N=2", "N=2 w=None", "c"});
}

TEST_CASE("a setting of the section that no case takes, where there are no combinations, is an error") {
  const std::string header = "op f(x: f32[N], const up: bool = false) -> y: f32[N]";
  DiagnosticSink sink;
  auto op = tryAnalyze(specAround(header, "kernel only(BN) { grid(1) }\ntune only { BN in [1] }",
                                  "up in all; case \"c\" { x = [1]; up = true; expect y = [1] }; "
                                  "tolerance { f32: 0 }"),
                       sink);
  REQUIRE(sink.all().size() == 1);
  CHECK(sink.all()[0].message ==
        "`up` has no effect: each case says its own, and there are no combinations, as "
        "a test does not say what `N` is");
  CHECK(sink.all()[0].help == "add N = 64 here, or leave this out");
}

TEST_CASE("names say generators as they are written") {
  Calls calls("op f(x: f32[N]) -> y: f32[N]",
              "N = 2; x in [normal, normal(0, 2), [1, 2], normal, -inf, one_hot(0.0, off=-inf, at=last)]; "
              "case \"c\" { x = 1; expect y = [1, 1] }; tolerance { f32: 0 }");
  CHECK(calls.error() == "");
  CHECK(calls.names() ==
        Names{"N=2 x=#0", "N=2 x=normal(0, 2)", "N=2 x=[1, 2]", "N=2 x=#3", "N=2 x=-inf", "N=2 x=#5", "c"});
}

TEST_CASE("calls that cannot be made") {
  const std::string header = "op f(x: f32[M, N]) -> y: f32[M, N] where M < N \"wide\"";
  const std::string rest = "case \"c\" { M = 0; N = 2; expect y = [] }; tolerance { f32: 0 }";
  CHECK(Calls(header, "M in [4, 5]; N in [1, 2]; " + rest).error() ==
        "the op refuses every call that these lists make: f: found M = 5, N = 2, expected `wide`");
  CHECK(Calls(header, "case \"d\" { M = 2; N = 2 }; " + rest).error() ==
        "`d` is no call of the op: f: found M = 2, N = 2, expected `wide`");
  CHECK(Calls(header, "M = N; N = M; case \"d\" { }; " + rest).error() ==
        "`M` depends on itself or on a dim that is not said");
  CHECK(errorsOf(specAround(header, "kernel only(BN) { grid(1) }\ntune only { BN in [1] }",
                            "M = N; " + rest + "; case \"d\" { }")) ==
        std::vector<std::string>{"a test does not say what `N` is"});
  CHECK(Calls(header, "M = 1; case \"d\" { N = M - 2 }; " + rest).error() == "`N` would be -1");
  CHECK(Calls(header, "M = 1; case \"d\" { N = 5 // (M - 1) }; " + rest).error() == "`N`: division by zero");
}

TEST_CASE("calls of a benchmark") {
  DiagnosticSink sink;
  auto op = mustAnalyze("op f(x: T[N]) -> y: T[N] where T: f32 | f16\nreference { }\nkernel only(BN) { "
                        "grid(1) }\ntune only { BN in [1] }\n"
                        "test { N = 1; case \"c\" { expect y = [0] }; tolerance { f32: 0; f16: 0 } }\n"
                        "bench { N in [1024, 2048]; T = f16; bytes = 2 * N * sizeof(T) }\n");
  BenchModel model = readBench(*op, *op->spec->bench, sink);
  auto calls = benchCalls(*op, model, sink);
  REQUIRE(calls.size() == 2);
  CHECK(calls[1].name == "N=2048 T=f16");
  CHECK(evaluateHost(*model.bytes, calls[1].bound.values).value == Constant{int64_t(8192)});
}

TEST_CASE("a case's literal fixes the dims that the section lists") {
  Calls calls("op f(x: T[*R, N]) -> y: T[*R, N] where T: f32 | f16",
              "R in [1, 7]; N in [2, 63]; T = f16; case \"hand\" { x = [[1, 2], [3, 4], [5, 6]]; "
              "expect y = [[1, 2], [3, 4], [5, 6]] }; tolerance { f32: 0; f16: 0 }");
  CHECK(calls.error() == "");
  CHECK(calls.names() == Names{"R=1 N=2 T=f16", "R=1 N=63 T=f16", "R=7 N=2 T=f16", "R=7 N=63 T=f16", "hand"});
  CHECK(calls.all[4].bound.values.dims == Extents{3, 2});
}
