// SPDX-License-Identifier: MIT
// Test sections to cases: what crosses, what a case inherits, what literals fix.
#include "SpecModel.h"

using namespace tilegym;
using namespace tilegym::interp;

namespace {

/// A whole spec around a signature and a test section; `bench` too where it matters.
std::string spec(const std::string &signature, const std::string &test,
                 const std::string &bench = "none \"not measured\"") {
  return "op probe" + signature +
         "\nreference { y = x }\nkernel all(BN) {\n  grid(1)\n}\ntune all { BN in [16] }\ntest {\n" + test +
         "\n}\nbench " + bench + "\n";
}

const std::string floats = "(x: T[*R, N], eps: f32 = 0.5) -> y: T[*R, N]\n  where T: f32 | f16";
const std::string byHand =
    "case \"by hand\" { R = 3; N = 2; x = [[1, 2], [3, 4], [5, 6]]; expect y = [[1, 2], [3, 4], [5, 6]] }\n"
    "tolerance { f32: 0; f16: 1e-3 }";

} // namespace

TEST_CASE("lists cross, dtypes outermost, and a case has each dtype") {
  SpecModel model = specModel(spec(floats, "R in [1, 7]; N in [0, 63]; T in all\n" + byHand));
  CHECK(caseNames(model) == std::vector<std::string>{"T=f32 R=1 N=0", "T=f32 R=1 N=63", "T=f32 R=7 N=0",
                                                     "T=f32 R=7 N=63", "T=f16 R=1 N=0", "T=f16 R=1 N=63",
                                                     "T=f16 R=7 N=0", "T=f16 R=7 N=63", "by hand T=f32",
                                                     "by hand T=f16"});
  const TestCase &one = model.named("T=f16 R=7 N=63");
  CHECK(one.interface.dtypes[0] == DType::F16);
  CHECK(one.dims.values == std::vector<int64_t>{7, 63});
  CHECK(one.scalars[0].asFloat() == 0.5);
  std::vector<Fault> faults;
  CHECK(inputShapes(*model.op, one, 0, faults) == std::vector<Dims>{{7, 63}});
}

TEST_CASE("a literal fixes the dims that the section lists") {
  SpecModel model = specModel(
      spec(floats, "R in [1, 7]; N in [2, 63]; T = f16\n"
                   "case \"by hand\" { x = [[1, 2], [3, 4], [5, 6]]; expect y = [[1, 2], [3, 4], [5, 6]] }\n"
                   "tolerance { f16: 0; f32: 0 }"));
  const TestCase &one = model.named("by hand");
  CHECK(one.dims.values == std::vector<int64_t>{3, 2});
  CHECK(one.interface.dtypes[0] == DType::F16);
  REQUIRE(one.expects.size() == 1);
  CHECK(one.expects[0].literals[0].shape == std::vector<int64_t>{3, 2});
}

TEST_CASE("a dim may depend on another, whichever is written first") {
  SpecModel model = specModel(spec(floats, "N = R * 2 + 1; R in [1, 7]; T = f32; eps in [0, 1]\n" + byHand));
  CHECK(model.named("eps=1.0 R=7").dims.values == std::vector<int64_t>{7, 15});
}

TEST_CASE("leading dims may be several") {
  SpecModel model = specModel(spec(floats, "R in [[2, 3], [], 4]; N = 5; T = f32\n" + byHand));
  std::vector<Fault> faults;
  CHECK(inputShapes(*model.op, model.named("R=2x3"), 0, faults) == std::vector<Dims>{{2, 3, 5}});
  CHECK(model.named("R=2x3").dims.values[0] == 6);
  CHECK(inputShapes(*model.op, model.named("R="), 0, faults) == std::vector<Dims>{{5}});
  CHECK(inputShapes(*model.op, model.named("R=4"), 0, faults) == std::vector<Dims>{{4, 5}});
}

TEST_CASE("optional tensors are there, and in the crossed lists also away") {
  SpecModel model =
      specModel(spec("(x: f32[N], w: f32[N]?) -> (y: f32[N], z: f32[N]?)",
                     "N in [2, 3]\ncase \"by hand\" { N = 1; x = [1]; expect y = [1] }\n"
                     "case \"no w\" { N = 1; x = [1]; w = none; expect y = [1] }\ntolerance { f32: 0 }"));
  CHECK(caseNames(model) == std::vector<std::string>{"N=2", "N=2 without optionals", "N=3",
                                                     "N=3 without optionals", "by hand", "no w"});
  CHECK(model.named("N=2").interface.present == std::vector<bool>{true, true, true, true});
  CHECK(model.named("N=2 without optionals").interface.present ==
        std::vector<bool>{true, false, true, false});
  CHECK(model.named("no w").interface.present == std::vector<bool>{true, false, true, true});
}

