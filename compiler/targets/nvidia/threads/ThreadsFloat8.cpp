// SPDX-License-Identifier: MIT
// Conversions to and from f8, in integer and f32 arithmetic: every target has them, and the rounding is ours to see. f8 values travel as i8. Where a target has an
// instruction for two that saturate, those take it: a product's results are many, and some 17 operations each cost a tenth of the time of 4096^3.
//
// Encoding rounds to nearest even. In f32's bits, a normal f8 is the top of the fraction: add half an ulp (less one, plus the last kept bit) and
// shift. A subnormal is an integer multiple of the smallest step: adding a power of two whose ulp is that step leaves the integer in the low
// bits, rounded by the hardware. In a direction, what is cut off either counts for nothing or makes one step more.
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/Rounding.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

struct Format {
  int fraction; ///< stored bits
  int bias;
  float greatest;   ///< the largest finite value
  float overflow;   ///< from here on (half way past it) nearest is too large
  int64_t largest;  ///< code of the largest finite value
  int64_t infinity; ///< code of infinity; the NaN where there is none
  int64_t nan;
};
const Format e4m3 = {3, 7, 448.0f, 464.0f, 0x7e, 0x7f, 0x7f};
const Format e5m2 = {2, 15, 57344.0f, 61440.0f, 0x7b, 0x7c, 0x7e};

const Format &formatOf(Type type) { return isa<Float8E4M3FNType>(type) ? e4m3 : e5m2; }
bool isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(type)); }

