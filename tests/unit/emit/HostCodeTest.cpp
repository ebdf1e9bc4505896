// SPDX-License-Identifier: MIT
// The two evaluators of host expressions agree: the language's on the tree, and the runtime's on the postfix code made of it. Written
// cases for each operation, then random expressions over values that reach the edges.
#include "compiler/emit/HostCode.h"
#include "compiler/semantics/HostEval.h"
#include "compiler/semantics/HostExpr.h"
#include "runtime/src/Postfix.h"
#include "tests/unit/semantics/SpecText.h"
#include <bit>
#include <cmath>
#include <random>

using namespace tilegym;
using namespace tilegym::sem;

namespace {

std::shared_ptr<const OpModel> op() {
  static auto model = mustAnalyze(specAround("op f(x: T[*R, N], w: T[N]?, y: T[M], n: i64, s: f32, const "
                                             "fast: bool) -> z: T[*R, N]\n  where T: f32 | bf16",
                                             "kernel only(BN) { grid(1) }\ntune only { BN in [1] }",
                                             "R = 1; N = 1; M = 1; n = 1; s = 1; fast in all; case \"c\" { "
                                             "expect z = [[0]] }; tolerance { f32: 0; bf16: 0 }"));
  return model;
}

/// One call, for both evaluators.
struct Call {
  std::vector<int64_t> dims;
  int64_t n = 0;
  double s = 0;
  bool fast = false, present = false, bf16 = false;

  HostValues forLanguage() const {
    HostValues v;
    v.dims = dims;
    v.scalars = {Constant{n}, Constant{s}, Constant{fast}};
    for (const TypeVar &var : op()->typeVars)
      v.dtypes.push_back(var.name == "T" ? (bf16 ? DType::BF16 : DType::F32) : var.choices[0]);
    v.present = {true, present, true, true};
    v.smCount = 132;
    return v;
  }
};

/// The runtime's result as the language would write it.
std::string runtimeResult(const Expr &e, const Call &call) {
  auto code = emit::compileHostExpr(e);
  if (!code)
    return llvm::toString(code.takeError());
  HostValues language = call.forLanguage();
  std::vector<uint8_t> dtypes;
  for (DType dtype : language.dtypes)
    dtypes.push_back(uint8_t(dtype));
  runtime::Cell scalars[3];
  scalars[0].i = call.n;
  scalars[1].f = call.s;
  scalars[2].i = call.fast;
  runtime::Values values;
  values.dims = call.dims.data();
  values.scalars = scalars;
  values.present = 1 | uint64_t(call.present) << 1 | 4 | 8;
  values.dtypes = dtypes.data();
  values.smCount = 132;
  INFO(toString(e.type));
  const char *unsound = runtime::checkCode(*code, {3, 3, 4, 0, uint32_t(dtypes.size())});
  REQUIRE(unsound == nullptr);
  runtime::Evaluated result = runtime::evaluate(*code, values);
  if (result.error)
    return "error";
  if (isFloat(e.type.dtype))
    return toString(Constant{result.value.f});
  return isBool(e.type.dtype) ? toString(Constant{result.value.i != 0}) : toString(Constant{result.value.i});
}

std::string languageResult(const Expr &e, const Call &call) {
  Evaluated result = evaluateHost(e, call.forLanguage());
  return result ? toString(*result.value) : "error";
}

ExprPtr checked(const std::string &text) {
  DiagnosticSink sink;
  ast::ExprPtr tree = parseExpr(std::make_shared<const SourceFile>("e", text), sink);
  HostScope scope{*op(), "a test"};
  scope.smCount = true;
  Operand value = tree ? checkHostExpr(*tree, scope, sink) : Operand{};
  return value.expr; // null where constants alone are in error already
}

/// Random text that is well typed: 'i' integers, 'f' floats, 'b' conditions.
class Writer {
public:
  explicit Writer(uint64_t seed) : random(seed) {}
  std::string write(char kind, int depth);
  uint64_t below(uint64_t n) { return random() % n; }

private:
  std::string pick(std::initializer_list<const char *> list) { return list.begin()[below(list.size())]; }
  std::mt19937_64 random;
};

std::string Writer::write(char kind, int depth) {
  auto two = [&](char of, const std::string &between) {
    return "(" + write(of, depth - 1) + between + write(of, depth - 1) + ")";
  };
  auto call2 = [&](char of, const std::string &name) {
    return name + "(" + write(of, depth - 1) + ", " + write(of, depth - 1) + ")";
  };
  auto select = [&] {
    return "select(" + write('b', depth - 1) + ", " + write(kind, depth - 1) + ", " + write(kind, depth - 1) +
           ")";
  };
  if (kind == 'i') {
    if (depth == 0)
      return pick({"R", "N", "M", "n", "index(sizeof(T))", "sm_count()", "index(3)", "index(-7)", "index(0)",
                   "index(64)"});
    switch (below(7)) {
    case 0:
      return call2('i', pick({"min", "max", "cdiv"}));
    case 1:
      return pick({"abs", "pow2ceil"}) + "(" + write('i', depth - 1) + ")";
    case 2:
      return pick({"-", "~"}) + "(" + write('i', depth - 1) + ")";
    case 3:
      return select();
    case 4:
      return "index(" + write('f', depth - 1) + ")";
    default:
      return two('i',
                 pick({" + ", " - ", " * ", " // ", " % ", " ** ", " & ", " | ", " ^ ", " << ", " >> "}));
    }
  }
  if (kind == 'f') {
    if (depth == 0)
      return pick({"s", "f64(0.5)", "f64(-0.0)", "f64(inf)", "f64(nan)", "f64(1e30)"});
    switch (below(5)) {
    case 0:
      return call2('f', pick({"min", "max"}));
    case 1:
      return pick({"abs", "sqrt", "floor", "ceil"}) + "(" + write('f', depth - 1) + ")";
    case 2:
      return select();
    case 3:
      return "f64(" + write('i', depth - 1) + ")";
    default:
      return two('f', pick({" + ", " - ", " * ", " / "}));
    }
  }
  if (depth == 0)
    return pick({"fast", "present(w)", "(T == bf16)", "true", "(N > 0)"});
  switch (below(4)) {
  case 0:
    return two('f', pick({" < ", " <= ", " > ", " >= ", " == ", " != "}));
  case 1:
    return "!" + write('b', depth - 1);
  case 2:
    return two('b', pick({" & ", " | ", " ^ ", " == ", " != "}));
  default:
    return two('i', pick({" < ", " <= ", " > ", " >= ", " == ", " != "}));
  }
}

} // namespace

