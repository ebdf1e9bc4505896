// SPDX-License-Identifier: MIT
// Sums of products as tensor cores make them.
#include "compiler/simulator/MatrixMultiply.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdlib>

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

uint32_t integerBlock(const MatrixUnit &unit, const OperandBlock &a, const OperandBlock &b, uint32_t c) {
  auto sum = int64_t(int32_t(c));
  for (size_t k = 0; k < 32; ++k)
    sum += int64_t(a.significand[k] * b.significand[k]);
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

/// value * 2^shift toward zero. An accumulator has 24 bits and rises by 2 at most.
int64_t shifted(int64_t value, int shift) {
  if (shift >= 0)
    return value << shift;
  return shift < -62 ? 0 : value / (int64_t(1) << -shift);
}

/// The products' sum in units of 2^(largest - F), each cut toward zero; `largest` becomes the greatest exponent. A product has at most 22 bits and
/// as many fraction bits less than F, so each term fits 32.
template <size_t count>
int64_t sumProducts(const OperandBlock &a, const OperandBlock &b, int rise, int &largest) {
  std::array<int32_t, count> product, exponent;
  int32_t top = largest;
  for (size_t k = 0; k < count; ++k) {
    product[k] = a.significand[k] * b.significand[k];
    exponent[k] = a.exponent[k] + b.exponent[k];
    top = std::max(top, exponent[k]);
  }
  int64_t total = 0;
  for (size_t k = 0; k < count; ++k) {
    int32_t sign = product[k] >> 31;
    uint32_t magnitude = uint32_t((product[k] ^ sign) - sign) << rise;
    auto cut = int32_t(magnitude >> std::min(top - exponent[k], 31));
    total += (cut ^ sign) - sign;
  }
  largest = top;
  return total;
}

constexpr int32_t belowAll = -2048; // as an exponent

} // namespace

OperandBlock::OperandBlock(std::span<const Parts> row) : elements(row) {
  exponent.fill(belowAll);
  for (size_t k = 0; k < row.size(); ++k) {
    significand[k] = row[k].significand;
    if (row[k].significand)
      exponent[k] = row[k].exponent;
    isFinite &= row[k].kind == Parts::Kind::Finite;
  }
}

uint32_t multiplyBlock(const MatrixUnit &unit, const OperandBlock &a, const OperandBlock &b, uint32_t c) {
  assert(a.elements.size() == b.elements.size());
  if (unit.accumulator == AccumulatorType::S32)
    return integerBlock(unit, a, b, c);
  FloatFormat output = unit.accumulator == AccumulatorType::F16 ? f16Format : f32Format;
  Parts sum = parts(output, c);
  if (!a.isFinite || !b.isFinite || sum.kind != Parts::Kind::Finite)
    return specialBlock(unit, a.elements, b.elements, sum);
  constexpr int noExponent = -126;
  int largest = sum.significand ? std::max<int>(sum.exponent, noExponent) : noExponent;
  int rise = unit.fraction - formatOf(unit.a).fractionBits - formatOf(unit.b).fractionBits;
  size_t count = a.elements.size();
  int64_t total = count <= 8    ? sumProducts<8>(a, b, rise, largest)
                  : count <= 16 ? sumProducts<16>(a, b, rise, largest)
                                : sumProducts<32>(a, b, rise, largest);
  total += shifted(sum.significand, sum.exponent - largest + unit.fraction - output.fractionBits);
  if (unit.accumulator == AccumulatorType::F16)
    return encode(f16Format, total, largest - unit.fraction, RoundTo::Nearest);
  FloatFormat kept{f32Format.exponentBits, unit.outputFraction};
  return encode(kept, total, largest - unit.fraction, RoundTo::Zero)
         << (f32Format.fractionBits - unit.outputFraction);
}

/// As f16 has it, where e4m3's subnormals are normal.
static Parts asHalf(ElementType type, Parts element) {
  if (type == ElementType::E4M3)
    for (; element.significand && std::abs(element.significand) < 8; --element.exponent)
      element.significand *= 2;
  return element;
}

uint32_t multiplyBytesOfWarp(std::span<const Parts> a, std::span<const Parts> b, ElementType typeA,
                             ElementType typeB, uint32_t c) {
  MatrixUnit unit = warpUnit(typeA, typeB, AccumulatorType::F32);
  uint32_t sum = 0;
  for (size_t pair : {0, 2}) {
    std::array<Parts, 16> left, right;
    for (size_t i = 0; i < 16; ++i) {
      size_t k = i / 2 * 4 + pair + i % 2;
      left[i] = asHalf(typeA, a[k]);
      right[i] = asHalf(typeB, b[k]);
    }
    sum = multiplyBlock(unit, OperandBlock(left), OperandBlock(right), sum);
  }
  float total = std::bit_cast<float>(sum) + std::bit_cast<float>(c);
  return std::isnan(total) ? nanBits(AccumulatorType::F32) : std::bit_cast<uint32_t>(total);
}

uint32_t multiply(const MatrixUnit &unit, std::span<const Parts> a, std::span<const Parts> b, uint32_t c) {
  size_t block = size_t(32 / elementBytes(unit.a));
  for (size_t k = 0; k < a.size(); k += block) {
    size_t count = std::min(block, a.size() - k);
    c = multiplyBlock(unit, OperandBlock(a.subspan(k, count)), OperandBlock(b.subspan(k, count)), c);
  }
  return c;
}

} // namespace tilegym::sim
