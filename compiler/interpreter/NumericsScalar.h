// SPDX-License-Identifier: MIT
// The operations on single values whose meaning C++ does not give: floor division, shifts, min and max with
// NaN and signed zeros, integer powers. Used by the array loops; written so that each fits on a few lines and
// can be read as its definition.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tilegym::interp::scalar {

/// Arithmetic in the unsigned type (at least 32 bits wide, so that nothing is promoted to int) wraps without
/// overflow.
template <class T> using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
template <class T> Wrapping<T> wrapping(T value) { return static_cast<Wrapping<T>>(value); }

template <class T> T floorDiv(T a, T b) {
  if (b == 0)
    return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) // the least integer has no positive counterpart
      return static_cast<T>(0 - wrapping(a));
    T quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
  }
  return a / b;
}

template <class T> T floorMod(T a, T b) {
  if (b == 0)
    return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1)
      return 0;
    T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  return a % b;
}

template <class T> T ceilDiv(T a, T b) {
  return static_cast<T>(wrapping(floorDiv(a, b)) + (floorMod(a, b) != 0));
}

template <class T> T shiftLeft(T a, T count) {
  if (wrapping(count) >= sizeof(T) * 8)
    return 0;
  return static_cast<T>(wrapping(a) << wrapping(count));
}

template <class T> T shiftRight(T a, T count) {
  if (wrapping(count) >= sizeof(T) * 8)
    return a < 0 ? T(-1) : T(0);
  return a >> count;
}

template <class T> T power(T base, T exponent) {
  if (std::is_signed_v<T> && exponent < 0) {
    if (base == 1)
      return 1;
    return base == T(-1) ? (exponent & 1 ? T(-1) : T(1)) : T(0);
  }
  Wrapping<T> result = 1, square = wrapping(base);
  for (auto left = wrapping(exponent); left; left >>= 1, square *= square)
    if (left & 1)
      result *= square;
  return static_cast<T>(result);
}

template <class T> T pow2ceil(T value) {
  if (value <= 1)
    return 1;
  int bits = std::bit_width(static_cast<std::make_unsigned_t<T>>(value - 1));
  return bits >= static_cast<int>(sizeof(T)) * 8 - (std::is_signed_v<T> ? 1 : 0)
             ? T(0)
             : static_cast<T>(T(1) << bits);
}

/// -0 below +0; both operands are numbers.
template <class T> bool below(T a, T b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }

template <class T> T minOf(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b))
      return a + b;
    return below(b, a) ? b : a;
  }
  return b < a ? b : a;
}

template <class T> T maxOf(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b))
      return a + b;
    return below(a, b) ? b : a;
  }
  return a < b ? b : a;
}

template <class T> T fminOf(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) ? b : a;
  return minOf(a, b);
}

template <class T> T fmaxOf(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) ? b : a;
  return maxOf(a, b);
}

/// Python's remainder: fmod is exact, and moving it to b's sign rounds at most once.
inline double floatMod(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest == 0)
    return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

/// floor(a / b) of the exact quotient; NaN for infinite a (as in Python and NumPy). By zero it is what `/`
/// gives.
inline double floatFloorDiv(double a, double b) {
  if (b == 0)
    return a / b;
  double rest = std::fmod(a, b);
  // a - rest is a multiple of b, so this quotient is a whole number up to its rounding.
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0))
    quotient -= 1;
  double whole = std::nearbyint(quotient);
  return whole == 0 ? std::copysign(0.0, a / b) : whole;
}

/// e^x / (1 + e^x), from the side that does not overflow.
inline double sigmoid(double x) {
  if (x >= 0)
    return 1 / (1 + std::exp(-x));
  double e = std::exp(x);
  return e / (1 + e);
}

} // namespace tilegym::interp::scalar
