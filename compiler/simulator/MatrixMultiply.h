// SPDX-License-Identifier: MIT
// The arithmetic of tensor cores: D = A * B + C in blocks along k, by what is publicly measured of Hopper (bit-exact models by Xie et al.,
// "MMA-Sim", 2025, and Khattak and Mikaitis, "Accurate models of NVIDIA tensor cores", 2025).
//
// One block is 32 bytes of k (16 16-bit elements, 32 8-bit ones, 8 tf32). In it:
//  1. products are exact; the exponent of a product is the sum of its factors' exponents, not normalised (its significand is in [1, 4)),
//     subnormal factors keep the smallest exponent of their format, noughts do not count;
//  2. the largest exponent of products and accumulator is E, -126 at least;
//  3. every product and the accumulator lose, toward zero, what lies below 2^(E - F): F = 25, and 13 for 8-bit floats in wgmma;
//  4. the sum of those is exact, and rounded once to the accumulator: toward zero to f32 (for 8-bit wgmma to 13 fraction bits of it), to nearest
//     even to f16. Beyond the largest value is infinity. A sum of nought is +0; a NaN, inf - inf, or 0 * inf gives 0x7FFFFFFF (f16: 0x7FFF).
// The next block takes the result as its accumulator. mma.sync of 8-bit floats is made of f16 products: a block of the elements 0 and 1 of each four
// along k, from nought, then one of the others; then C is added in f32, to nearest even. Integers are exact modulo 2^32, or saturate where asked.
// All of this gives what an H200 gave, bit by bit, in every calibration kernel of mma.sync and wgmma (tests/sim/calibration).
//
// Bound: a result is within (products + 1) * 2^(E - F) + 1 ulp of the exact block sum; each further block adds as much. Compare hardware bit by
// bit first; only where that fails is this bound the judge.
#pragma once

#include "compiler/simulator/MatrixElement.h"

#include <array>
#include <cstdint>
#include <span>

namespace tilegym::sim {

enum class AccumulatorType : uint8_t { F32, F16, S32 };

struct MatrixUnit {
  ElementType a, b;
  AccumulatorType accumulator;
  int fraction;          // F
  int outputFraction;    // of an f32 result; 23 but for 8-bit wgmma
  bool saturate = false; // integers
};
MatrixUnit warpUnit(ElementType a, ElementType b, AccumulatorType accumulator);
MatrixUnit warpgroupUnit(ElementType a, ElementType b, AccumulatorType accumulator);

/// A row of one block, made ready for many products: significands and exponents apart, noughts with one that is below all.
struct OperandBlock {
  explicit OperandBlock(std::span<const Parts> elements);
  std::array<int32_t, 32> significand{}, exponent{};
  std::span<const Parts> elements; ///< 8, 16 or 32 of them at most
  bool isFinite = true;
};

/// d = sum over k of a[k] * b[k] + c, of one block; `c` and the result are accumulator bits. a and b are of the same length.
uint32_t multiplyBlock(const MatrixUnit &unit, const OperandBlock &a, const OperandBlock &b, uint32_t c);

/// mma.sync of 8-bit floats.
uint32_t multiplyBytesOfWarp(std::span<const Parts> a, std::span<const Parts> b, ElementType typeA,
                             ElementType typeB, uint32_t c);

/// The same over any length: block after block.
uint32_t multiply(const MatrixUnit &unit, std::span<const Parts> a, std::span<const Parts> b, uint32_t c);

} // namespace tilegym::sim
