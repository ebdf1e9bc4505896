// SPDX-License-Identifier: MIT
// Test and bench sections as data: what keys a tolerance, generators and their arguments, literals judged by the dtypes of their case.
#include "compiler/semantics/TestModel.h"
#include "compiler/semantics/HostEval.h"
#include "tests/unit/semantics/SpecText.h"

using namespace tilegym;
using namespace tilegym::sem;

namespace {

std::string spec(const std::string &header, const std::string &test) {
  return specAround(header, "kernel only(BN) { grid(1) }\ntune only { BN in [1] }", test);
}

struct Read {
  std::shared_ptr<const OpModel> op;
  TestModel model;
  Read(const std::string &header, const std::string &test) : op(mustAnalyze(spec(header, test))) {
    DiagnosticSink sink;
    model = readTest(*op, *op->spec->test, sink);
  }
  const Generator &generator(const std::string &tensor) const {
    const auto &all = model.settings.tensors[size_t(op->findTensor(tensor))];
    REQUIRE(all.size() == 1);
    return all[0];
  }
};

using DTypes = std::vector<DType>;

} // namespace

TEST_CASE("what keys a tolerance") {
  auto key = [](const std::string &header, const std::string &tolerance) {
    return toleranceKey(
               *Read(header, "N = 1; case \"c\" { expect y = [0] }; tolerance { " + tolerance + " }").op)
        .dtypes;
  };
  CHECK(key("op f(x: T[N]) -> y: T[N] where T: f32 | f16", "f32: 0; f16: 0") ==
        DTypes{DType::F32, DType::F16});
  CHECK(key("op f(x: T[N]) -> y: f32[N] where T: f32 | f16", "f32: 0; f16: 0") ==
        DTypes{DType::F32, DType::F16});
  CHECK(key("op f(x: T[N]) -> y: U[N] where T: f32 | f16, U: bf16 | f64", "bf16: 0; f64: 0") ==
        DTypes{DType::BF16, DType::F64});
  CHECK(key("op f(x: f32[N]) -> (y: f16[N], z: f64[N])", "f16: 0; f64: 0") == DTypes{DType::F16, DType::F64});
}

TEST_CASE("tolerances are one number or two") {
  Read read("op f(x: T[N]) -> y: T[N] where T: f32 | f16",
            "N = 1; case \"c\" { expect y = [0] }; tolerance { f32: 1e-3; f16: (0, 2) }");
  REQUIRE(read.model.tolerance(DType::F32));
  CHECK(read.model.tolerance(DType::F32)->relative == 1e-3);
  CHECK(read.model.tolerance(DType::F32)->absolute == 1e-3);
  CHECK(read.model.tolerance(DType::F32)->absoluteIsFactor);
  CHECK(read.model.tolerance(DType::F16)->relative == 0);
  CHECK(read.model.tolerance(DType::F16)->absolute == 2);
  CHECK_FALSE(read.model.tolerance(DType::F16)->absoluteIsFactor);
  CHECK(read.model.tolerance(DType::F64) == nullptr);
  CHECK(read.model.tolerance(DType::F16)->absoluteOf == nullptr);
}

TEST_CASE("an absolute tolerance is a number or a formula") {
  Read read("op f(x: T[N]) -> y: T[N] where T: f32 | f16",
            "N = 1; case \"c\" { expect y = [0] }; tolerance { f32: (1e-3, 2 * 3); f16: (0, 2 * N) }");
  REQUIRE(read.model.tolerance(DType::F32));
  CHECK(read.model.tolerance(DType::F32)->absolute == 6);
  CHECK(read.model.tolerance(DType::F32)->absoluteOf == nullptr);
  HostValues values;
  values.dims = {21};
  REQUIRE(read.model.tolerance(DType::F16)->absoluteOf);
  CHECK(evaluateHost(*read.model.tolerance(DType::F16)->absoluteOf, values).value->asFloat() == 42);
}

