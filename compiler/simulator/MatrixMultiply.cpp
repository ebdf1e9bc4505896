// SPDX-License-Identifier: MIT
// Sums of products as tensor cores make them.
#include "compiler/simulator/MatrixMultiply.h"

#include <algorithm>
#include <cassert>

namespace tilegym::sim {

static bool isByteFloat(ElementType type) { return type == ElementType::E4M3 || type == ElementType::E5M2; }

MatrixUnit warpUnit(ElementType a, ElementType b, AccumulatorType accumulator) {
  return {a, b, accumulator, 25, 23};
}

MatrixUnit warpgroupUnit(ElementType a, ElementType b, AccumulatorType accumulator) {
  return isByteFloat(a) ? MatrixUnit{a, b, accumulator, 13, 13} : MatrixUnit{a, b, accumulator, 25, 23};
}

namespace {

constexpr uint32_t nanBits(AccumulatorType type) {
  return type == AccumulatorType::F16 ? 0x7FFF : 0x7FFFFFFF;
}

uint32_t integerBlock(const MatrixUnit &unit, std::span<const Parts> a, std::span<const Parts> b,
                      uint32_t c) {
  auto sum = int64_t(int32_t(c));
  for (size_t k = 0; k < a.size(); ++k)
    sum += int64_t(a[k].significand) * b[k].significand;
  if (unit.saturate)
    sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
  return uint32_t(sum);
}

/// The result where a factor or the accumulator is not finite.
uint32_t specialBlock(const MatrixUnit &unit, std::span<const Parts> a, std::span<const Parts> b, Parts c) {
  using Kind = Parts::Kind;
  bool plus = false, minus = false, nan = c.kind == Kind::NaN;
  auto infinite = [&](bool negative) { (negative ? minus : plus) = true; };
  if (c.kind == Kind::Infinite)
    infinite(c.significand < 0);
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k].kind == Kind::Finite && b[k].kind == Kind::Finite)
      continue;
    if (a[k].kind == Kind::NaN || b[k].kind == Kind::NaN || a[k].significand == 0 || b[k].significand == 0)
      nan = true;
    else
      infinite((a[k].significand < 0) != (b[k].significand < 0));
  }
  if (nan || (plus && minus))
    return nanBits(unit.accumulator);
  uint32_t infinity = unit.accumulator == AccumulatorType::F16 ? 0x7C00 : 0x7F800000;
  return minus ? infinity | (unit.accumulator == AccumulatorType::F16 ? 0x8000 : 0x80000000) : infinity;
}

/// value * 2^shift toward zero. Terms are at most 48 bits and rise by at most F, so that 64 bits hold every sum.
int64_t shifted(int64_t value, int shift) {
  if (shift >= 0)
    return value << shift;
  return shift < -62 ? 0 : value / (int64_t(1) << -shift);
}

} // namespace

uint32_t multiplyBlock(const MatrixUnit &unit, std::span<const Parts> a, std::span<const Parts> b,
                       uint32_t c) {
  assert(a.size() == b.size());
  if (unit.accumulator == AccumulatorType::S32)
    return integerBlock(unit, a, b, c);
  FloatFormat output = unit.accumulator == AccumulatorType::F16 ? f16Format : f32Format;
  Parts sum = parts(output, c);
  constexpr int noExponent = -126;
  int largest = sum.significand ? std::max<int>(sum.exponent, noExponent) : noExponent;
  bool special = sum.kind != Parts::Kind::Finite;
  for (size_t k = 0; k < a.size(); ++k) {
    special |= a[k].kind != Parts::Kind::Finite || b[k].kind != Parts::Kind::Finite;
    if (a[k].significand && b[k].significand)
      largest = std::max(largest, a[k].exponent + b[k].exponent);
  }
  if (special)
    return specialBlock(unit, a, b, sum);
  int fraction = formatOf(unit.a).fractionBits + formatOf(unit.b).fractionBits;
  int64_t total = shifted(sum.significand, sum.exponent - largest + unit.fraction - output.fractionBits);
  for (size_t k = 0; k < a.size(); ++k)
    total += shifted(int64_t(a[k].significand) * b[k].significand,
                     a[k].exponent + b[k].exponent - largest + unit.fraction - fraction);
  if (unit.accumulator == AccumulatorType::F16)
    return encode(f16Format, total, largest - unit.fraction, RoundTo::Nearest);
  FloatFormat kept{f32Format.exponentBits, unit.outputFraction};
  return encode(kept, total, largest - unit.fraction, RoundTo::Zero)
         << (f32Format.fractionBits - unit.outputFraction);
}

uint32_t multiply(const MatrixUnit &unit, std::span<const Parts> a, std::span<const Parts> b, uint32_t c) {
  size_t block = size_t(32 / elementBytes(unit.a));
  for (size_t k = 0; k < a.size(); k += block) {
    size_t count = std::min(block, a.size() - k);
    c = multiplyBlock(unit, a.subspan(k, count), b.subspan(k, count), c);
  }
  return c;
}

} // namespace tilegym::sim