TEST_CASE("evaluators agree on each operation") {
  Call call{{6, 100, 0}, -5, 0.5, true, false, true};
  auto both = [&](const std::string &text, const std::string &expected) {
    INFO(text);
    ExprPtr e = checked(text);
    REQUIRE(e);
    CHECK(languageResult(*e, call) == expected);
    CHECK(runtimeResult(*e, call) == expected);
  };
  both("R * cdiv(N, 8) + M", "78");
  both("n // 2 + n % 3", "-2");
  both("cdiv(n, 2)", "-2");
  both("pow2ceil(N) ** 2", "16384");
  both("abs(n) << 2 >> 1", "10");
  both("~n & 7 | 8 ^ N", "108");
  both("min(R, n) - max(R, N)", "-105");
  both("select(fast, R, N)", "6");
  both("present(w) | (T == bf16) & !fast", "false");
  both("sizeof(T) * sm_count()", "264");
  both("s * 3 - f64(N) / 8", "-11.0");
  both("index(floor(s) + ceil(s) + sqrt(f64(N)))", "11");
  both("N // M", "error");
  both("N % M", "error");
  both("N ** N", "error");
  both("R ** n", "error");
  both("R << n", "error");
  both("R << N", "error");
  both("M << N", "0");
  both("(R + 2) << 59", "4611686018427387904");
  both("R << 61", "error");
  both("n >> N", "-1");
  both("index(f64(N) / f64(M))", "9223372036854775807");
  both("index(s - f64(nan))", "0");
}

TEST_CASE("evaluators agree on random expressions") {
  const std::vector<int64_t> edges = {0,        1, 2, 3, 7, 64, 127, 1000, int64_t(1) << 31, int64_t(1) << 62,
                                      INT64_MAX};
  size_t compared = 0, values = 0;
  for (uint64_t seed = 1; seed <= 20000; ++seed) {
    Writer writer(seed);
    std::string text = writer.write("ifb"[writer.below(3)], 1 + int(writer.below(4)));
    ExprPtr e = checked(text);
    if (!e)
      continue;
    Call call;
    for (int i = 0; i < 3; ++i)
      call.dims.push_back(edges[writer.below(edges.size())]);
    call.n = writer.below(2) ? edges[writer.below(edges.size())]
                             : -edges[writer.below(edges.size())] - int64_t(writer.below(2));
    call.s = writer.below(2) ? 2.5 : -1e-3;
    call.fast = writer.below(2);
    call.present = writer.below(2);
    call.bf16 = writer.below(2);
    std::string want = languageResult(*e, call);
    INFO("seed " << seed << ": " << text);
    INFO("R=" << call.dims[0] << " N=" << call.dims[1] << " M=" << call.dims[2] << " n=" << call.n
              << " s=" << call.s);
    REQUIRE(runtimeResult(*e, call) == want);
    ++compared;
    values += want != "error";
  }
  CHECK(compared > 15000);
  CHECK(values > 10000);
}
