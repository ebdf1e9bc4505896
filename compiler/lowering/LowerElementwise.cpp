// SPDX-License-Identifier: MIT
// Elementwise operations: what arith and math have with the language's meaning, and the rest made of it. Types narrower than f32 have no
// transcendental functions, and f8 has no arithmetic: such are computed in f32 and rounded once.
#include "compiler/lowering/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;
using Code = sem::Op;

static bool isComparison(Code op) {
  return op == Code::Eq || op == Code::Ne || op == Code::Lt || op == Code::Le || op == Code::Gt ||
         op == Code::Ge;
}

/// Exact in the operand's own type, so worth no detour.
static bool isNative(Code op, DType dtype) {
  if (dtype == DType::F64 || dtype == DType::F32)
    return true;
  if (dtype == DType::F8E4M3 || dtype == DType::F8E5M2)
    return false;
  switch (op) {
  case Code::Neg:
  case Code::Abs:
  case Code::Add:
  case Code::Sub:
  case Code::Mul:
  case Code::Min:
  case Code::Max:
  case Code::FMin:
  case Code::FMax:
  case Code::Fma:
    return true;
  default:
    return false;
  }
}

Value Lowerer::elementwise(const sem::Expr &e) {
  DType from = e.operands[0]->type.dtype;
  if (e.op == Code::Convert)
    return convertTo(operand(e, 0), from, e.type.dtype, e.rounding, e.saturate);
  SmallVector<Value, 3> x;
  for (size_t i = 0; i < e.operands.size(); ++i)
    x.push_back(operand(e, i));
  // The checker makes shapes equal; a scalar beside tiles may be left as one.
  if (e.type.isTile() && !e.type.isScalar())
    for (Value &operand : x)
      if (e.op != Code::Select || operand != x[0])
        operand = broadcastTo(operand, e.type.shape);
  if (e.op == Code::Select)
    return create<arith::SelectOp>(x[0], x[1], x[2]);
  if (e.op == Code::IsNan && !isFloat(from))
    return zero(typeOf(e.type));

  if (isFloat(from)) {
    bool detour = !isNative(e.op, from) && !(isComparison(e.op) || e.op == Code::IsNan);
    bool small = from == DType::F8E4M3 || from == DType::F8E5M2;
    bool floors = e.op == Code::FloorDiv || e.op == Code::Mod;
    DType in = floors ? DType::F64 : detour || small ? DType::F32 : from;
    if (in != from)
      for (Value &operand : x)
        operand = convertFloats(operand, from, in, sem::Rounding::NearestEven, true);
    if (isComparison(e.op))
      return compare(e.op, in, x[0], x[1]);
    if (e.op == Code::IsNan)
      return create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x[0], x[0]);
    Value result = e.op == Code::Fma ? create<math::FmaOp>(x[0], x[1], x[2])
                   : x.size() == 1   ? unaryFloat(e.op, x[0])
                                     : binaryFloat(e.op, x[0], x[1]);
    return convertFloats(result, in, from, sem::Rounding::NearestEven, true);
  }
  if (isComparison(e.op))
    return compare(e.op, from, x[0], x[1]);
  if (isBool(from))
    return x.size() == 1 ? create<arith::XOrIOp>(x[0], number(x[0].getType(), 1))
                         : binaryBool(e.op, x[0], x[1]);
  return x.size() == 1 ? unaryInt(e.op, from, x[0]) : binaryInt(e.op, from, x[0], x[1]);
}

Value Lowerer::unaryFloat(Code op, Value x) {
  switch (op) {
  case Code::Neg:
    return create<arith::NegFOp>(x);
  case Code::Abs:
    return create<math::AbsFOp>(x);
  case Code::Exp:
    return create<math::ExpOp>(x, fastMathFunction);
  case Code::Exp2:
    return create<math::Exp2Op>(x, fastMathFunction);
  case Code::Log:
    return create<math::LogOp>(x, fastMathFunction);
  case Code::Log2:
    return create<math::Log2Op>(x, fastMathFunction);
  case Code::Sqrt:
    return create<math::SqrtOp>(x, fastMathFunction);
  case Code::Rsqrt:
    return create<math::RsqrtOp>(x, fastMathFunction);
  case Code::Sin:
    return create<math::SinOp>(x, fastMathFunction);
  case Code::Cos:
    return create<math::CosOp>(x, fastMathFunction);
  case Code::Tanh:
    return create<math::TanhOp>(x, fastMathFunction);
  case Code::Erf:
    return create<math::ErfOp>(x, fastMathFunction);
  case Code::Floor:
    return create<math::FloorOp>(x);
  case Code::Ceil:
    return create<math::CeilOp>(x);
  case Code::Round:
    return create<math::RoundEvenOp>(x);
  case Code::Trunc:
    return create<math::TruncOp>(x);
  default: {
    // Sigmoid: 1 / (1 + exp(-x)); where exp overflows it is 1 / inf, and 0 is right there.
    Value one = number(x.getType(), 1);
    Value e = create<math::ExpOp>(create<arith::NegFOp>(x), fastMathFunction);
    return create<arith::DivFOp>(one, create<arith::AddFOp>(one, e), fastMathFunction);
  }
  }
}

