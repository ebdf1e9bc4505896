// SPDX-License-Identifier: MIT
// Typing of operators: what literals and index become, what is refused and in which words, shapes in kernels and references.
#include "compiler/semantics/Operators.h"
#include <catch2/catch.hpp>
#include <limits>

using namespace tilegym;
using namespace tilegym::sem;
using ast::BinaryOp;
using ast::UnaryOp;

namespace {

struct Fixture {
  DiagnosticSink sink;
  Operators ops;
  explicit Fixture(ShapeMode mode = ShapeMode::Kernel) : ops(sink, mode) {}
  static Operand value(DType type, std::vector<int64_t> shape = {}) {
    return {makeExpr(Op::Local, tileType(type, std::move(shape)), {}, {})};
  }
  Operand number(int64_t v) { return ops.intLiteral(v, {}); }
  Operand real(double v) { return ops.floatLiteral(v, {}); }
  Operand add(Operand a, Operand b) { return ops.binary(BinaryOp::Add, std::move(a), std::move(b), {}); }
  std::string lastError() const { return sink.all().empty() ? "" : sink.all().back().message; }
  std::string lastHelp() const { return sink.all().empty() ? "" : sink.all().back().help; }
  std::string typeOf(const Operand &x) {
    INFO(lastError());
    REQUIRE(x);
    return toString(x.type());
  }
};

} // namespace

TEST_CASE("a literal takes the other side's dtype") {
  Fixture f;
  CHECK(f.typeOf(f.add(f.value(DType::F16), f.number(1))) == "f16");
  CHECK(f.typeOf(f.add(f.number(1), f.value(DType::U8))) == "u8");
  CHECK(f.typeOf(f.add(f.value(DType::BF16), f.real(0.1))) == "bf16");
  CHECK(f.typeOf(f.add(f.value(DType::Index), f.number(1))) == "index");
  Operand half = f.add(f.value(DType::F16), f.real(0.1));
  CHECK(half.expr->operands[1]->constant.asFloat() == roundToDType(0.1, DType::F16));
}

TEST_CASE("arithmetic of literals stays open") {
  Fixture f;
  Operand three = f.add(f.number(1), f.number(2));
  CHECK(three.literal);
  CHECK(f.typeOf(f.add(f.value(DType::F64), three)) == "f64");
  Operand half = f.ops.binary(BinaryOp::Div, f.number(1), f.number(2), {});
  REQUIRE(half.constant());
  CHECK(half.constant()->asFloat() == 0.5);
  CHECK(f.typeOf(f.ops.settle(half)) == "f32");
  CHECK(f.typeOf(f.ops.settle(three)) == "index");
  Operand negative = f.ops.unary(UnaryOp::Neg, f.real(std::numeric_limits<double>::infinity()), {});
  CHECK(negative.literal);
  CHECK(f.typeOf(f.ops.binary(BinaryOp::Eq, f.value(DType::F16), negative, {})) == "bool");
}

TEST_CASE("index meets integer dtypes by taking them, and must fit") {
  Fixture f;
  Operand sum = f.add(f.value(DType::Index), f.value(DType::I32));
  CHECK(f.typeOf(sum) == "i32");
  REQUIRE(sum.expr->operands[0]->op == Op::Convert);
  CHECK(sum.expr->operands[0]->exact);
  Operand constant = {makeConst(DType::Index, Constant{int64_t(300)}, {})};
  CHECK_FALSE(f.add(constant, f.value(DType::U8)));
  CHECK(f.lastError() == "300 does not fit in u8");
}

TEST_CASE("dtypes that do not mix") {
  Fixture f;
  auto refuse = [&](Operand a, Operand b, const std::string &error, const std::string &help) {
    CHECK_FALSE(f.add(std::move(a), std::move(b)));
    CHECK(f.lastError() == error);
    CHECK(f.lastHelp() == help);
  };
  refuse(f.value(DType::F16), f.value(DType::BF16), "`+` of f16 and bf16",
         "convert one side by name: f16(x)");
  refuse(f.value(DType::F32), f.value(DType::F16), "`+` of f32 and f16", "convert one side by name: f32(x)");
  refuse(f.value(DType::I32), f.value(DType::U32), "`+` of i32 and u32", "convert one side by name: i32(x)");
  refuse(f.value(DType::F32), f.value(DType::Index), "`+` of f32 and index",
         "convert one side by name: f32(x)");
  refuse(f.value(DType::F32), f.value(DType::Bool), "`+` of f32 and bool", "use select(b, x, y)");
  refuse(f.value(DType::Bool), f.value(DType::Index), "`+` of bool and index",
         "compare the number, e.g. x != 0, or convert the bool by name");
  refuse(f.value(DType::I32), f.real(0.5), "found the float 0.5, expected i32",
         "write an integer, or convert the other side to a float");
  refuse(f.value(DType::I8), f.number(300), "300 does not fit in i8", "i8 holds -128 to 127");
  refuse(f.value(DType::F16), f.real(1e6), "1e+06 does not fit in f16", "");
  refuse(f.value(DType::Bool), f.number(1), "found the number 1, expected bool", "write true or false");
}

