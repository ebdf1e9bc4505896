// SPDX-License-Identifier: MIT
// The element types of the language and the facts about them that every part asks: size, kind, significand,
// range. `tf32` is a precision of `mma`, not a dtype, so it is not here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tilegym {

enum class DType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3,
  F8E5M2,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  Bool,
  Index
};

inline constexpr std::array<DType, 16> allDTypes = {
    DType::F64, DType::F32, DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2, DType::I8,   DType::I16,
    DType::I32, DType::I64, DType::U8,  DType::U16,  DType::U32,    DType::U64,    DType::Bool, DType::Index};

/// The spelling in a spec: "f32", "bf16", "bool", "index".
std::string_view name(DType type);

/// The dtype a spec's word names; `index` is included though no tensor may be declared with it.
std::optional<DType> parseDType(std::string_view text);

/// Bytes of one stored element. Bool is one byte holding 0 or 1; Index is held as 8 bytes.
unsigned sizeInBytes(DType type);
inline unsigned sizeInBits(DType type) { return sizeInBytes(type) * 8; }

constexpr bool isFloat(DType type) { return type <= DType::F8E5M2; }
constexpr bool isBool(DType type) { return type == DType::Bool; }
constexpr bool isIndex(DType type) { return type == DType::Index; }
/// Signed integers; Index is one of them.
constexpr bool isSigned(DType type) { return (type >= DType::I8 && type <= DType::I64) || isIndex(type); }
constexpr bool isUnsigned(DType type) { return type >= DType::U8 && type <= DType::U64; }
/// Any integer, Index included, Bool not.
constexpr bool isInt(DType type) { return isSigned(type) || isUnsigned(type); }
/// A dtype that a tensor of a signature may have.
constexpr bool isStorage(DType type) { return !isIndex(type); }

/// How a binary float dtype is laid out: sign, exponent, fraction, from the top bit down.
struct FloatFormat {
  uint8_t exponentBits;
  uint8_t fractionBits; ///< stored bits; the significand has one more
  bool hasInfinity;     ///< f8e4m3 has none: the top exponent holds finite values, and NaN is all ones only
  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  /// Significand bits, the hidden one included: f32 has 24.
  constexpr int precision() const { return fractionBits + 1; }
  /// Exponent e of the smallest normal value 2^e.
  constexpr int minExponent() const { return 1 - bias(); }
  /// Exponent e of the largest finite value, which lies in [2^e, 2^(e+1)).
  constexpr int maxExponent() const { return hasInfinity ? bias() : bias() + 1; }
  constexpr int totalBits() const { return 1 + exponentBits + fractionBits; }
};

/// The format of a float dtype; asking it of another dtype is a bug and gives f64's.
constexpr FloatFormat floatFormat(DType type) {
  switch (type) {
  case DType::F32:
    return {8, 23, true};
  case DType::F16:
    return {5, 10, true};
  case DType::BF16:
    return {8, 7, true};
  case DType::F8E4M3:
    return {4, 3, false};
  case DType::F8E5M2:
    return {5, 2, true};
  default:
    return {11, 52, true};
  }
}
/// tf32 as `mma` reads it: f32's exponent, f16's fraction (19 bits, kept in the top of 32).
inline constexpr FloatFormat tf32Format = {8, 10, true};

/// Least and greatest value of an integer dtype or Bool. `max` is unsigned so that u64 fits.
int64_t minInt(DType type);
uint64_t maxInt(DType type);
/// True when integers of the first dtype all are values of the second, so that converting loses nothing.
bool fitsIn(DType from, DType to);

} // namespace tilegym