Value Lowerer::binaryFloat(Code op, Value a, Value b) {
  switch (op) {
  case Code::Add:
    return create<arith::AddFOp>(a, b, fastMath);
  case Code::Sub:
    return create<arith::SubFOp>(a, b, fastMath);
  case Code::Mul:
    return create<arith::MulFOp>(a, b, fastMath);
  case Code::Div:
    return create<arith::DivFOp>(a, b, fastMathFunction);
  case Code::Max:
    return create<arith::MaximumFOp>(a, b);
  case Code::Min:
    return create<arith::MinimumFOp>(a, b);
  case Code::FMax:
    return create<arith::MaxNumFOp>(a, b);
  case Code::FMin:
    return create<arith::MinNumFOp>(a, b);
  case Code::Pow:
    return create<math::PowFOp>(a, b, fastMathFunction);
  default:
    return floorDivision(op == Code::Mod, a, b);
  }
}

// By fmod, which is exact, in f64, so that what comes after rounds once into the dtype.
Value Lowerer::floorDivision(bool remainder, Value x, Value y) {
  Value none = zero(x.getType()), one = number(x.getType(), 1);
  auto is = [&](arith::CmpFPredicate predicate, Value p, Value q) {
    return create<arith::CmpFOp>(predicate, p, q);
  };
  using enum arith::CmpFPredicate;
  Value rest = create<arith::RemFOp>(x, y);
  Value isZero = is(OEQ, rest, none), yIsZero = is(OEQ, y, none);
  Value differs = create<arith::XOrIOp>(is(OLT, rest, none), is(OLT, y, none));
  Value moves = create<arith::AndIOp>(differs, create<arith::XOrIOp>(isZero, number(isZero.getType(), 1)));
  if (remainder) {
    Value moved = create<arith::SelectOp>(moves, create<arith::AddFOp>(rest, y), rest);
    return create<arith::SelectOp>(isZero, create<math::CopySignOp>(none, y), moved);
  }
  Value quotient = create<arith::DivFOp>(create<arith::SubFOp>(x, rest), y);
  Value lower = create<arith::SelectOp>(moves, create<arith::SubFOp>(quotient, one), quotient);
  Value whole = create<math::RoundEvenOp>(lower), plain = create<arith::DivFOp>(x, y);
  Value signedZero =
      create<arith::SelectOp>(is(OEQ, whole, none), create<math::CopySignOp>(none, plain), whole);
  return create<arith::SelectOp>(yIsZero, plain, signedZero);
}

Value Lowerer::compare(Code op, DType dtype, Value a, Value b) {
  if (isFloat(dtype)) {
    using enum arith::CmpFPredicate;
    arith::CmpFPredicate predicate = op == Code::Eq   ? OEQ
                                     : op == Code::Ne ? UNE
                                     : op == Code::Lt ? OLT
                                     : op == Code::Le ? OLE
                                     : op == Code::Gt ? OGT
                                                      : OGE;
    return create<arith::CmpFOp>(predicate, a, b);
  }
  bool isSigned = tilegym::isSigned(dtype);
  using enum arith::CmpIPredicate;
  arith::CmpIPredicate predicate = op == Code::Eq   ? eq
                                   : op == Code::Ne ? ne
                                   : op == Code::Lt ? (isSigned ? slt : ult)
                                   : op == Code::Le ? (isSigned ? sle : ule)
                                   : op == Code::Gt ? (isSigned ? sgt : ugt)
                                                    : (isSigned ? sge : uge);
  return create<arith::CmpIOp>(predicate, a, b);
}

Value Lowerer::binaryBool(Code op, Value a, Value b) {
  switch (op) {
  case Code::And:
  case Code::Min:
    return create<arith::AndIOp>(a, b);
  case Code::Or:
  case Code::Max:
    return create<arith::OrIOp>(a, b);
  default:
    return create<arith::XOrIOp>(a, b);
  }
}
