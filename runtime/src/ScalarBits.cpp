// SPDX-License-Identifier: MIT
// Small floats by hand, because C++20 has no types for them and the conversions must not round twice.
#include "ScalarBits.h"
#include <bit>
#include <cmath>
#include <cstring>

namespace tilegym::runtime {

using format::DType;

namespace {

struct SmallFloat {
  int exponentBits, fractionBits;
  bool hasInfinity; ///< f8e4m3 has none: all ones is its only NaN, and what lies below are numbers
  bool saturates;
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  uint32_t sign() const { return 1u << (exponentBits + fractionBits); }
  /// The largest finite value's bits.
  uint32_t largest() const { return hasInfinity ? infinity() - 1 : sign() - 2; }
  uint32_t infinity() const { return ((1u << exponentBits) - 1) << fractionBits; }
};

const SmallFloat *smallFloat(uint8_t dtype) {
  static constexpr SmallFloat f16{5, 10, true, false}, bf16{8, 7, true, false}, e4m3{4, 3, false, true},
      e5m2{5, 2, true, true};
  switch (DType(dtype)) {
  case DType::F16:
    return &f16;
  case DType::BF16:
    return &bf16;
  case DType::F8E4M3:
    return &e4m3;
  case DType::F8E5M2:
    return &e5m2;
  default:
    return nullptr;
  }
}

double decode(const SmallFloat &type, uint32_t bits) {
  uint32_t magnitude = bits & (type.sign() - 1);
  int exponent = int(magnitude >> type.fractionBits);
  uint32_t fraction = magnitude & ((1u << type.fractionBits) - 1);
  double value;
  if (magnitude > type.largest())
    value = type.hasInfinity && magnitude == type.infinity() ? INFINITY : NAN;
  else if (exponent)
    value =
        std::ldexp(double((1u << type.fractionBits) | fraction), exponent - type.bias() - type.fractionBits);
  else
    value = std::ldexp(double(fraction), 1 - type.bias() - type.fractionBits);
  return bits & type.sign() ? -value : value;
}

uint32_t encode(const SmallFloat &type, double value) {
  uint32_t sign = std::signbit(value) ? type.sign() : 0;
  if (std::isnan(value))
    return type.hasInfinity ? type.infinity() | 1u << (type.fractionBits - 1) : type.sign() - 1;
  double magnitude = std::fabs(value);
  uint32_t largest = type.largest(), above = type.saturates ? largest : type.infinity();
  if (std::isinf(magnitude))
    return sign | above;
  int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), 1 - type.bias()) : 1 - type.bias();
  // In units of the last place; nearbyint rounds to nearest even, and a carry moves into the exponent by itself.
  double units = std::nearbyint(std::ldexp(magnitude, type.fractionBits - exponent));
  if (units >= std::ldexp(1.0, 40))
    return sign | above;
  uint64_t bits = uint64_t(units) + (uint64_t(exponent + type.bias() - 1) << type.fractionBits);
  return sign | (bits > largest ? above : uint32_t(bits));
}

template <class T> T readAs(const void *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

} // namespace

bool isFloatType(uint8_t dtype) { return dtype <= uint8_t(DType::F8E5M2); }

Cell readScalar(const void *from, uint8_t dtype) {
  Cell c{};
  if (const SmallFloat *type = smallFloat(dtype)) {
    c.f = decode(*type, format::bytesOf(DType(dtype)) == 1 ? readAs<uint8_t>(from) : readAs<uint16_t>(from));
    return c;
  }
  switch (DType(dtype)) {
  case DType::F64:
    c.f = readAs<double>(from);
    break;
  case DType::F32:
    c.f = readAs<float>(from);
    break;
  case DType::I8:
    c.i = readAs<int8_t>(from);
    break;
  case DType::I16:
    c.i = readAs<int16_t>(from);
    break;
  case DType::I32:
    c.i = readAs<int32_t>(from);
    break;
  case DType::U8:
    c.i = readAs<uint8_t>(from);
    break;
  case DType::Bool: // any byte that is not zero is true
    c.i = readAs<uint8_t>(from) != 0;
    break;
  case DType::U16:
    c.i = readAs<uint16_t>(from);
    break;
  case DType::U32:
    c.i = readAs<uint32_t>(from);
    break;
  default:
    c.i = readAs<int64_t>(from);
    break;
  }
  return c;
}

uint64_t scalarBits(Cell value, uint8_t dtype) {
  if (const SmallFloat *type = smallFloat(dtype))
    return encode(*type, value.f);
  if (DType(dtype) == DType::F64)
    return std::bit_cast<uint64_t>(value.f);
  if (DType(dtype) == DType::F32)
    return std::bit_cast<uint32_t>(float(value.f));
  return uint64_t(value.i);
}

} // namespace tilegym::runtime
