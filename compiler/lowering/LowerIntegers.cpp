// SPDX-License-Identifier: MIT
// Integer arithmetic: it wraps; `//` and `%` floor; shifts by the width or more shift everything out; a division by zero
// gives 0. LLVM leaves these open, so they are closed here, except where the divisor is a constant that needs none of it.
#include "compiler/lowering/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;
using Code = sem::Op;
using Predicate = arith::CmpIPredicate;

Value Lowerer::unaryInt(Code op, DType dtype, Value x) {
  Type type = x.getType();
  switch (op) {
  case Code::Neg:
    return create<arith::SubIOp>(zero(type), x);
  case Code::BitNot:
    return create<arith::XOrIOp>(x, number(type, -1));
  case Code::Abs: {
    if (!isSigned(dtype))
      return x;
    Value negative = create<arith::CmpIOp>(Predicate::slt, x, zero(type));
    return create<arith::SelectOp>(negative, create<arith::SubIOp>(zero(type), x), x);
  }
  case Code::Pow2Ceil: {
    // 1 << (bits of x - 1); 1 up to 1, and 0 where the power does not fit.
    int64_t width = sizeInBits(dtype), fits = width - (isSigned(dtype) ? 1 : 0);
    Value one = number(type, 1);
    Value zeros = create<math::CountLeadingZerosOp>(create<arith::SubIOp>(x, one));
    Value bits = create<arith::SubIOp>(number(type, width), zeros);
    Value isSmall = create<arith::CmpIOp>(isSigned(dtype) ? Predicate::sle : Predicate::ule, x, one);
    Value isLarge = create<arith::CmpIOp>(Predicate::uge, bits, number(type, fits));
    Value power = create<arith::ShLIOp>(one, create<arith::SelectOp>(isLarge, zero(type), bits));
    return create<arith::SelectOp>(isSmall, one, create<arith::SelectOp>(isLarge, zero(type), power));
  }
  default:
    return x; // floor, ceil, round, trunc of an integer
  }
}

Value Lowerer::binaryInt(Code op, DType dtype, Value a, Value b) {
  bool isSigned = tilegym::isSigned(dtype);
  switch (op) {
  case Code::Add:
    return create<arith::AddIOp>(a, b);
  case Code::Sub:
    return create<arith::SubIOp>(a, b);
  case Code::Mul:
    return create<arith::MulIOp>(a, b);
  case Code::And:
    return create<arith::AndIOp>(a, b);
  case Code::Or:
    return create<arith::OrIOp>(a, b);
  case Code::Xor:
    return create<arith::XOrIOp>(a, b);
  case Code::Min:
  case Code::FMin:
    return isSigned ? create<arith::MinSIOp>(a, b) : create<arith::MinUIOp>(a, b);
  case Code::Max:
  case Code::FMax:
    return isSigned ? create<arith::MaxSIOp>(a, b) : create<arith::MaxUIOp>(a, b);
  case Code::Shl:
  case Code::Shr:
    return shiftInt(op, dtype, a, b);
  case Code::Pow:
    return powerInt(dtype, a, b);
  default:
    return divideInt(op, dtype, a, b);
  }
}

Value Lowerer::divideInt(Code op, DType dtype, Value a, Value b) {
  Type type = a.getType();
  bool isSigned = tilegym::isSigned(dtype);
  APInt divisor;
  bool isConstant = matchPattern(b, m_ConstantInt(&divisor)),
       isPositive = isConstant && (isSigned ? divisor.isStrictlyPositive() : !divisor.isZero());
  // Without a fault where the divisor is 0, or the quotient of the least integer and -1 does not fit. The maximum is of unsigned numbers, so
  // that it changes 0 alone, and lets the analysis of ranges see that it does.
  Value isZero, isMinusOne, by = b;
  if (!isPositive) {
    Value one = number(type, 1);
    isZero = create<arith::CmpIOp>(Predicate::eq, b, zero(type));
    if (isSigned) {
      isMinusOne = create<arith::CmpIOp>(Predicate::eq, b, number(type, -1));
      by = create<arith::SelectOp>(isMinusOne, one, b);
    }
    by = create<arith::MaxUIOp>(by, one);
  }
  Value result;
  if (!isSigned) {
    result = op == Code::FloorDiv ? create<arith::DivUIOp>(a, by)
             : op == Code::Mod    ? create<arith::RemUIOp>(a, by)
                                  : create<arith::CeilDivUIOp>(a, by);
  } else if (op == Code::FloorDiv) {
    result = create<arith::FloorDivSIOp>(a, by);
  } else if (op == Code::CDiv) {
    result = create<arith::CeilDivSIOp>(a, by);
  } else {
    // Towards the divisor's sign.
    Value rest = create<arith::RemSIOp>(a, by);
    Value negative = create<arith::CmpIOp>(Predicate::slt, rest, zero(type));
    if (!isPositive) {
      Value differs = create<arith::CmpIOp>(Predicate::slt, create<arith::XOrIOp>(rest, by), zero(type));
      negative = create<arith::AndIOp>(differs, create<arith::CmpIOp>(Predicate::ne, rest, zero(type)));
    }
    result = create<arith::SelectOp>(negative, create<arith::AddIOp>(rest, by), rest);
  }
  if (isMinusOne) {
    Value negated = op == Code::Mod ? zero(type) : create<arith::SubIOp>(zero(type), a);
    result = create<arith::SelectOp>(isMinusOne, negated, result);
  }
  return isZero ? create<arith::SelectOp>(isZero, zero(type), result) : result;
}

