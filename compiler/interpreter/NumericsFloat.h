// SPDX-License-Identifier: MIT
// Encoding and decoding of every float format, rounded exactly once. All conversions and all low-precision
// arithmetic of the interpreter end here, so this is where "bit-exact" is decided.
//
// NaN: a NaN goes in, the format's positive quiet NaN comes out; sign and payload of a NaN are no part of the
// contract.
#pragma once

#include "compiler/semantics/Checked.h"

#include <cstdint>

namespace tilegym::interp {

using sem::Rounding;

/// What overflow gives. Saturating: the largest finite value, for an infinite input too (as the GPU's
/// `satfinite` does). Otherwise infinity, or NaN in a format without infinity. Rounding toward zero never
/// leaves the finite range.
inline bool saturatesByDefault(DType type) { return type == DType::F8E4M3 || type == DType::F8E5M2; }

uint64_t quietNaN(FloatFormat format);
uint64_t largestFinite(FloatFormat format);

/// A finite real number: (-1)^negative * significand * 2^exponent.
struct Real {
  bool negative = false;
  uint64_t significand = 0;
  int exponent = 0;
};

/// Bits of `real` in `format`, rounded once.
uint64_t encode(FloatFormat format, Real real, Rounding rounding, bool saturate);
/// Bits of a double (inf and NaN included) in `format`, rounded once.
uint64_t encodeDouble(FloatFormat format, double value, Rounding rounding, bool saturate);
/// Bits of a 64-bit integer in `format`, rounded once.
uint64_t encodeInt(FloatFormat format, int64_t value, Rounding rounding, bool saturate);
uint64_t encodeUnsigned(FloatFormat format, uint64_t value, Rounding rounding, bool saturate);

/// The value of bits in `format`; exact, as f64 holds every value of every format.
double decode(FloatFormat format, uint64_t bits);

/// f32 rounded to the values tf32 has (f32 exponent, 10 fraction bits), still as f32.
float roundToTf32(float value, Rounding rounding = Rounding::NearestEven);

/// Rounds to an integer; the result is a double with no fraction.
double roundToIntegral(double value, Rounding rounding);
/// Float to integer: rounds (language default: toward zero), saturates, NaN gives 0. Bool: whether it is not
/// zero.
int64_t toInt(double value, DType type, Rounding rounding = Rounding::TowardZero);
uint64_t toUnsigned(double value, DType type, Rounding rounding = Rounding::TowardZero);

/// Nearest-even encoding with the format known at compile time: the path for whole arrays. Same results as
/// encodeDouble.
template <DType type> uint64_t encodeNearest(double value, bool saturate = saturatesByDefault(type));

/// a*b + c with one rounding to odd in f64: rounding the result again to at most 51 bits is as if done once.
/// Exact for operands of f16, bf16 and the f8 formats, whose products f64 holds.
double fmaToOdd(double a, double b, double c);

} // namespace tilegym::interp
