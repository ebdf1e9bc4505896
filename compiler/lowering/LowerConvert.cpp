// SPDX-License-Identifier: MIT
// Conversions. To nearest even without saturation, and where nothing is lost, they are arith; the rest is tile.convert.
#include "compiler/lowering/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;
using sem::Rounding;

static Type withElement(Type type, Type element) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? tile.clone(element) : element;
}

static tile::Rounding roundingOf(Rounding rounding) {
  switch (rounding) {
  case Rounding::TowardZero:
    return tile::Rounding::TowardZero;
  case Rounding::Down:
    return tile::Rounding::Down;
  case Rounding::Up:
    return tile::Rounding::Up;
  default:
    return tile::Rounding::NearestEven;
  }
}

static bool isF8(DType dtype) { return dtype == DType::F8E4M3 || dtype == DType::F8E5M2; }

Value Lowerer::convertTo(Value x, DType from, DType to, Rounding rounding, bool saturate) {
  if (from == to)
    return x;
  Type type = withElement(x.getType(), typeOf(to));
  if (isBool(to) && isF8(from)) // no target compares these
    return convertTo(convertFloats(x, from, DType::F32, rounding, saturate), DType::F32, to, rounding,
                     saturate);
  if (isBool(to)) // whether it is not zero; NaN is not
    return isFloat(from) ? create<arith::CmpFOp>(arith::CmpFPredicate::UNE, x, zero(x.getType()))
                         : create<arith::CmpIOp>(arith::CmpIPredicate::ne, x, zero(x.getType()));
  if (isFloat(from) && isFloat(to))
    return convertFloats(x, from, to, rounding, saturate);
  if (isFloat(from)) {
    // What is not said truncates; the tree cannot tell that from nearest even.
    tile::Rounding direction =
        rounding == Rounding::NearestEven ? tile::Rounding::TowardZero : roundingOf(rounding);
    return create<tile::ConvertOp>(type, x, direction, true, isUnsigned(to));
  }
  bool isSignedSource = isSigned(from);
  if (isFloat(to)) {
    if (rounding != Rounding::NearestEven || isF8(to))
      return create<tile::ConvertOp>(type, x, roundingOf(rounding), isF8(to) && saturate, !isSignedSource);
    return isSignedSource ? create<arith::SIToFPOp>(type, x) : create<arith::UIToFPOp>(type, x);
  }
  return convertInts(x, from, to);
}

Value Lowerer::convertInts(Value x, DType from, DType to) {
  Type type = withElement(x.getType(), typeOf(to));
  unsigned fromBits = isBool(from) ? 1 : sizeInBits(from), toBits = sizeInBits(to);
  if (fromBits == toBits)
    return x;
  if (fromBits > toBits)
    return create<arith::TruncIOp>(type, x);
  return isSigned(from) ? create<arith::ExtSIOp>(type, x) : create<arith::ExtUIOp>(type, x);
}

Value Lowerer::convertFloats(Value x, DType from, DType to, Rounding rounding, bool saturate) {
  if (from == to)
    return x;
  Type type = withElement(x.getType(), typeOf(to));
  bool widens = sizeInBits(from) < sizeInBits(to);
  if (widens)
    return create<arith::ExtFOp>(type, x);
  if (isF8(to) || rounding != Rounding::NearestEven)
    return create<tile::ConvertOp>(type, x, roundingOf(rounding), isF8(to) && saturate, false);
  if (sizeInBits(from) == sizeInBits(to)) // f16 and bf16: f32 holds both
    return create<arith::TruncFOp>(type, create<arith::ExtFOp>(withElement(type, typeOf(DType::F32)), x));
  return create<arith::TruncFOp>(type, x);
}
