// SPDX-License-Identifier: MIT
// What tensor cores multiply: the element types, taken apart exactly.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilegym::sim {

/// Numbered as the dialect numbers them; matrices hold those from F16 on that are no F32 or F64.
enum class ElementType : uint8_t { U32, S32, U64, S64, F16, BF16, F32, F64, TF32, E4M3, E5M2, S8, U8 };

constexpr int elementBytes(ElementType type) {
  constexpr int bytes[] = {4, 4, 8, 8, 2, 2, 4, 8, 4, 1, 1, 1, 1};
  return bytes[size_t(type)];
}
constexpr bool isInteger(ElementType type) { return type == ElementType::S8 || type == ElementType::U8; }
const char *name(ElementType type);

/// A number as significand * 2^(exponent - fraction bits of its format); subnormals keep the smallest exponent, as the hardware's do.
struct Parts {
  enum class Kind : uint8_t { Finite, Infinite, NaN };
  int32_t significand = 0; // its sign only, where infinite
  int16_t exponent = 0;
  Kind kind = Kind::Finite;
};

/// A binary float format: sign, exponent of `exponentBits` with IEEE's bias, `fractionBits`.
struct FloatFormat {
  int exponentBits;
  int fractionBits;
  bool hasInfinity = true; // e4m3 has none, and one NaN a sign

  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr int least() const { return 1 - bias(); }
};
inline constexpr FloatFormat f32Format{8, 23}, f16Format{5, 10}, bf16Format{8, 7}, tf32Format{8, 10},
    e4m3Format{4, 3, false}, e5m2Format{5, 2};

Parts parts(FloatFormat format, uint32_t bits);

/// The format of a float type that matrices hold, or f32.
FloatFormat formatOf(ElementType type);

/// An element as memory or a register holds it; tf32 is the upper 19 bits of a word, the rest is ignored.
Parts elementParts(ElementType type, uint32_t bits);

enum class RoundTo : uint8_t { Nearest, Zero };
/// The bits of sign * magnitude * 2^exponent in a format; too large gives infinity in either direction, nought is positive.
uint32_t encode(FloatFormat format, __int128 value, int exponent, RoundTo round);

/// f16 and bf16 values as f32 (exact), and back (to nearest even).
float widen(FloatFormat format, uint32_t bits);
uint32_t narrow(FloatFormat format, float value);

} // namespace tilegym::sim
