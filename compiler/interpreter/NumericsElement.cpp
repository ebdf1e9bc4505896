// SPDX-License-Identifier: MIT
// Decoding tables for the f8 formats.
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

} // namespace tilegym::interp::detail
