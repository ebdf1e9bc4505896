// SPDX-License-Identifier: MIT
// Cases run on backends: the interpreter agrees, and what is wrong in reference, expectation or backend is found and described.
#include "SpecModel.h"

using namespace tilegym;
using namespace tilegym::interp;

namespace {

const std::string doubled = R"(op twice(x: T[N]) -> y: T[N]
  where T: f32 | f16
reference { y = f32(x) + f32(x) }
kernel small(BN = pow2ceil(N)) when N <= 64 {
  grid(1)
  let t = f32(load(x[0 :+ BN]))
  store(y[0 :+ BN], t * 2.0)
}
tune small { warps in [4] }
kernel blocks(BN) {
  grid(cdiv(N, BN))
  let i = block(0)
  let t = f32(load(x.tile(BN)[i]))
  store(y.tile(BN)[i], t * FACTOR)
}
tune blocks { BN in [16, 32, 64]; warps in [4, 8] }
test {
  N in [0, 1, 33, 100]; T in all
  case "by hand" { x = [1, -2.5, inf]; expect y = [2, -5, LAST] }
  tolerance { f32: 0; f16: 0 }
}
bench none "not measured"
)";

SpecModel twice(const std::string &factor, const std::string &last) {
  std::string text = doubled;
  text.replace(text.find("FACTOR"), 6, factor);
  text.replace(text.find("LAST"), 4, last);
  return specModel(text);
}

/// A backend that gives the reference's answer, but for one element.
class Faulty : public Backend {
public:
  explicit Faulty(const sem::OpModel &op) : op(op) {}
  std::string name() const override { return "faulty"; }
  BackendRun run(const sem::TestCall &test, const Arguments &inputs) override {
    RunResult right = runReferenceOf(op, test.bound.spec, inputs);
    HostTensor &y = right.tensors[1][0];
    if (y.numElements() > 0)
      y.set(0, 77);
    BackendRun out;
    out.outcomes.push_back({"v1", right.tensors, {}});
    return out;
  }

private:
  const sem::OpModel &op;
};

class Absent : public Backend {
public:
  std::string name() const override { return "gpu"; }
  BackendRun run(const sem::TestCall &, const Arguments &) override { return {{}, "no device"}; }
};

} // namespace

TEST_CASE("the interpreter runs every kernel that takes a case, at several points") {
  SpecModel model = twice("2.0", "inf");
  CaseRunner runner(*model.op, model.test);
  InterpreterBackend backend(*model.op, {});
  for (const sem::TestCall &test : model.cases)
    for (Spread spread : {Spread::Dense, Spread::Strided}) {
      CaseResult result = runner.run(test, backend, spread);
      INFO(test.name << (result.failures.empty() ? "" : result.failures[0]));
      CHECK(result.status == CaseResult::Passed);
      CHECK(result.outcomes == (test.bound.values.dims[0] <= 64 ? 3 : 2));
    }
  InterpreterBackend::Options options;
  options.onlyKernels = {"small"};
  InterpreterBackend one(*model.op, options);
  CHECK(runner.run(model.named("N=33 T=f32"), one).outcomes == 1);
  CaseResult skipped = runner.run(model.named("N=100 T=f32"), one);
  CHECK(skipped.status == CaseResult::Skipped);
  CHECK(skipped.skipped == "the kernels asked for do not take this case");
}

TEST_CASE("an absolute tolerance may grow with a dim") {
  SpecModel model = specModel("op near(x: f32[N]) -> y: f32[N]\n"
                              "reference { y = x }\n"
                              "kernel off(BN = pow2ceil(N)) when N <= 128 {\n"
                              "  grid(1)\n"
                              "  store(y[0 :+ BN], load(x[0 :+ BN]) + 0.25)\n"
                              "}\n"
                              "tune off { warps in [4] }\n"
                              "test {\n"
                              "  N in [1, 2, 3, 100]; x = iota\n"
                              "  case \"by hand\" { N = 3; x = [1, 2, 3]; expect y = [1, 2, 3] }\n"
                              "  tolerance { f32: (0, 0.1 * f64(N)) }\n"
                              "}\n"
                              "bench none \"not measured\"\n");
  CaseRunner runner(*model.op, model.test);
  InterpreterBackend backend(*model.op, {});
  auto failures = [&](const char *name) { return runner.run(model.named(name), backend).failures; };
  CHECK(failures("N=100").empty());
  CHECK(failures("by hand").empty());
  CHECK(failures("N=3").empty());
  REQUIRE(failures("N=2").size() == 1);
  CHECK(failures("N=2")[0].find("0.2 allowed") != std::string::npos);
  CHECK(failures("N=1")[0].find("0.1 allowed") != std::string::npos);
}

