// SPDX-License-Identifier: MIT
// One row a dtype; every question about a dtype is answered from this table.
#include "compiler/semantics/DType.h"

namespace tilegym {
namespace {

struct Row {
  std::string_view name;
  unsigned bytes;
  FloatFormat format; ///< of floats only
};

constexpr FloatFormat noFloat = {11, 52, true};

// In the order of the enum.
constexpr std::array<Row, 16> rows = {{
    {"f64", 8, {11, 52, true}},
    {"f32", 4, {8, 23, true}},
    {"f16", 2, {5, 10, true}},
    {"bf16", 2, {8, 7, true}},
    {"f8e4m3", 1, {4, 3, false}},
    {"f8e5m2", 1, {5, 2, true}},
    {"i8", 1, noFloat},
    {"i16", 2, noFloat},
    {"i32", 4, noFloat},
    {"i64", 8, noFloat},
    {"u8", 1, noFloat},
    {"u16", 2, noFloat},
    {"u32", 4, noFloat},
    {"u64", 8, noFloat},
    {"bool", 1, noFloat},
    {"index", 8, noFloat},
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

FloatFormat floatFormat(DType type) { return row(type).format; }

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
           a.minExponent() - a.fractionBits >= b.minExponent() - b.fractionBits && (!a.hasInfinity || b.hasInfinity);
  }
  if (isFloat(to)) {
    // An integer is exact in a float when its magnitude bits fit the significand, or when the extreme is a power of two.
    int magnitudeBits = isBool(from) ? 1 : static_cast<int>(sizeInBits(from)) - (isSigned(from) ? 1 : 0);
    FloatFormat f = floatFormat(to);
    return magnitudeBits <= f.precision() && magnitudeBits <= f.maxExponent();
  }
  return minInt(from) >= minInt(to) && maxInt(from) <= maxInt(to);
}

} // namespace tilegym