struct Bits {
  ThreadBuilder &t;
  Value word(int64_t v) { return t.i32(v); }
  Value bitsOf(Value f) { return arith::BitcastOp::create(t.b, t.loc, t.b.getI32Type(), f); }
  Value floatOf(Value w) { return arith::BitcastOp::create(t.b, t.loc, t.b.getF32Type(), w); }
  Value shl(Value v, int64_t n) { return arith::ShLIOp::create(t.b, t.loc, v, word(n)); }
  Value shr(Value v, int64_t n) { return arith::ShRUIOp::create(t.b, t.loc, v, word(n)); }
  Value land(Value v, int64_t mask) { return arith::AndIOp::create(t.b, t.loc, v, word(mask)); }
  Value lor(Value a, Value b) { return arith::OrIOp::create(t.b, t.loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(t.b, t.loc, a, b); }
  Value select(Value c, Value a, Value b) { return arith::SelectOp::create(t.b, t.loc, c, a, b); }
  Value compare(arith::CmpIPredicate p, Value a, Value b) {
    return arith::CmpIOp::create(t.b, t.loc, p, a, b);
  }
};

Value encode(ThreadBuilder &t, Value x, const Format &f, bool saturate) {
  Bits b{t};
  Value bits = b.bitsOf(x), magnitude = b.land(bits, 0x7fffffff),
        sign = b.shr(b.land(bits, int64_t(0x80000000)), 24);
  int drop = 23 - f.fraction;
  Value odd = b.land(b.shr(magnitude, drop), 1);
  Value rounded = b.shr(t.add(t.add(magnitude, b.word((int64_t(1) << (drop - 1)) - 1)), odd), drop);
  Value normal = b.sub(rounded, b.word(int64_t(127 - f.bias) << f.fraction));
  // Smallest step 2^(1 - bias - fraction); a float of that ulp is 2^(1 - bias - fraction + 23).
  int64_t magic = int64_t(127 + 1 - f.bias - f.fraction + 23) << 23;
  Value shifted = arith::AddFOp::create(t.b, t.loc, b.floatOf(magnitude), b.floatOf(b.word(magic)));
  Value subnormal = b.sub(b.bitsOf(shifted), b.word(magic));
  Value isSmall = b.compare(arith::CmpIPredicate::ult, magnitude, b.word(int64_t(127 + 1 - f.bias) << 23));
  Value code = b.select(isSmall, subnormal, normal);
  int64_t overflowBits = llvm::bit_cast<uint32_t>(f.overflow);
  Value isLarge = b.compare(arith::CmpIPredicate::uge, magnitude, b.word(overflowBits));
  code = b.select(isLarge, b.word(saturate ? f.largest : f.infinity), code);
  Value isNan = b.compare(arith::CmpIPredicate::ugt, magnitude, b.word(0x7f800000));
  code = b.select(isNan, b.word(f.nan), code);
  return arith::TruncIOp::create(t.b, t.loc, t.b.getI8Type(), b.lor(sign, code));
}

/// The same with `rounding` in a direction.
Value encodeDirected(ThreadBuilder &t, Value x, const Format &f, tile::Rounding rounding, bool saturate) {
  Bits b{t};
  Value bits = b.bitsOf(x), magnitude = b.land(bits, 0x7fffffff),
        sign = b.shr(b.land(bits, int64_t(0x80000000)), 24);
  Value away = t.constant(t.b.getI1Type(), 0);
  if (rounding != tile::Rounding::TowardZero)
    away = b.compare(rounding == tile::Rounding::Up ? arith::CmpIPredicate::sge : arith::CmpIPredicate::slt,
                     bits, b.word(0));
  int drop = 23 - f.fraction;
  Value up = b.select(away, b.word((int64_t(1) << drop) - 1), b.word(0));
  Value normal = b.sub(b.shr(t.add(magnitude, up), drop), b.word(int64_t(127 - f.bias) << f.fraction));
  // How many of the smallest steps there are: a power of two times the value, which is exact.
  Value scale = b.floatOf(b.word(int64_t(127 + f.bias - 1 + f.fraction) << 23));
  Value steps = arith::MulFOp::create(t.b, t.loc, b.floatOf(magnitude), scale);
  Value whole = arith::FPToSIOp::create(t.b, t.loc, t.b.getI32Type(), steps);
  Value isInexact = arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::ONE, steps,
                                          arith::SIToFPOp::create(t.b, t.loc, t.b.getF32Type(), whole));
  Value more = arith::AndIOp::create(t.b, t.loc, away, isInexact);
  Value subnormal = t.add(whole, arith::ExtUIOp::create(t.b, t.loc, t.b.getI32Type(), more));
  Value isSmall = b.compare(arith::CmpIPredicate::ult, magnitude, b.word(int64_t(127 + 1 - f.bias) << 23));
  Value code = b.select(isSmall, subnormal, normal);
  int64_t beyond = saturate ? f.largest : f.infinity;
  Value isLarge =
      b.compare(arith::CmpIPredicate::ugt, magnitude, b.word(llvm::bit_cast<uint32_t>(f.greatest)));
  code = b.select(isLarge, b.select(away, b.word(beyond), b.word(f.largest)), code);
  code = b.select(b.compare(arith::CmpIPredicate::eq, magnitude, b.word(0x7f800000)), b.word(beyond), code);
  code = b.select(b.compare(arith::CmpIPredicate::ugt, magnitude, b.word(0x7f800000)), b.word(f.nan), code);
  return arith::TruncIOp::create(t.b, t.loc, t.b.getI8Type(), b.lor(sign, code));
}

/// Exact in f32. e5m2 is the top half of an f16; e4m3 fits one, too, with the exponent off by 8.
Value decode(ThreadBuilder &t, Value code, const Format &f) {
  Type i16 = t.b.getI16Type();
  auto word = [&](int64_t v) { return t.constant(i16, v); };
  Value wide = arith::ExtUIOp::create(t.b, t.loc, i16, code);
  auto asFloat = [&](Value half) -> Value {
    Value f16 = arith::BitcastOp::create(t.b, t.loc, t.b.getF16Type(), half);
    return arith::ExtFOp::create(t.b, t.loc, t.b.getF32Type(), f16);
  };
  if (&f == &e5m2)
    return asFloat(arith::ShLIOp::create(t.b, t.loc, wide, word(8)));
  Value magnitude = arith::AndIOp::create(t.b, t.loc, wide, word(0x7f)),
        sign = arith::AndIOp::create(t.b, t.loc, wide, word(0x80));
  Value half = arith::OrIOp::create(t.b, t.loc, arith::ShLIOp::create(t.b, t.loc, sign, word(8)),
                                    arith::ShLIOp::create(t.b, t.loc, magnitude, word(7)));
  Value value = arith::MulFOp::create(t.b, t.loc, asFloat(half), t.constantFloat(t.b.getF32Type(), 256.0));
  Value isNan = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, magnitude, word(0x7f));
  Value nan = arith::BitcastOp::create(t.b, t.loc, t.b.getF32Type(), t.i32(0x7fc00000));
  return arith::SelectOp::create(t.b, t.loc, isNan, nan, value);
}

