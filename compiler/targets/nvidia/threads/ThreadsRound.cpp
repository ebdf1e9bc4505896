// SPDX-License-Identifier: MIT
// tile.convert: conversions that saturate or round in a direction. Float to integer uses what `cvt` does by itself: it saturates.
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/Rounding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

ptx::RoundingMode modeOf(tile::Rounding rounding) {
  switch (rounding) {
  case tile::Rounding::NearestEven:
    return ptx::RoundingMode::NearestEven;
  case tile::Rounding::TowardZero:
    return ptx::RoundingMode::TowardZero;
  case tile::Rounding::Down:
    return ptx::RoundingMode::Down;
  case tile::Rounding::Up:
    return ptx::RoundingMode::Up;
  }
  llvm_unreachable("a rounding of no kind");
}

Value convertBy(ThreadBuilder &t, Value x, Type to, ptx::RoundingMode mode, bool isUnsigned) {
  return ptx::ConvertOp::create(t.b, t.loc, to, x, mode, isUnsigned);
}

/// bf16 has no directed conversion from f32: cut the low half and step away from zero where that is the direction. NaN is left to the ordinary way.
Value toBf16(ThreadBuilder &t, Value x, tile::Rounding rounding) {
  OpBuilder &b = t.b;
  auto compare = [&](arith::CmpIPredicate p, Value l, Value r) -> Value {
    return arith::CmpIOp::create(b, t.loc, p, l, r);
  };
  Value bits = arith::BitcastOp::create(b, t.loc, b.getI32Type(), x);
  Value high =
      arith::TruncIOp::create(b, t.loc, b.getI16Type(), arith::ShRUIOp::create(b, t.loc, bits, t.i32(16)));
  Value low = arith::AndIOp::create(b, t.loc, bits, t.i32(0xffff));
  Value inexact = compare(arith::CmpIPredicate::ne, low, t.i32(0));
  Value away = compare(rounding == tile::Rounding::Up ? arith::CmpIPredicate::sge : arith::CmpIPredicate::slt,
                       bits, t.i32(0));
  if (rounding != tile::Rounding::TowardZero) {
    Value step = arith::AndIOp::create(b, t.loc, inexact, away);
    high = t.add(high, arith::ExtUIOp::create(b, t.loc, b.getI16Type(), step));
  }
  Value rounded = arith::BitcastOp::create(b, t.loc, b.getBF16Type(), high);
  Value isNan = arith::CmpFOp::create(b, t.loc, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(b, t.loc, isNan, arith::TruncFOp::create(b, t.loc, b.getBF16Type(), x),
                                 rounded);
}

/// Through f32 a directed rounding may be made in two steps of one direction; only to the nearest would two steps differ.
Value floatToFloat(ThreadBuilder &t, Value x, Type to, tile::Rounding rounding) {
  Type from = x.getType();
  ptx::RoundingMode mode = modeOf(rounding);
  if (from.getIntOrFloatBitWidth() == 16)
    x = arith::ExtFOp::create(t.b, t.loc, t.b.getF32Type(), x);
  else if (from.isF64() && !to.isF64())
    x = convertBy(t, x, t.b.getF32Type(), mode, false);
  if (to.isF32())
    return x;
  if (to.isF64())
    return arith::ExtFOp::create(t.b, t.loc, to, x);
  return to.isBF16() ? toBf16(t, x, rounding) : convertBy(t, x, to, mode, false);
}

/// `cvt` with 64 bits on either side makes another number of NaN than the 0 that the language wants.
Value zeroWhereNan(ThreadBuilder &t, Value x, Value converted) {
  Value zero = arith::ConstantOp::create(t.b, t.loc, t.b.getIntegerAttr(converted.getType(), 0));
  Value isNan = arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(t.b, t.loc, isNan, zero, converted);
}

Value floatToInteger(ThreadBuilder &t, Value x, Type to, tile::Rounding rounding, bool isUnsigned) {
  if (x.getType().getIntOrFloatBitWidth() == 16)
    x = arith::ExtFOp::create(t.b, t.loc, t.b.getF32Type(), x);
  unsigned bits = to.getIntOrFloatBitWidth();
  if (bits >= 32) {
    Value converted = convertBy(t, x, to, modeOf(rounding), isUnsigned);
    if (bits == 32 && x.getType().isF32())
      return converted;
    return zeroWhereNan(t, x, converted);
  }
  // Narrow ones: saturate to 32 bits, then to fewer.
  Value wide = convertBy(t, x, t.b.getI32Type(), modeOf(rounding), false);
  if (x.getType().isF64())
    wide = zeroWhereNan(t, x, wide);
  int64_t low = isUnsigned ? 0 : -(int64_t(1) << (bits - 1)),
          high = (int64_t(1) << (isUnsigned ? bits : bits - 1)) - 1;
  wide = arith::MaxSIOp::create(t.b, t.loc, wide, t.i32(low));
  wide = arith::MinSIOp::create(t.b, t.loc, wide, t.i32(high));
  return arith::TruncIOp::create(t.b, t.loc, to, wide);
}

Value integerToFloat(ThreadBuilder &t, Value x, Type to, tile::Rounding rounding, bool isUnsigned) {
  unsigned bits = x.getType().getIntOrFloatBitWidth();
  if (bits < 32)
    x = isUnsigned ? Value(arith::ExtUIOp::create(t.b, t.loc, t.b.getI32Type(), x))
                   : Value(arith::ExtSIOp::create(t.b, t.loc, t.b.getI32Type(), x));
  if (to.isF64() || to.isF32())
    return convertBy(t, x, to, modeOf(rounding), isUnsigned);
  return floatToFloat(t, convertBy(t, x, t.b.getF32Type(), modeOf(rounding), isUnsigned), to, rounding);
}

LogicalResult lowerConvert(ThreadBuilder &t, Operation *op) {
  auto convert = cast<tile::ConvertOp>(op);
  Type from = getElementTypeOrSelf(convert.getValue().getType()),
       to = getElementTypeOrSelf(convert.getType());
  auto isF8 = [](Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; };
  Registers result;
  ArrayRef<Value> values = t.get(convert.getValue());
  bool byPairs = t.hasFloat8Pairs && isF8(to) && !isF8(from) && isa<FloatType>(from) &&
                 convert.getSaturate() && convert.getRounding() == tile::Rounding::NearestEven;
  for (; byPairs && values.size() > 1; values = values.drop_front(2))
    llvm::append_range(result, encodePair(t, values[0], values[1], to));
  for (Value x : values) {
    if (isF8(from))
      x = decodeFloat8(t, x, from);
    bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
    if (isF8(to)) {
      if (!fromFloat) {
        Type f64 = t.b.getF64Type();
        x = convert.getIsUnsigned()
                ? Value(arith::UIToFPOp::create(t.b, t.loc, f64, x))
                : Value(arith::SIToFPOp::create(t.b, t.loc, f64, x)); // exact up to 2^53, far beyond any f8
      }
      result.push_back(encodeFloat8(t, x, to, convert.getRounding(), convert.getSaturate()));
    } else if (fromFloat && toFloat) {
      result.push_back(floatToFloat(t, x, to, convert.getRounding()));
    } else if (fromFloat) {
      result.push_back(floatToInteger(t, x, to, convert.getRounding(), convert.getIsUnsigned()));
    } else {
      result.push_back(integerToFloat(t, x, to, convert.getRounding(), convert.getIsUnsigned()));
    }
  }
  t.set(convert, std::move(result));
  return success();
}

} // namespace

Value roundToOdd(ThreadBuilder &t, Value x) {
  Value cut = convertBy(t, x, t.b.getF32Type(), ptx::RoundingMode::TowardZero, false);
  Value back = arith::ExtFOp::create(t.b, t.loc, t.b.getF64Type(), cut);
  Value inexact = arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::ONE, back, x);
  Value bits = arith::BitcastOp::create(t.b, t.loc, t.b.getI32Type(), cut);
  bits =
      arith::OrIOp::create(t.b, t.loc, bits, arith::ExtUIOp::create(t.b, t.loc, t.b.getI32Type(), inexact));
  return arith::BitcastOp::create(t.b, t.loc, t.b.getF32Type(), bits);
}

void addRoundHandlers(HandlerTable &table) { table["tile.convert"] = lowerConvert; }

} // namespace tilegym::nvidia
