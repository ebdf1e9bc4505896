// SPDX-License-Identifier: MIT
// One row a dtype: its spelling and size.
#include "compiler/semantics/DType.h"

namespace tilegym {
namespace {

struct Row {
  std::string_view name;
  unsigned bytes;
};

// In the order of the enum.
constexpr std::array<Row, 16> rows = {{
    {"f64", 8},
    {"f32", 4},
    {"f16", 2},
    {"bf16", 2},
    {"f8e4m3", 1},
    {"f8e5m2", 1},
    {"i8", 1},
    {"i16", 2},
    {"i32", 4},
    {"i64", 8},
    {"u8", 1},
    {"u16", 2},
    {"u32", 4},
    {"u64", 8},
    {"bool", 1},
    {"index", 8},
}};

const Row &row(DType type) { return rows[static_cast<size_t>(type)]; }

} // namespace

std::string_view name(DType type) { return row(type).name; }

std::optional<DType> parseDType(std::string_view text) {
  for (DType type : allDTypes)
    if (row(type).name == text)
      return type;
  return std::nullopt;
}

unsigned sizeInBytes(DType type) { return row(type).bytes; }

int64_t minInt(DType type) {
  if (!isSigned(type))
    return 0;
  return static_cast<int64_t>(~uint64_t(0) << (sizeInBits(type) - 1));
}

uint64_t maxInt(DType type) {
  if (isBool(type))
    return 1;
  return ~uint64_t(0) >> (64 - sizeInBits(type) + (isSigned(type) ? 1 : 0));
}

bool fitsIn(DType from, DType to) {
  if (from == to)
    return true;
  if (isFloat(from)) {
    if (!isFloat(to))
      return false;
    FloatFormat a = floatFormat(from), b = floatFormat(to);
    // The smallest subnormal counts too: it is 2^(minExponent - fractionBits).
    return a.precision() <= b.precision() && a.maxExponent() <= b.maxExponent() &&
           a.minExponent() - a.fractionBits >= b.minExponent() - b.fractionBits &&
           (!a.hasInfinity || b.hasInfinity);
  }
  if (isFloat(to)) {
    // An integer is exact in a float when its magnitude bits fit the significand, or when the extreme is a
    // power of two.
    int magnitudeBits = isBool(from) ? 1 : static_cast<int>(sizeInBits(from)) - (isSigned(from) ? 1 : 0);
    FloatFormat f = floatFormat(to);
    return magnitudeBits <= f.precision() && magnitudeBits <= f.maxExponent();
  }
  return minInt(from) >= minInt(to) && maxInt(from) <= maxInt(to);
}

} // namespace tilegym
