// SPDX-License-Identifier: MIT
// One rounding routine for every format and mode, and a fast one for round to nearest that tests hold equal
// to it.
#include "compiler/interpreter/NumericsFloat.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tilegym::interp {
namespace {

/// Where the part that is cut off lies, in units of the last kept bit.
enum class Rest : uint8_t { Zero, BelowHalf, Half, AboveHalf };

Rest restOf(uint64_t significand, int shift) {
  if (shift <= 0)
    return Rest::Zero;
  if (shift > 64)
    return Rest::BelowHalf;
  uint64_t half = uint64_t(1) << (shift - 1);
  uint64_t cut = significand & (half | (half - 1));
  if (cut == 0)
    return Rest::Zero;
  if (cut == half)
    return Rest::Half;
  return cut > half ? Rest::AboveHalf : Rest::BelowHalf;
}

bool awayFromZero(Rest rest, bool odd, bool negative, Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return rest == Rest::AboveHalf || (rest == Rest::Half && odd);
  case Rounding::TowardZero:
    return false;
  case Rounding::Down:
    return negative && rest != Rest::Zero;
  case Rounding::Up:
    return !negative && rest != Rest::Zero;
  }
  return false;
}

uint64_t signBit(FloatFormat format, bool negative) { return uint64_t(negative) << (format.totalBits() - 1); }

uint64_t infinityOrNaN(FloatFormat format, bool negative) {
  if (!format.hasInfinity)
    return quietNaN(format);
  return signBit(format, negative) | ((uint64_t(1) << format.exponentBits) - 1) << format.fractionBits;
}

uint64_t overflow(FloatFormat format, bool negative, Rounding rounding, bool saturate) {
  bool inward = rounding == Rounding::TowardZero || rounding == (negative ? Rounding::Up : Rounding::Down);
  if (saturate || inward)
    return signBit(format, negative) | largestFinite(format);
  return infinityOrNaN(format, negative);
}

Real realOf(double finite) {
  uint64_t bits = std::bit_cast<uint64_t>(finite);
  uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  int field = static_cast<int>(bits >> 52 & 0x7ff);
  Real real;
  real.negative = bits >> 63;
  real.significand = field ? fraction | uint64_t(1) << 52 : fraction;
  real.exponent = (field ? field : 1) - 1075;
  return real;
}

} // namespace

uint64_t quietNaN(FloatFormat format) {
  uint64_t magnitude = (uint64_t(1) << (format.totalBits() - 1)) - 1;
  if (!format.hasInfinity)
    return magnitude; // all ones is the only NaN
  return magnitude ^ ((uint64_t(1) << (format.fractionBits - 1)) - 1);
}

uint64_t largestFinite(FloatFormat format) {
  uint64_t top = (uint64_t(1) << (format.totalBits() - 1)) - 1;
  return format.hasInfinity ? top - (uint64_t(1) << format.fractionBits) : top - 1;
}

uint64_t encode(FloatFormat format, Real real, Rounding rounding, bool saturate) {
  if (real.significand == 0)
    return signBit(format, real.negative);
  int valueExponent = real.exponent + 63 - std::countl_zero(real.significand);
  if (valueExponent > format.maxExponent())
    return overflow(format, real.negative, rounding, saturate);
  int scale = valueExponent < format.minExponent() ? format.minExponent() : valueExponent;
  int shift = scale - format.fractionBits - real.exponent;
  uint64_t kept = shift >= 64 ? 0 : shift >= 0 ? real.significand >> shift : real.significand << -shift;
  kept += awayFromZero(restOf(real.significand, shift), kept & 1, real.negative, rounding);
  // A carry out of the fraction runs into the exponent field, which is what it should do. A subnormal has
  // field 0.
  uint64_t magnitude = kept + (uint64_t(scale - format.minExponent()) << format.fractionBits);
  if (magnitude > largestFinite(format))
    return overflow(format, real.negative, rounding, saturate);
  return signBit(format, real.negative) | magnitude;
}

uint64_t encodeDouble(FloatFormat format, double value, Rounding rounding, bool saturate) {
  if (std::isnan(value))
    return quietNaN(format);
  if (std::isinf(value))
    return saturate ? signBit(format, value < 0) | largestFinite(format) : infinityOrNaN(format, value < 0);
  return encode(format, realOf(value), rounding, saturate);
}

uint64_t encodeInt(FloatFormat format, int64_t value, Rounding rounding, bool saturate) {
  Real real;
  real.negative = value < 0;
  real.significand = value < 0 ? uint64_t(0) - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return encode(format, real, rounding, saturate);
}