TEST_CASE("consts take their default, or what the section says") {
  const std::string signature =
      "(x: f32[N], const mode: none | mean | sum = mean, const flip: bool = false) -> y: f32[N]";
  const std::string rest = "\ncase \"by hand\" { N = 1; x = [1]; expect y = [1] }\ntolerance { f32: 0 }";
  SpecModel quiet = specModel(spec(signature, "N in [2, 4]" + rest));
  CHECK(quiet.named("N=2").interface.consts[0].asInt() == 1);
  SpecModel all = specModel(spec(signature, "N in [2]; mode in all; flip in [true, false]" + rest));
  CHECK(all.cases.size() == 12);
  CHECK(all.named("mode=sum flip=true").interface.consts[0].asInt() == 2);
  CHECK(all.named("mode=sum flip=true").interface.consts[1].asBool());
}

TEST_CASE("rules have their numbers, and a list of rules crosses") {
  SpecModel model =
      specModel(spec("(x: f32[N], i: i32[N]) -> y: f32[N]",
                     "N in [8]; i = randint(-1, N); x in [normal(1, 2), one_hot(3, off=-inf, at=last), 7]\n"
                     "case \"by hand\" { N = 1; x = [1]; expect y = [1] }\ntolerance { f32: 0 }"));
  const InputRule &normal = model.named("x=normal(1, 2)").inputs[0];
  CHECK((normal.kind == sem::Generator::Normal && normal.a == 1 && normal.b == 2));
  const InputRule &hot = model.named("x=one_hot(3, off=-inf, at=last)").inputs[0];
  CHECK((hot.kind == sem::Generator::OneHot && hot.a == 3 && hot.b < -1e300 && hot.at == -1));
  CHECK((model.named("x=7").inputs[0].kind == sem::Generator::Fill && model.named("x=7").inputs[0].a == 7));
  const InputRule &integers = model.named("x=7").inputs[1];
  CHECK((integers.kind == sem::Generator::RandInt && integers.lo == -1 && integers.hi == 8));
  CHECK(model.named("by hand").inputs[1].hi == 1);
}

TEST_CASE("lists of tensors have an extent for each element") {
  SpecModel model = specModel(
      spec("(list x: f32[M[], N]) -> y: f32[N]", "M in [[3, 0, 5], [1]]; N = 2\ncase \"by hand\" { x = [[[1, "
                                                 "2]]]; expect y = [1, 2] }\ntolerance { f32: 0 }"));
  std::vector<Fault> faults;
  CHECK(inputShapes(*model.op, model.named("M=3x0x5"), 0, faults) ==
        std::vector<Dims>{{3, 2}, {0, 2}, {5, 2}});
  CHECK(model.named("by hand").dims.lists[model.op->findDim("M")] == std::vector<int64_t>{1});
}

TEST_CASE("seeds come from names: equal for equal names, different otherwise") {
  SpecModel a = specModel(spec(floats, "R in [1, 7]; N in [63]; T in all\n" + byHand));
  SpecModel b = specModel(spec(floats, "R in [7]; N in [63]; T in all\n" + byHand));
  CHECK(a.named("T=f32 R=1").seed != a.named("T=f32 R=7").seed);
  CHECK(a.named("by hand T=f32").seed == b.named("by hand T=f32").seed);
  CHECK(hashName("") == 0xcbf29ce484222325);
  CHECK(hashName("a") == 0xaf63dc4c8601ec8c); // published FNV-1a value
}

TEST_CASE("a dim that depends on itself is said once, at its place") {
  DiagnosticSink sink;
  auto file =
      std::make_shared<SourceFile>("op.tile", spec(floats, "R = N; N = R + 1; T in all\n" + byHand +
                                                               "\ncase \"loop\" { R = 1; N = N + 1 }"));
  auto tree = std::make_shared<ast::Spec>(parseSpec(file, sink));
  auto op = sem::analyze(tree, {}, sink);
  REQUIRE(op);
  auto cases = expandTestCases(*op, sem::readTest(*op, *op->spec->test, sink), sink);
  REQUIRE(sink.numErrors() == 1);
  CHECK(sink.all()[0].message == "`N` has no value here");
  CHECK(sink.all()[0].help == "its value depends on itself");
  CHECK(cases.size() == 2);
}

TEST_CASE("bench cases carry their bytes and flops") {
  DiagnosticSink sink;
  auto file = std::make_shared<SourceFile>(
      "op.tile", spec(floats, "R in [1]; N in [2]; T in all\n" + byHand,
                      "{\n R = 4; N in [8, 16]; T in [f16]\n bytes = 2 * R * N * sizeof(T)\n}"));
  auto op = sem::analyze(std::make_shared<ast::Spec>(parseSpec(file, sink)), {}, sink);
  INFO(renderAll(sink));
  REQUIRE(op);
  auto cases = expandBenchCases(*op, sem::readBench(*op, *op->spec->bench, sink), sink);
  REQUIRE(cases.size() == 2);
  CHECK(cases[1].call.name == "N=16");
  CHECK(cases[1].bytes == 256);
  CHECK(!cases[1].flops);
}