TEST_CASE("generators and their arguments") {
  Read read("op f(a: f32[N], b: f32[N], c: i32[N], d: i32[N], e: f32[N], g: i64[N], h: f32[N], k: bool[N], "
            "V: i32) -> y: f32[N]",
            "N = 3; V = 9; a = normal(std=2); b = uniform(-1, 1); c = randint(0, V); d = iota; e = "
            "one_hot(0.0, off=-inf, at=last); "
            "g = permutation; h = -inf; k = true; case \"c\" { expect y = [0, 0, 0] }; tolerance { f32: 0 }");
  auto args = [&](const std::string &tensor) {
    std::vector<std::string> texts;
    for (const ExprPtr &e : read.generator(tensor).args)
      texts.push_back(e->op == Op::Const ? toString(e->constant) : "?");
    return texts;
  };
  using Texts = std::vector<std::string>;
  CHECK(read.generator("a").kind == Generator::Normal);
  CHECK(args("a") == Texts{"0.0", "2"});
  CHECK(read.generator("b").kind == Generator::Uniform);
  CHECK(args("b") == Texts{"-1", "1"});
  CHECK(read.generator("c").kind == Generator::RandInt);
  CHECK(args("c") == Texts{"0", "?"});
  CHECK(read.generator("d").kind == Generator::Iota);
  CHECK(read.generator("e").kind == Generator::OneHot);
  CHECK(args("e") == Texts{"0.0", "-inf", "-1"});
  CHECK(read.generator("g").kind == Generator::Permutation);
  CHECK(read.generator("h").kind == Generator::Fill);
  CHECK(args("h") == Texts{"-inf"});
  CHECK(read.generator("k").kind == Generator::Fill);
}

TEST_CASE("a literal is judged by the dtypes of its case") {
  const std::string header = "op f(x: T[N]) -> y: T[N] where T: f32 | f16";
  const std::string rest = "expect y = [0] }; tolerance { f32: 0; f16: 0 }";
  Read fits(header, "N = 1; case \"c\" { x = [1e9]; T = f32; " + rest);
  CHECK(fits.model.cases[0].settings.tensors[0][0].literals[0].elements[0] == Constant{1e9});
  CHECK(errorsOf(spec(header, "N = 1; case \"c\" { x = [1e9]; " + rest)) ==
        std::vector<std::string>{"1e+09 does not fit in f16"});
  CHECK(errorsOf(spec(header, "N = 1; case \"c\" { x = [true]; T = f32; " + rest)) ==
        std::vector<std::string>{"an element of `x` has dtype bool, expected f32"});
}

TEST_CASE("generators are judged by the dtypes of their case, too") {
  const std::string header = "op f(x: T[N]) -> y: T[N] where T: f32 | i32";
  const std::string rest = "expect y = [0] }; tolerance { f32: 0; i32: 0 }";
  CHECK(errorsOf(spec(header, "case \"c\" { N = 1; T = f32; x = normal; " + rest)).empty());
  CHECK(errorsOf(spec(header, "case \"c\" { N = 1; T = f32; " + rest)).empty());
  CHECK(errorsOf(spec(header, "case \"c\" { N = 1; T = i32; x = normal; " + rest)) ==
        std::vector<std::string>{"`normal` makes floats, but `x` holds integers"});
  CHECK(errorsOf(spec(header, "case \"c\" { N = 1; " + rest)) ==
        std::vector<std::string>{"a test does not say what is in `x`, whose values are not floats"});
}

TEST_CASE("what generators refuse") {
  auto error = [](const std::string &setting) {
    auto errors =
        errorsOf(spec("op f(x: f32[N], c: i32[N]) -> y: f32[N]",
                      "N = 1; " + setting + "; case \"c\" { expect y = [0] }; tolerance { f32: 0 }"));
    REQUIRE(errors.size() == 1);
    return errors[0];
  };
  CHECK(error("c = permutation; x = permutation") == "`permutation` makes integers, but `x` holds floats");
  CHECK(error("c = uniform(0, 1)") == "`uniform` makes floats, but `c` holds integers");
  CHECK(error("c = randint(0, 1.5)") == "`hi` must be an integer, found f64");
  CHECK(error("c = randint(0, 1, 2)") == "`randint` has no argument 3");
  CHECK(error("c = randint(0, lo=1)") == "`randint` has no argument `lo` (or it is given twice)");
  CHECK(error("c = randint(0, high=1)") == "`randint` has no argument `high` (or it is given twice)");
  CHECK(error("c = iota; x = normal(true)") == "`mean` must be a number, found bool");
  CHECK(error("c = all") == "unknown name `all` in `c`");
}