/// The f32 that rounds to the same f8 as `x` does.
Value toF32(ThreadBuilder &t, Value x) {
  Type type = x.getType();
  if (type.isF32())
    return x;
  if (type.isF64())
    return roundToOdd(t, x);
  return arith::ExtFOp::create(t.b, t.loc, t.b.getF32Type(), x);
}

LogicalResult mapRegisters(ThreadBuilder &t, Operation *op, llvm::function_ref<Value(Value)> f) {
  Registers result;
  for (Value x : t.get(op->getOperand(0)))
    result.push_back(f(x));
  t.set(op->getResult(0), std::move(result));
  return success();
}

LogicalResult lowerExtend(ThreadBuilder &t, Operation *op) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType()),
       to = getElementTypeOrSelf(op->getResult(0).getType());
  if (!isFloat8(from))
    return lowerElementwise(t, op);
  return mapRegisters(t, op, [&](Value code) -> Value {
    Value value = decode(t, code, formatOf(from));
    unsigned bits = to.getIntOrFloatBitWidth();
    return bits == 32   ? value
           : bits == 64 ? Value(arith::ExtFOp::create(t.b, t.loc, to, value))
                        : Value(arith::TruncFOp::create(t.b, t.loc, to, value));
  });
}

LogicalResult lowerTruncate(ThreadBuilder &t, Operation *op) {
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  if (isFloat8(to))
    return mapRegisters(t, op,
                        [&](Value x) { return encode(t, toF32(t, x), formatOf(to), /*saturate=*/false); });
  return lowerElementwise(t, op);
}

/// An integer beyond 2^53 is far beyond any f8, so rounding it to f64 on the way changes nothing.
template <class Op> LogicalResult lowerFromInteger(ThreadBuilder &t, Operation *op) {
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  if (!isFloat8(to))
    return lowerElementwise(t, op);
  return mapRegisters(t, op, [&](Value x) {
    return encode(t, roundToOdd(t, Op::create(t.b, t.loc, t.b.getF64Type(), x)), formatOf(to),
                  /*saturate=*/false);
  });
}

} // namespace

Value encodeFloat8(ThreadBuilder &t, Value x, Type format, tile::Rounding rounding, bool saturate) {
  return rounding == tile::Rounding::NearestEven
             ? encode(t, toF32(t, x), formatOf(format), saturate)
             : encodeDirected(t, toF32(t, x), formatOf(format), rounding, saturate);
}

std::array<Value, 2> encodePair(ThreadBuilder &t, Value low, Value high, Type format) {
  auto type = isa<Float8E4M3FNType>(format) ? ptx::ElementType::E4M3 : ptx::ElementType::E5M2;
  Type i8 = t.b.getI8Type();
  Value word = ptx::ConvertPairOp::create(t.b, t.loc, toF32(t, low), toF32(t, high), type);
  Value upper = arith::ShRUIOp::create(t.b, t.loc, word, t.constant(word.getType(), 8));
  return {arith::TruncIOp::create(t.b, t.loc, i8, word), arith::TruncIOp::create(t.b, t.loc, i8, upper)};
}

Value decodeFloat8(ThreadBuilder &t, Value code, Type format) { return decode(t, code, formatOf(format)); }

void addFloat8Handlers(HandlerTable &table) {
  table["arith.extf"] = lowerExtend;
  table["arith.truncf"] = lowerTruncate;
  table["arith.sitofp"] = lowerFromInteger<arith::SIToFPOp>;
  table["arith.uitofp"] = lowerFromInteger<arith::UIToFPOp>;
}

} // namespace tilegym::nvidia
