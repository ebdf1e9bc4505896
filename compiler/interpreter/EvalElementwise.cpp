// SPDX-License-Identifier: MIT
// Elementwise operations: broadcasting around the numerics' array loops, and what a sanitizer asks of integers on the way.
#include "compiler/interpreter/Broadcast.h"
#include "compiler/interpreter/Evaluator.h"
#include "compiler/interpreter/NumericsOps.h"
#include <algorithm>

namespace tilegym::interp {

using sem::Op;

namespace {

UnaryOp unaryOf(Op op) {
  switch (op) {
  case Op::Neg:
    return UnaryOp::Neg;
  case Op::Abs:
    return UnaryOp::Abs;
  case Op::Exp:
    return UnaryOp::Exp;
  case Op::Exp2:
    return UnaryOp::Exp2;
  case Op::Log:
    return UnaryOp::Log;
  case Op::Log2:
    return UnaryOp::Log2;
  case Op::Sqrt:
    return UnaryOp::Sqrt;
  case Op::Rsqrt:
    return UnaryOp::Rsqrt;
  case Op::Sin:
    return UnaryOp::Sin;
  case Op::Cos:
    return UnaryOp::Cos;
  case Op::Tanh:
    return UnaryOp::Tanh;
  case Op::Erf:
    return UnaryOp::Erf;
  case Op::Sigmoid:
    return UnaryOp::Sigmoid;
  case Op::Floor:
    return UnaryOp::Floor;
  case Op::Ceil:
    return UnaryOp::Ceil;
  case Op::Round:
    return UnaryOp::Round;
  case Op::Trunc:
    return UnaryOp::Trunc;
  case Op::Pow2Ceil:
    return UnaryOp::Pow2Ceil;
  default:
    return UnaryOp::Not;
  }
}

BinaryOp binaryOf(Op op) {
  switch (op) {
  case Op::Add:
    return BinaryOp::Add;
  case Op::Sub:
    return BinaryOp::Sub;
  case Op::Mul:
    return BinaryOp::Mul;
  case Op::Div:
    return BinaryOp::Div;
  case Op::FloorDiv:
    return BinaryOp::FloorDiv;
  case Op::Mod:
    return BinaryOp::Mod;
  case Op::Pow:
    return BinaryOp::Pow;
  case Op::And:
    return BinaryOp::And;
  case Op::Or:
    return BinaryOp::Or;
  case Op::Xor:
    return BinaryOp::Xor;
  case Op::Shl:
    return BinaryOp::Shl;
  case Op::Shr:
    return BinaryOp::Shr;
  case Op::Min:
    return BinaryOp::Min;
  case Op::Max:
    return BinaryOp::Max;
  case Op::FMin:
    return BinaryOp::FMin;
  case Op::FMax:
    return BinaryOp::FMax;
  default:
    return BinaryOp::CDiv;
  }
}

CompareOp compareOf(Op op) {
  switch (op) {
  case Op::Eq:
    return CompareOp::Eq;
  case Op::Ne:
    return CompareOp::Ne;
  case Op::Lt:
    return CompareOp::Lt;
  case Op::Le:
    return CompareOp::Le;
  case Op::Gt:
    return CompareOp::Gt;
  default:
    return CompareOp::Ge;
  }
}

/// An operand's own array where it may take the result, else a new one.
Value resultFor(const Shape &shape, const Value &a, const Value &b) {
  if (a.shape == shape && a.isUnique())
    return a;
  if (b.shape == shape && b.isUnique())
    return b;
  return Value(a.dtype, shape);
}

bool isStatic(const std::vector<int64_t> &shape) {
  return std::find(shape.begin(), shape.end(), sem::kDynamic) == shape.end();
}

bool isDivision(Op op) { return op == Op::FloorDiv || op == Op::Mod || op == Op::CDiv; }

/// `index` is exact: 64-bit overflow of + - * is a fault, not a wrap.
bool addOverflows(Op op, int64_t a, int64_t b, int64_t &result) {
  switch (op) {
  case Op::Add:
    return __builtin_add_overflow(a, b, &result);
  case Op::Sub:
    return __builtin_sub_overflow(a, b, &result);
  default:
    return __builtin_mul_overflow(a, b, &result);
  }
}

bool exactIndex(Op op, Source a, Source b, int64_t *out, size_t count) {
  const auto *x = static_cast<const int64_t *>(a.data), *y = static_cast<const int64_t *>(b.data);
  bool overflow = false;
  for (size_t i = 0; i < count; ++i)
    overflow |= addOverflows(op, x[ptrdiff_t(i) * a.step], y[ptrdiff_t(i) * b.step], out[i]);
  return !overflow;
}

} // namespace

/// A Broadcast operand is not materialized: the operation broadcasts its operand itself. `shape` takes part of the result's.
Value Evaluator::operand(const sem::ExprPtr &e, Shape &shape) {
  if (e->op == Op::Broadcast && e->operands.size() == 1 && isStatic(e->type.shape)) {
    Value inner = value(*e->operands[0]);
    shape = broadcastShapes(shape, Shape(e->type.shape), e->range);
    return inner;
  }
  Value result = value(*e);
  shape = shape.rank() == 0 ? result.shape : broadcastShapes(shape, result.shape, e->range);
  return result;
}

Value Evaluator::unaryOp(const sem::Expr &e) {
  Value a = value(*e.operands[0]);
  const size_t count = size_t(a.count());
  if (e.op == Op::IsNan) {
    Value result(DType::Bool, a.shape);
    isNan(a.dtype, {a.data(), 1}, result.as<uint8_t>(), count);
    return result;
  }
  const DType dtype = a.dtype;
  Value result = a.isUnique() ? a : Value(dtype, a.shape);
  if (!unary(unaryOf(e.op), dtype, {a.data(), 1}, result.data(), count))
    fail(Fault::Program, "this operation is not defined for " + std::string(name(dtype)), e.range);
  return result;
}

Value Evaluator::binaryOp(const sem::Expr &e) {
  Shape shape;
  Value a = operand(e.operands[0], shape), b = operand(e.operands[1], shape);
  if (a.dtype != b.dtype)
    fail(Fault::Program, "operands of " + std::string(name(a.dtype)) + " and " + std::string(name(b.dtype)),
         e.range);
  const DType dtype = a.dtype;
  if (isDivision(e.op) && isInt(dtype) && shape.rank() == 0 && b.intAt(0) == 0)
    fail(Fault::DivisionByZero, "division by zero", e.range, "guard it, or use a divisor of at least 1");
  const bool exact = dtype == DType::Index && (e.op == Op::Add || e.op == Op::Sub || e.op == Op::Mul);
  const BinaryOp op = binaryOf(e.op);
  Value result = resultFor(shape, a, b);
  const size_t size = result.elementSize();
  forBroadcast<2>(shape, {&a, &b}, [&](int64_t offset, const std::array<Source, 2> &from, size_t count) {
    std::byte *out = result.data() + offset * int64_t(size);
    if (exact) {
      if (!exactIndex(e.op, from[0], from[1], reinterpret_cast<int64_t *>(out), count))
        fail(Fault::IndexRange, "index arithmetic does not fit 64 bits", e.range);
    } else if (!binary(op, dtype, from[0], from[1], out, count)) {
      fail(Fault::Program, "this operation is not defined for " + std::string(name(dtype)), e.range);
    }
  });
  return result;
}

Value Evaluator::compareOp(const sem::Expr &e) {
  Shape shape;
  Value a = operand(e.operands[0], shape), b = operand(e.operands[1], shape);
  if (a.dtype != b.dtype)
    fail(Fault::Program, "operands of " + std::string(name(a.dtype)) + " and " + std::string(name(b.dtype)),
         e.range);
  Value result(DType::Bool, shape);
  forBroadcast<2>(shape, {&a, &b}, [&](int64_t offset, const std::array<Source, 2> &from, size_t count) {
    compare(compareOf(e.op), a.dtype, from[0], from[1], result.as<uint8_t>() + offset, count);
  });
  return result;
}

Value Evaluator::fmaOp(const sem::Expr &e) {
  Shape shape;
  Value a = operand(e.operands[0], shape), b = operand(e.operands[1], shape),
        c = operand(e.operands[2], shape);
  Value result(a.dtype, shape);
  forBroadcast<3>(shape, {&a, &b, &c}, [&](int64_t offset, const std::array<Source, 3> &from, size_t count) {
    if (!fma(a.dtype, from[0], from[1], from[2], result.data() + offset * int64_t(result.elementSize()),
             count))
      fail(Fault::Program, "fma is not defined for " + std::string(name(a.dtype)), e.range);
  });
  return result;
}

Value Evaluator::selectOp(const sem::Expr &e) {
  Shape shape;
  Value condition = operand(e.operands[0], shape), a = operand(e.operands[1], shape),
        b = operand(e.operands[2], shape);
  Value result(a.dtype, shape);
  forBroadcast<3>(shape, {&condition, &a, &b},
                  [&](int64_t offset, const std::array<Source, 3> &from, size_t count) {
                    select(a.dtype, from[0], from[1], from[2],
                           result.data() + offset * int64_t(result.elementSize()), count);
                  });
  return result;
}

} // namespace tilegym::interp
