// SPDX-License-Identifier: MIT
// Host expressions: values for a call, what a specialization folds, enums, dtypes, presence, lists.
#include "compiler/semantics/HostExpr.h"
#include "compiler/semantics/HostEval.h"
#include "tests/unit/semantics/SpecText.h"

using namespace tilegym;
using namespace tilegym::sem;

namespace {

std::shared_ptr<const OpModel> op() {
  static auto model = mustAnalyze(specAround(
      R"(
op mix(x: T[*R, N], w: T[N]?, list a: T[M[], D], n: i32, scale: f32, const mode: none | mean, const fast: bool) -> y: T[*R, N]
  where T: f32 | bf16, D: 64 | 96
)",
      "kernel only(BN) { grid(1) }\ntune only { BN in [1] }",
      "R = 1; N = 1; M = [1]; D = 64; n = 1; scale = 1; mode in all; fast in all; case \"c\" { expect "
      "y = [[0]] }; tolerance { f32: 0; bf16: 0 }"));
  return model;
}

struct Parsed {
  DiagnosticSink sink;
  ast::ExprPtr tree;
  Operand value;
  explicit Parsed(const std::string &text, const Specialization *spec = nullptr) {
    tree = parseExpr(std::make_shared<const SourceFile>("e", text), sink);
    REQUIRE(tree);
    HostScope scope{*op(), "a test"};
    scope.spec = spec;
    scope.smCount = true;
    value = checkHostExpr(*tree, scope, sink);
  }
};

HostValues values() {
  HostValues v;
  v.dims = {6, 100, kDynamic, 64};
  v.lists = {{}, {}, {10, 20, 30}, {}};
  v.lengths = {kDynamic, kDynamic, 3, kDynamic};
  v.scalars = {Constant{int64_t(-5)}, Constant{0.5}, Constant{int64_t(1)}, Constant{true}};
  v.dtypes.assign(op()->typeVars.size(), DType::I32);
  v.dtypes[size_t(op()->findTypeVar("T"))] = DType::BF16;
  v.present = {true, false, true, true};
  v.smCount = 132;
  return v;
}

std::string eval(const std::string &text) {
  Parsed e(text);
  INFO(text + "\n" + renderAll(e.sink));
  REQUIRE(e.value);
  Evaluated result = evaluateHost(*e.value.expr, values());
  return result ? toString(*result.value) : result.error;
}

std::string error(const std::string &text) {
  Parsed e(text);
  INFO(text);
  CHECK_FALSE(e.value);
  REQUIRE(e.sink.numErrors() == 1);
  return e.sink.all()[0].message;
}

} // namespace

TEST_CASE("dims, scalars and functions of a call") {
  CHECK(eval("R * cdiv(N, 128)") == "6");
  CHECK(eval("pow2ceil(N)") == "128");
  CHECK(eval("n // 2") == "-3");
  CHECK(eval("n % 3") == "1");
  CHECK(eval("min(N, n) + max(R, 7)") == "2");
  CHECK(eval("abs(n) ** 3") == "125");
  CHECK(eval("scale * 3") == "1.5");
  CHECK(eval("index(floor(sqrt(f64(N)))) + 1") == "11");
  CHECK(eval("select(N > 64, R, N)") == "6");
  CHECK(eval("(N > 64) & !fast") == "false");
  CHECK(eval("f64(N) / 8") == "12.5");
  CHECK(eval("sm_count() * 2") == "264");
  CHECK(eval("1 << 10 | 3") == "1027");
}

TEST_CASE("enums, dtypes, presence and lists of a call") {
  CHECK(eval("mode == mean") == "true");
  CHECK(eval("none != mode") == "true");
  CHECK(eval("T == bf16") == "true");
  CHECK(eval("sizeof(T) * 8") == "16");
  CHECK(eval("sizeof(f64)") == "8");
  CHECK(eval("present(w)") == "false");
  CHECK(eval("present(x)") == "true");
  CHECK(eval("len(a)") == "3");
  CHECK(eval("M[1]") == "20");
  CHECK(eval("sum(g in 0 .. len(a): cdiv(M[g], 16))") == "5");
  CHECK(eval("sum(g in 0 .. len(a): sum(h in 0 .. g: M[h]))") == "40");
  CHECK(eval("sum(g in 2 .. 2: M[g])") == "0");
}