uint64_t encodeUnsigned(FloatFormat format, uint64_t value, Rounding rounding, bool saturate) {
  Real real;
  real.significand = value;
  return encode(format, real, rounding, saturate);
}

double decode(FloatFormat format, uint64_t bits) {
  uint64_t magnitude = bits & ((uint64_t(1) << (format.totalBits() - 1)) - 1);
  bool negative = bits >> (format.totalBits() - 1) & 1;
  if (magnitude > largestFinite(format)) {
    bool infinite = format.hasInfinity && magnitude == largestFinite(format) + 1;
    double special =
        infinite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    return negative && infinite ? -special : special;
  }
  uint64_t fraction = magnitude & ((uint64_t(1) << format.fractionBits) - 1);
  int field = static_cast<int>(magnitude >> format.fractionBits);
  if (field)
    fraction |= uint64_t(1) << format.fractionBits;
  double value = std::ldexp(static_cast<double>(fraction),
                            (field ? field : 1) - 1 + format.minExponent() - format.fractionBits);
  return negative ? -value : value;
}

float roundToTf32(float value, Rounding rounding) {
  uint64_t bits = encodeDouble(tf32Format, value, rounding, false);
  return std::bit_cast<float>(static_cast<uint32_t>(bits << 13));
}

double roundToIntegral(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return std::nearbyint(value); // the process keeps the default mode: ties to even
  case Rounding::TowardZero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  }
  return value;
}

int64_t toInt(double value, DType type, Rounding rounding) {
  if (!isSigned(type))
    return static_cast<int64_t>(toUnsigned(value, type, rounding));
  if (std::isnan(value))
    return 0;
  double integral = roundToIntegral(value, rounding);
  double limit = std::ldexp(1.0, static_cast<int>(sizeInBits(type)) - 1);
  if (integral >= limit)
    return static_cast<int64_t>(maxInt(type));
  return integral <= -limit ? minInt(type) : static_cast<int64_t>(integral);
}

uint64_t toUnsigned(double value, DType type, Rounding rounding) {
  if (isBool(type))
    return value != 0; // NaN is not zero
  if (std::isnan(value))
    return 0;
  double integral = roundToIntegral(value, rounding);
  if (integral >= std::ldexp(1.0, static_cast<int>(sizeInBits(type))))
    return maxInt(type);
  return integral <= 0 ? 0 : static_cast<uint64_t>(integral);
}

template <DType type> uint64_t encodeNearest(double value, bool saturate) {
  constexpr FloatFormat format = floatFormat(type);
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint64_t magnitude = bits & ~(uint64_t(1) << 63);
  if (magnitude >= uint64_t(0x7ff) << 52)
    return encodeDouble(format, value, Rounding::NearestEven, saturate);
  constexpr uint64_t minNormal = static_cast<uint64_t>(format.minExponent() + 1023) << 52;
  uint64_t result;
  if (magnitude < minNormal) {
    // Adding 2^k makes the hardware round at the subnormals' unit; the integer difference is the fraction.
    constexpr uint64_t unit = static_cast<uint64_t>(format.minExponent() - format.fractionBits + 52 + 1023)
                              << 52;
    result = std::bit_cast<uint64_t>(std::bit_cast<double>(magnitude) + std::bit_cast<double>(unit)) - unit;
  } else {
    constexpr int cut = 52 - format.fractionBits;
    const uint64_t odd = magnitude >> cut & 1;
    const uint64_t rebased = magnitude - (static_cast<uint64_t>(format.minExponent() - 1 + 1023) << 52);
    result = (rebased + (uint64_t(1) << (cut - 1)) - 1 + odd) >> cut;
  }
  if (result > largestFinite(format))
    return overflow(format, bits >> 63, Rounding::NearestEven, saturate);
  return result | (bits >> 63) << (format.totalBits() - 1);
}

template uint64_t encodeNearest<DType::F16>(double, bool);
template uint64_t encodeNearest<DType::BF16>(double, bool);
template uint64_t encodeNearest<DType::F8E4M3>(double, bool);
template uint64_t encodeNearest<DType::F8E5M2>(double, bool);

double fmaToOdd(double a, double b, double c) {
  double product = a * b;
  double sum = product + c;
  if (!std::isfinite(sum))
    return sum;
  // Knuth's exact error of the addition.
  double part = sum - product;
  double error = (product - (sum - part)) + (c - part);
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1))
    return sum;
  // The exact value lies between two doubles: take the odd one.
  bool outward = (error > 0) == (sum > 0);
  return std::bit_cast<double>(outward ? bits + 1 : bits - 1);
}

} // namespace tilegym::interp