TEST_CASE("operators and the dtypes they take") {
  Fixture f;
  auto refuse = [&](BinaryOp op, DType type, const std::string &error) {
    CHECK_FALSE(f.ops.binary(op, f.value(type), f.value(type), {}));
    CHECK(f.lastError() == error);
  };
  refuse(BinaryOp::Div, DType::I32, "`/` needs floats, found i32");
  CHECK(f.lastHelp() ==
        "`//` divides integers, rounding down; to divide as floats, convert first: f32(a) / f32(b)");
  refuse(BinaryOp::FloorDiv, DType::F32, "`//` needs integers, found f32");
  CHECK(f.lastHelp() == "for floats write floor(a / b)");
  refuse(BinaryOp::Mod, DType::F32, "`%` needs integers, found f32");
  CHECK(f.lastHelp() == "for floats write a - floor(a / b) * b");
  refuse(BinaryOp::Add, DType::Bool, "`+` needs numbers, found bool");
  CHECK(f.lastHelp() == "convert it: i32(b), or use select(b, x, y)");
  refuse(BinaryOp::Lt, DType::Bool, "`<` needs numbers, found bool");
  refuse(BinaryOp::BitAnd, DType::F32, "`&` needs integers or bool, found f32");
  refuse(BinaryOp::Shl, DType::Bool, "`<<` needs integers, found bool");
  refuse(BinaryOp::MatMul, DType::F32, "`@` belongs to references");
  CHECK(f.lastHelp() == "in a kernel write mma(a, b, acc)");
  CHECK(f.typeOf(f.ops.binary(BinaryOp::Eq, f.value(DType::Bool), f.value(DType::Bool), {})) == "bool");
  CHECK(f.typeOf(f.ops.binary(BinaryOp::BitXor, f.value(DType::U8), f.value(DType::U8), {})) == "u8");
  CHECK_FALSE(f.ops.unary(UnaryOp::Not, f.value(DType::I32), {}));
  CHECK(f.lastError() == "`!` needs bool, found i32");
  CHECK(f.lastHelp() == "write x == 0, or ~x to invert the bits");
  CHECK_FALSE(f.ops.unary(UnaryOp::Neg, f.value(DType::Bool), {}));
  CHECK(f.lastError() == "`-` needs a number, found bool");
  CHECK_FALSE(f.ops.unary(UnaryOp::BitNot, f.value(DType::Bool), {}));
  CHECK(f.lastError() == "`~` needs an integer, found bool");
  Type view = tileType(DType::F32, {4});
  view.kind = Type::View;
  CHECK_FALSE(f.add({makeExpr(Op::Tensor, view, {}, {})}, f.number(1)));
  CHECK(f.lastError() == "`+` needs a value, found view f32[4]");
  CHECK(f.lastHelp() == "read it first: load(...)");
  CHECK_FALSE(f.ops.binary(BinaryOp::FloorDiv, f.number(1), f.number(0), {}));
  CHECK(f.lastError() == "division by zero");
}

TEST_CASE("the ends of 64 bits") {
  Fixture f;
  ast::IntLiteral e{SourceRange{}};
  e.value = uint64_t(1) << 63;
  Operand wide = f.ops.literal(e);
  CHECK(f.typeOf(wide) == "u64");
  Operand lowest = f.ops.unary(UnaryOp::Neg, wide, {});
  CHECK(lowest.constant()->asInt() == std::numeric_limits<int64_t>::min());
  CHECK(f.typeOf(f.add(f.value(DType::U64), wide)) == "u64");
  CHECK(f.typeOf(f.add(f.value(DType::F32), wide)) == "f32");
  CHECK_FALSE(f.add(f.value(DType::I64), wide));
  CHECK(f.lastError() == "9223372036854775808 does not fit in i64");
}

TEST_CASE("shapes in a kernel are made equal by a node") {
  Fixture f;
  Operand row = f.value(DType::F32, {1, 64}), column = f.value(DType::F32, {32, 1});
  Operand sum = f.add(row, column);
  CHECK(f.typeOf(sum) == "f32[32, 64]");
  CHECK(sum.expr->operands[0]->op == Op::Broadcast);
  CHECK(sum.expr->operands[1]->op == Op::Broadcast);
  CHECK(f.typeOf(f.add(f.value(DType::F32, {64}), f.value(DType::F32, {32, 64}))) == "f32[32, 64]");
  CHECK(f.typeOf(f.add(f.value(DType::F32, {64}), f.number(1))) == "f32[64]");
  CHECK_FALSE(f.add(f.value(DType::F32, {64}), f.value(DType::F32, {32})));
  CHECK(f.lastError() == "`+` of f32[64] and f32[32]: the shapes do not broadcast");
  CHECK(f.lastHelp() == "extents must be equal or 1, counted from the last axis");
  CHECK_FALSE(f.ops.broadcastTo(f.value(DType::F32, {2, 64}), {64}, "the value"));
  CHECK(f.lastError() == "the value has shape f32[2, 64], expected f32[64]");
}

