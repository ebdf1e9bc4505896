// SPDX-License-Identifier: MIT
// Host expressions over lists: the language's evaluator on the tree and the runtime's on the postfix code agree, errors included.
#include "compiler/emit/HostCode.h"
#include "compiler/semantics/HostEval.h"
#include "compiler/semantics/HostExpr.h"
#include "runtime/src/Postfix.h"
#include "tests/unit/semantics/SpecText.h"

using namespace tilegym;
using namespace tilegym::sem;

namespace {

std::shared_ptr<const OpModel> op() {
  static auto model =
      mustAnalyze(specAround("op f(list a: f32[M[], K[]], n: i64) -> z: f32[1]", "kernel only() { grid(1) }",
                             "n = 1; case \"c\" { M = [1]; K = [1]; expect z = [0] }; tolerance { f32: 0 }"));
  return model;
}

struct Result {
  std::string language, runtime;
};

Result resultsOf(const std::string &text, const std::vector<int64_t> &m, const std::vector<int64_t> &k) {
  DiagnosticSink sink;
  ast::ExprPtr tree = parseExpr(std::make_shared<const SourceFile>("e", text), sink);
  ExprPtr e = checkHostExpr(*tree, HostScope{*op(), "a test"}, sink).expr;
  REQUIRE(e);
  HostValues language;
  language.dims = {0, 0};
  language.lists = {m, k};
  language.lengths = {int64_t(m.size()), kDynamic};
  language.scalars = {Constant{int64_t(3)}};
  Evaluated tree1 = evaluateHost(*e, language);
  auto code = emit::compileHostExpr(*e);
  REQUIRE(bool(code));
  const char *unsound = runtime::checkCode(*code, {2, 1, 2, 0, 2, /*lists=*/1, /*listDims=*/3});
  REQUIRE(unsound == nullptr);
  const int64_t dims[] = {0, 0}, *lists[] = {m.data(), k.data()};
  const uint32_t lengths[] = {uint32_t(m.size()), 0}, counts[] = {uint32_t(m.size()), uint32_t(k.size())};
  runtime::Cell n;
  n.i = 3;
  runtime::Values values;
  values.dims = dims;
  values.scalars = &n;
  values.listLengths = lengths;
  values.listDims = lists;
  values.listDimCounts = counts;
  runtime::Evaluated found = runtime::evaluate(*code, values);
  return {tree1 ? toString(*tree1.value) : "error", found.error ? "error" : std::to_string(found.value.i)};
}

} // namespace

TEST_CASE("sums over lists: tree and code agree") {
  const std::pair<const char *, const char *> expected[] = {
      {"sum(g in 0 .. len(a): cdiv(M[g], 4) * K[g])", "35"},
      {"1 + sum(g in 0 .. len(a): M[g]) * 2", "45"},
      {"sum(g in 1 .. n: M[g])", "15"},
      {"sum(g in n .. 1: M[g])", "0"},
      {"sum(g in 0 .. len(a): sum(h in g .. len(a): M[h] - M[g]))", "-2"},
      {"sum(g in 0 .. len(a): sum(h in 0 .. len(a): g * h) + sum(h in 0 .. g: M[h]))", "32"},
      {"M[len(a) - 1]", "6"},
      {"M[len(a)]", "error"},
      {"M[0 - 1]", "error"},
      {"sum(g in 0 .. 9: M[g])", "error"},
      {"sum(g in 0 .. 3: 4611686018427387904)", "error"},
      {"sum(g in 0 .. 1 << 40: g)", "error"},
      {"len(a)", "3"},
  };
  for (auto [text, want] : expected) {
    INFO(text);
    Result result = resultsOf(text, {7, 9, 6}, {5, 3, 8});
    CHECK(result.language == want);
    CHECK(result.runtime == want);
  }
  Result empty = resultsOf("sum(g in 0 .. len(a): M[g] // 0)", {}, {});
  CHECK(empty.language == "0");
  CHECK(empty.runtime == "0");
}

TEST_CASE("sums that do not lie one in the other are no code") {
  using format::OpCode;
  auto check = [](std::vector<format::Inst> code) {
    const char *why = runtime::checkCode(code, {2, 0, 2, 0, 0, 1, 3});
    return std::string(why ? why : "");
  };
  auto inst = [](OpCode code, uint32_t a = 0) { return format::Inst{code, 0, a, 0}; };
  format::Inst zero = inst(OpCode::PushInt), begin = inst(OpCode::BeginSum, 2), end = inst(OpCode::EndSum, 2),
               variable = inst(OpCode::PushVariable);
  CHECK(check({zero, zero, begin, variable, end}) == "");
  CHECK(check({zero, zero, begin, variable}) == "a sum without an end");
  CHECK(check({zero, zero, variable}) == "an expression that names nothing");
  CHECK(check({zero, zero, end}) == "a sum without a beginning");
  CHECK(check({zero, zero, inst(OpCode::BeginSum, 3), variable, end}) == "a sum without an end");
  CHECK(check({zero, zero, begin, variable, inst(OpCode::EndSum, 1)}) == "a sum without a beginning");
  CHECK(check({zero, zero, inst(OpCode::BeginSum, 3), zero, zero, inst(OpCode::EndSum, 3)}) ==
        "a sum of more than one term");
  // A term may not take from what stands before its sum.
  CHECK(check({zero, zero, zero, inst(OpCode::BeginSum, 3), zero, inst(OpCode::AddI),
               inst(OpCode::EndSum, 3)}) == "an expression that lacks an operand");
  CHECK(check({inst(OpCode::PushListLength, 1)}) == "an expression that names nothing");
  CHECK(check({inst(OpCode::PushDim, 1)}) == "an expression that names nothing"); // a list's
  std::vector<format::Inst> deep;
  for (int i = 0; i < 5; ++i)
    deep.insert(deep.end(), {zero, zero, inst(OpCode::BeginSum, 2)});
  CHECK(check(deep) == "a sum without an end");
}
