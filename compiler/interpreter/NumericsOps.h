// SPDX-License-Identifier: MIT
// Elementwise operations over arrays, one meaning a dtype. The tables say what each line of the numerics
// contract means in bits; a backend must give the same, or stay within the stated bound.
//
// Integers wrap. `//` and `%` floor on signed; by zero both give 0 (NumPy's answer; the interpreter's
// sanitizer reports it first); the least integer // -1 wraps to itself. A shift by the width or more, or by a
// negative count, moves every bit out: `<<` and unsigned `>>` give 0, signed `>>` gives 0 or -1. Integer
// `pow` by a negative exponent is 1 // base^n truncated: 0 but for bases 1 and -1, and 0 for base 0.
//
// Floats: + - * / sqrt fma are rounded once in the dtype. `%` has the sign of its right side (Python's), its
// remainder is exact before one rounding; `//` is the floor of the exact quotient (exact to 2^24 in f32 and
// narrower, to 2^51 in f64; within 1 ulp beyond). min and max propagate NaN, fmin and fmax ignore it; all
// four order -0 below +0. Results in f8 saturate, as conversions to f8 do.
//
// Transcendentals are computed in f64 and rounded once: f64 within 2 ulp (pow, sigmoid, rsqrt, exp2, tanh,
// erf included), f32 and narrower within 0.51 ulp of the exact value. NaN in, NaN out, but for pow(1, x) =
// pow(x, 0) = 1.
#pragma once

#include "compiler/interpreter/NumericsConvert.h"

namespace tilegym::interp {

enum class UnaryOp : uint8_t {
  Neg,
  Abs,
  Not, ///< Not: every bit of an integer, the value of a bool
  Sqrt,
  Rsqrt,
  Exp,
  Exp2,
  Log,
  Log2,
  Sin,
  Cos,
  Tanh,
  Erf,
  Sigmoid,
  Floor,
  Ceil,
  Round,
  Trunc,   ///< Round: half to even. On integers these four change nothing
  Pow2Ceil ///< integers: the least power of two that is not less; 1 from 1 down, 0 where none fits
};

enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div, ///< floats only
  FloorDiv,
  Mod,
  Pow,
  Min,
  Max,
  FMin,
  FMax,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  CDiv ///< integers: the least integer that is not less than the quotient
};

enum class CompareOp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

// Each returns false, having written nothing, where the dtype has no such operation. `out` may be an
// operand's own array.
bool unary(UnaryOp op, DType type, Source a, void *out, size_t count);
bool binary(BinaryOp op, DType type, Source a, Source b, void *out, size_t count);
bool fma(DType type, Source a, Source b, Source c, void *out, size_t count);
/// Results are Bool. NaN compares false but for Ne; -0 equals +0.
bool compare(CompareOp op, DType type, Source a, Source b, uint8_t *out, size_t count);
/// Results are Bool; false for every dtype that has no NaN.
void isNan(DType type, Source a, uint8_t *out, size_t count);
/// out[i] = condition[i] ? a[i] : b[i], bits unchanged. The condition is Bool.
void select(DType type, Source condition, Source a, Source b, void *out, size_t count);
/// Index of the first element that is zero, or `count`: what a sanitizer asks before `//` and `%`.
size_t findZero(DType type, Source a, size_t count);

} // namespace tilegym::interp
