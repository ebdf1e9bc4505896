// SPDX-License-Identifier: MIT
// Decoding tables for the f8 formats and the bit moves for f16.
#include "compiler/interpreter/NumericsElement.h"

#include <array>

namespace tilegym::interp::detail {
namespace {

std::array<float, 256> tableOf(DType type) {
  std::array<float, 256> table{};
  for (unsigned bits = 0; bits < 256; ++bits)
    table[bits] = static_cast<float>(decode(floatFormat(type), bits));
  return table;
}

} // namespace

const float *f8Values(DType type) {
  static const std::array<float, 256> e4m3 = tableOf(DType::F8E4M3);
  static const std::array<float, 256> e5m2 = tableOf(DType::F8E5M2);
  return type == DType::F8E4M3 ? e4m3.data() : e5m2.data();
}

float f16Value(uint16_t bits) {
  // Placed in f32's fields the exponent is 112 too small; multiplying by 2^112 mends it, subnormals included.
  uint32_t magnitude = uint32_t(bits & 0x7fff) << 13;
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  if (magnitude >= uint32_t(0x1f) << 23)
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x7fffff));
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f));
}

} // namespace tilegym::interp::detail