Value Lowerer::shiftInt(Code op, DType dtype, Value a, Value b) {
  Type type = a.getType();
  int64_t width = sizeInBits(dtype);
  bool isSigned = tilegym::isSigned(dtype);
  APInt amount;
  bool isSafe = matchPattern(b, m_ConstantInt(&amount)) && amount.ult(width);
  // PTX shifts by 32-bit amounts that saturate, and LLVM takes the test below for one that they make needless: by a 64-bit amount's low half alone. So
  // amounts of 64 bits are cut to 7 first, in a form of which that stays true.
  if (!isSafe && width == 64) {
    Type word = builder.getI32Type();
    if (auto shaped = dyn_cast<ShapedType>(type))
      word = shaped.clone(word);
    Value isHigh =
        create<arith::CmpIOp>(Predicate::ne, create<arith::ShRUIOp>(b, number(type, 32)), zero(type));
    Value low = create<arith::TruncIOp>(word, b);
    Value all = number(word, 64);
    Value cut = create<arith::MinUIOp>(create<arith::SelectOp>(isHigh, all, low), all);
    b = create<arith::ExtUIOp>(type, cut);
  }
  Value tooFar = isSafe ? Value() : create<arith::CmpIOp>(Predicate::uge, b, number(type, width));
  if (op == Code::Shr && isSigned) {
    // All copies of the sign: the same as a shift by one less than the width.
    Value by = isSafe ? b : create<arith::SelectOp>(tooFar, number(type, width - 1), b);
    return create<arith::ShRSIOp>(a, by);
  }
  Value by = isSafe ? b : create<arith::SelectOp>(tooFar, zero(type), b);
  Value result = op == Code::Shl ? create<arith::ShLIOp>(a, by) : create<arith::ShRUIOp>(a, by);
  return isSafe ? result : create<arith::SelectOp>(tooFar, zero(type), result);
}

// Squares over the bits of the exponent: a constant exponent unrolls to its products, others to every bit of the dtype.
Value Lowerer::powerInt(DType dtype, Value base, Value exponent) {
  Type type = base.getType();
  Value one = number(type, 1), none = zero(type), result = one, square = base;
  APInt constant;
  if (matchPattern(exponent, m_ConstantInt(&constant)) && !(isSigned(dtype) && constant.isNegative())) {
    for (unsigned bit = 0; bit < constant.getActiveBits(); ++bit) {
      if (constant[bit])
        result = create<arith::MulIOp>(result, square);
      if (bit + 1 < constant.getActiveBits())
        square = create<arith::MulIOp>(square, square);
    }
    return result;
  }
  auto scalarType = builder.getI32Type();
  auto loop =
      scf::ForOp::create(builder, location, number(scalarType, 0), number(scalarType, sizeInBits(dtype)),
                         number(scalarType, 1), ValueRange{result, square, exponent});
  builder.setInsertionPointToStart(loop.getBody());
  Value r = loop.getRegionIterArg(0), s = loop.getRegionIterArg(1), left = loop.getRegionIterArg(2);
  Value isOdd = create<arith::CmpIOp>(Predicate::ne, create<arith::AndIOp>(left, one), none);
  Value next = create<arith::SelectOp>(isOdd, create<arith::MulIOp>(r, s), r);
  yield({next, create<arith::MulIOp>(s, s), create<arith::ShRUIOp>(left, one)});
  builder.setInsertionPointAfter(loop);
  result = loop.getResult(0);
  if (!isSigned(dtype))
    return result;
  // A negative exponent: of 1 and -1 there is an inverse, of all else 0.
  Value odd = create<arith::CmpIOp>(Predicate::ne, create<arith::AndIOp>(exponent, one), none);
  Value isOne = create<arith::CmpIOp>(Predicate::eq, base, one),
        isMinusOne = create<arith::CmpIOp>(Predicate::eq, base, number(type, -1));
  Value inverse = create<arith::SelectOp>(isMinusOne, create<arith::SelectOp>(odd, base, one),
                                          create<arith::SelectOp>(isOne, one, none));
  return create<arith::SelectOp>(create<arith::CmpIOp>(Predicate::slt, exponent, none), inverse, result);
}
