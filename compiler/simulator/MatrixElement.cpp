// SPDX-License-Identifier: MIT
// Float formats taken apart and put together.
#include "compiler/simulator/MatrixElement.h"

#include <bit>
#include <cassert>

namespace tilegym::sim {

const char *name(ElementType type) {
  static constexpr const char *names[] = {"u32", "s32",  "u64",  "s64",  "f16", "bf16", "f32",
                                          "f64", "tf32", "e4m3", "e5m2", "s8",  "u8"};
  return names[size_t(type)];
}

Parts parts(FloatFormat format, uint32_t bits) {
  uint32_t fraction = bits & ((1u << format.fractionBits) - 1);
  uint32_t exponent = bits >> format.fractionBits & ((1u << format.exponentBits) - 1);
  bool negative = bits >> (format.fractionBits + format.exponentBits) & 1;
  bool top = exponent == (1u << format.exponentBits) - 1;
  Parts out;
  if (top && format.hasInfinity) {
    out.kind = fraction ? Parts::Kind::NaN : Parts::Kind::Infinite;
    out.significand = negative ? -1 : 1;
    return out;
  }
  if (top && fraction == (1u << format.fractionBits) - 1) {
    out.kind = Parts::Kind::NaN;
    return out;
  }
  auto magnitude = int32_t(exponent ? fraction | 1u << format.fractionBits : fraction);
  out.significand = negative ? -magnitude : magnitude;
  out.exponent = int16_t(exponent ? int(exponent) - format.bias() : format.least());
  return out;
}

FloatFormat formatOf(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return f16Format;
  case ElementType::BF16:
    return bf16Format;
  case ElementType::TF32:
    return tf32Format;
  case ElementType::E4M3:
    return e4m3Format;
  case ElementType::E5M2:
    return e5m2Format;
  case ElementType::F32:
    return f32Format;
  default:
    assert(false && "no float format of matrices");
    return f32Format;
  }
}

Parts elementParts(ElementType type, uint32_t bits) {
  switch (type) {
  case ElementType::S8:
    return {.significand = int8_t(bits)};
  case ElementType::U8:
    return {.significand = int32_t(bits & 0xFF)};
  case ElementType::TF32:
    return parts(tf32Format, bits >> 13);
  default:
    return parts(formatOf(type), bits);
  }
}

namespace {

int bitLength(uint64_t x) { return std::bit_width(x); }
int bitLength(unsigned __int128 x) {
  auto high = uint64_t(x >> 64);
  return high ? 64 + std::bit_width(high) : std::bit_width(uint64_t(x));
}

/// The bits of magnitude * 2^exponent, without sign; `Wide` has room for the magnitude twice over the format's digits.
template <class Wide>
uint32_t encodeMagnitude(FloatFormat format, Wide magnitude, int exponent, RoundTo round) {
  // The exponent of the leading bit, or the least one: a subnormal result keeps fewer bits.
  int lead = bitLength(magnitude) - 1 + exponent;
  int scale = lead < format.least() ? format.least() : lead;
  int drop = scale - format.fractionBits - exponent; // bits below the result's last
  if (drop > 0) {
    if (drop > bitLength(magnitude) + 1)
      return 0;
    Wide kept = drop < int(sizeof(Wide)) * 8 ? magnitude >> drop : 0;
    Wide half = Wide(1) << (drop - 1), rest = magnitude - (drop < int(sizeof(Wide)) * 8 ? kept << drop : 0);
    magnitude = kept;
    if (round == RoundTo::Nearest && (rest > half || (rest == half && (kept & 1))))
      ++magnitude;
  } else {
    magnitude <<= -drop;
  }
  // A carry out of the fraction runs into the exponent by itself, from subnormal to normal too.
  uint64_t biased = uint64_t(scale + format.bias() - 1);
  uint64_t bits = (biased << format.fractionBits) + uint64_t(magnitude);
  uint64_t infinity = ((uint64_t(1) << format.exponentBits) - 1) << format.fractionBits;
  return uint32_t(bits < infinity ? bits : infinity);
}

} // namespace

uint32_t encode(FloatFormat format, __int128 value, int exponent, RoundTo round) {
  using Wide = unsigned __int128;
  if (value == 0)
    return 0;
  uint32_t sign = value < 0 ? 1u << (format.fractionBits + format.exponentBits) : 0;
  Wide magnitude = value < 0 ? -static_cast<Wide>(value) : static_cast<Wide>(value);
  if (magnitude >> 62)
    return sign | encodeMagnitude<Wide>(format, magnitude, exponent, round);
  return sign | encodeMagnitude<uint64_t>(format, uint64_t(magnitude), exponent, round);
}

float widen(FloatFormat format, uint32_t bits) {
  Parts p = parts(format, bits);
  uint32_t sign = bits >> (format.fractionBits + format.exponentBits) & 1;
  if (p.kind == Parts::Kind::NaN)
    return std::bit_cast<float>(0x7FFFFFFFu);
  if (p.kind == Parts::Kind::Infinite)
    return std::bit_cast<float>(0x7F800000u | sign << 31);
  return std::bit_cast<float>(
      encode(f32Format, p.significand, p.exponent - format.fractionBits, RoundTo::Nearest) | sign << 31);
}

uint32_t narrow(FloatFormat format, float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  Parts p = parts(f32Format, bits);
  uint32_t sign = (bits >> 31) << (format.fractionBits + format.exponentBits);
  uint32_t magnitudeMask = (1u << (format.fractionBits + format.exponentBits)) - 1;
  if (p.kind == Parts::Kind::NaN)
    return magnitudeMask;
  if (p.kind == Parts::Kind::Infinite)
    return sign | (magnitudeMask >> format.fractionBits << format.fractionBits);
  return sign | encode(format, p.significand, p.exponent - f32Format.fractionBits, RoundTo::Nearest);
}

} // namespace tilegym::sim