TEST_CASE("shapes in a reference may be dynamic and broadcast at run time") {
  Fixture f(ShapeMode::Whole);
  constexpr int64_t d = kDynamic;
  Operand sum = f.add(f.value(DType::F32, {d, 1}), f.value(DType::F32, {1, d}));
  CHECK(f.typeOf(sum) == "f32[?, ?]");
  CHECK(sum.expr->operands[0]->op == Op::Local);
  CHECK(f.typeOf(f.add(f.value(DType::F32, {d}), f.value(DType::F32, {64}))) == "f32[64]");
  auto product = [&](std::vector<int64_t> a, std::vector<int64_t> b) {
    return f.ops.binary(BinaryOp::MatMul, f.value(DType::F32, std::move(a)),
                        f.value(DType::F32, std::move(b)), {});
  };
  CHECK(f.typeOf(product({d, 4}, {4, 8})) == "f32[?, 8]");
  CHECK(f.typeOf(product({3, d, 4}, {4, 8})) == "f32[3, ?, 8]");
  CHECK(f.typeOf(product({4}, {4, 8})) == "f32[8]");
  CHECK(f.typeOf(product({2, 4}, {4})) == "f32[2]");
  CHECK(f.typeOf(product({4}, {4})) == "f32");
  CHECK_FALSE(product({2, 4}, {5, 8}));
  CHECK(f.lastError() == "`@` of f32[2, 4] and f32[5, 8]: the inner extents 4 and 5 differ");
  CHECK_FALSE(product({}, {5, 8}));
  CHECK(f.lastError() == "`@` of f32 and f32[5, 8]; it needs a vector or matrix on both sides");
  CHECK_FALSE(product({2, 3, 4}, {5, 4, 8}));
  CHECK(f.lastError() == "`@` of f32[2, 3, 4] and f32[5, 4, 8]: the leading axes do not broadcast");
}

TEST_CASE("select, and what others require") {
  Fixture f;
  Operand yes = {makeConst(DType::Bool, Constant{true}, {})};
  CHECK(f.ops.select(yes, f.number(1), f.number(2), {}).constant()->asInt() == 1);
  CHECK(f.typeOf(f.ops.select(f.value(DType::Bool, {4}), f.value(DType::F32), f.number(0), {})) == "f32[4]");
  CHECK(f.typeOf(f.ops.select(f.value(DType::Bool), f.real(1), f.number(0), {})) == "f32");
  CHECK_FALSE(f.ops.select(f.value(DType::I32), f.number(1), f.number(0), {}));
  CHECK(f.lastError() == "the condition of `select` must be bool, found i32");
  CHECK(f.lastHelp() == "compare it, e.g. x != 0");
  CHECK_FALSE(f.ops.require(f.value(DType::F32), DType::F16, "the pad"));
  CHECK(f.lastError() == "the pad has dtype f32, expected f16");
  CHECK(f.lastHelp() == "convert it: f16(...)");
  CHECK(f.typeOf(f.ops.require(f.value(DType::Index), DType::I32, "the pad")) == "i32");
  CHECK_FALSE(f.ops.requireIndex(f.value(DType::F32), "the bound"));
  CHECK(f.lastError() == "the bound must be an integer scalar, found f32");
  CHECK(f.typeOf(f.ops.requireIndex(f.value(DType::I32), "the bound")) == "index");
  CHECK_FALSE(f.ops.requireConstInt(f.value(DType::Index), "the extent"));
  CHECK(f.lastError() == "the extent must be a compile-time integer, found a run-time value");
  CHECK(f.ops.requireConstInt(f.number(8), "the extent") == 8);
}

TEST_CASE("conversions by name") {
  Fixture f;
  CHECK(f.typeOf(f.ops.convert(f.value(DType::I32, {4}), DType::F32, {})) == "f32[4]");
  Operand same = f.value(DType::F32);
  CHECK(f.ops.convert(same, DType::F32, {}).expr == same.expr);
  Operand third = f.ops.convert(f.real(-0.1), DType::F16, {});
  CHECK(third.constant()->asFloat() == roundToDType(-0.1, DType::F16));
  CHECK_FALSE(third.literal);
  CHECK(f.ops.convert(f.real(2.7), DType::I32, {}).constant()->asInt() == 2);
  CHECK(f.ops.convert(f.number(3), DType::Bool, {}).constant()->asBool());
}