TEST_CASE("a call can make an expression fail") {
  CHECK(eval("N // (R - 6)") == "division by zero");
  CHECK(eval("M[3]") == "element 3 of a list of 3");
  CHECK(eval("N ** 40") == "the result does not fit in 64 bits");
  CHECK(eval("sum(g in 0 .. 1 << 30: g)") == "a sum of more than 16777216 terms");
  Parsed e("N + R");
  HostValues little;
  little.dims = {kDynamic, 3};
  CHECK(evaluateHost(*e.value.expr, little).unknown);
}

TEST_CASE("a specialization folds what it fixes") {
  Specialization spec;
  spec.dtypes.assign(op()->typeVars.size(), DType::F32);
  spec.consts = {Constant{}, Constant{}, Constant{int64_t(0)}, Constant{true}};
  spec.constDims = {kDynamic, kDynamic, kDynamic, 96};
  spec.present = {true, true, true, true};
  auto folded = [&](const std::string &text) {
    Parsed open(text), direct(text, &spec);
    ExprPtr later = specializeHost(open.value.expr, *op(), spec);
    REQUIRE(later->op == Op::Const);
    REQUIRE(direct.value.constant());
    CHECK(later->constant == *direct.value.constant());
    return toString(later->constant);
  };
  CHECK(folded("D * sizeof(T)") == "384");
  CHECK(folded("fast & (mode == none)") == "true");
  CHECK(folded("present(w)") == "true");
  CHECK(folded("T == bf16") == "false");
  Parsed open("N + D");
  ExprPtr later = specializeHost(open.value.expr, *op(), spec);
  CHECK(later->op == Op::Add);
  CHECK(later->operands[1]->constant.asInt() == 96);
  CHECK(usesOf(*open.value.expr).dims == std::vector<int64_t>{1, 3});
  CHECK(usesOf(*later).dims == std::vector<int64_t>{1});
}

TEST_CASE("what a host expression cannot say") {
  CHECK(error("M + 1") == "`M` has one value for each list element");
  CHECK(error("x") == "`x` is a tensor; a test is evaluated before any data is read");
  CHECK(error("x[0]") == "`x` is a tensor; a test is evaluated before any data is read");
  CHECK(error("T") == "`T` is a dtype, expected a value");
  CHECK(error("K") == "unknown name `K` in a test");
  CHECK(error("mode + 1") == "`mode` is one of 2 names, not a number");
  CHECK(error("mode == median") == "`median` is no value of `mode`");
  CHECK(error("f32(N)") == "`f32` does not belong in a test");
  CHECK(error("load(x)") == "`load` does not belong in a test");
  CHECK(error("cdif(N, 2)") == "unknown function `cdif`");
  CHECK(error("len(x)") == "`x` is not a list");
  CHECK(error("present(N)") == "`present` needs a tensor of the signature");
  CHECK(error("sizeof(N)") == "`sizeof` needs a dtype");
  CHECK(error("T == 3") == "a dtype is compared with something else");
  CHECK(error("max(N)") == "`max` needs two values in a test");
  CHECK(error("pow2ceil(scale)") == "`pow2ceil` needs an integer, found f64");
  CHECK(error("sqrt(N)") == "`sqrt` needs a float, found index");
  CHECK(error("[1, 2]") == "this does not belong in a test: only dims, scalars and arithmetic on them do");
  CHECK(error("N[0]") == "only the dims of a list are indexed in a test");
  CHECK(error("sum(g in 0 .. 4 step 2: g)") == "a sum has no step");
}