TEST_CASE("an empty list makes an empty list") {
  SpecModel model = specModel(
      "op twice(list a: f32[M[]]) -> list y: f32[M[]]\n"
      "reference { for g in 0 .. len(a) { y[g] = a[g] * 2 } }\n"
      "kernel k() {\n grid(len(a))\n let g = block(0)\n store(y[g][0 :+ 4], 2 * load(a[g][0 :+ 4]))\n}\n"
      "test {\n case \"one\" { a = [[1]]; expect y = [[2]] }\n case \"none\" { M = [] }\n"
      " tolerance { f32: 0 }\n}\nbench none \"not measured\"\n");
  CaseRunner runner(*model.op, model.test);
  InterpreterBackend backend(*model.op, {});
  for (const char *name : {"one", "none"})
    CHECK(runner.run(model.named(name), backend).failures == std::vector<std::string>());
}

TEST_CASE("a wrong kernel is named with its point and numbers") {
  SpecModel model = twice("2.5", "inf");
  CaseRunner runner(*model.op, model.test);
  InterpreterBackend backend(*model.op, {});
  CaseResult result = runner.run(model.named("by hand T=f32"), backend);
  CHECK(result.status == CaseResult::Failed);
  REQUIRE(result.failures.size() == 4); // two points, each against reference and expected values
  CHECK(result.failures[0] == "twice, case \"by hand T=f32\", interpreter blocks BN=16 against reference: y "
                              "f32: 2 of 3 elements differ\n"
                              "  first at [0]: got 2.5, want 2 (off by 0.5, 2097152 ulp)\n"
                              "  worst at [1]: got -6.25, want -5 (off by 1.25, 2621440 ulp)\n");
  CHECK(result.failures[1].find("interpreter blocks BN=16 against expected values") != std::string::npos);
}

TEST_CASE("expected values judge the reference first") {
  SpecModel model = twice("2.0", "3");
  CaseRunner runner(*model.op, model.test);
  InterpreterBackend backend(*model.op, {});
  for (CaseResult result : {runner.runReferenceAlone(model.named("by hand T=f16")),
                            runner.run(model.named("by hand T=f16"), backend)}) {
    CHECK(result.status == CaseResult::Failed);
    REQUIRE(result.failures.size() == 1);
    CHECK(result.failures[0] ==
          "twice, case \"by hand T=f16\", reference against expected values: y f16: 1 of 3 elements differ\n"
          "  first at [2]: got inf, want 3 (off by inf, 14848 ulp)\n");
  }
}

TEST_CASE("any backend is judged, and one that is not there is skipped with its reason") {
  SpecModel model = twice("2.0", "inf");
  CaseRunner runner(*model.op, model.test);
  Faulty faulty(*model.op);
  CaseResult wrong = runner.run(model.named("N=33 T=f16"), faulty);
  CHECK(wrong.status == CaseResult::Failed);
  REQUIRE(wrong.failures.size() == 1);
  CHECK(wrong.failures[0].find("faulty v1 against reference: y f16: 1 of 33 elements differ") !=
        std::string::npos);
  CHECK(runner.run(model.named("N=0 T=f16"), faulty).status == CaseResult::Passed);
  Absent absent;
  CaseResult skipped = runner.run(model.named("N=33 T=f16"), absent);
  CHECK(skipped.status == CaseResult::Skipped);
  CHECK(skipped.skipped == "no device");
}
