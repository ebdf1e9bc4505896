// SPDX-License-Identifier: MIT
// Which element of a matrix each register of each thread holds: the PTX ISA's fragment tables as functions. `warp` counts within the warpgroup
// (0 for warp-wide instructions), `reg` 32-bit registers, `element` the parts of one, lowest first.
#pragma once

#include <cstdint>

namespace tilegym::sim {

struct Place {
  int row;
  int column;
  bool operator==(const Place &) const = default;
};

/// Accumulators, mma.sync (16 x 8) and wgmma (64 x N): number i of a thread's values. f32 and s32 have one a register, f16 two.
constexpr Place accumulatorPlace(int warp, int lane, int i) {
  return {16 * warp + lane / 4 + 8 * (i >> 1 & 1), 8 * (i >> 2) + 2 * (lane % 4) + (i & 1)};
}

/// A, 16 rows a warp: rows g and g + 8 alternate, then the other half of a 32-byte row of k. The short shapes have the first half alone.
constexpr Place operandAPlace(int warp, int lane, int reg, int element, int elementBytes) {
  int word = 4 / elementBytes;
  return {16 * warp + lane / 4 + 8 * (reg & 1), word * (lane % 4) + element + 4 * word * (reg >> 1)};
}

/// B of mma.sync, k x 8: row is k.
constexpr Place operandBPlace(int lane, int reg, int element, int elementBytes) {
  int word = 4 / elementBytes;
  return {word * (lane % 4) + element + 4 * word * reg, lane / 4};
}

/// ldmatrix and stmatrix: the 16-bit elements that a thread holds of one 8 x 8 matrix.
constexpr Place matrixPlace(int lane, int element, bool transposed) {
  Place place{lane / 4, 2 * (lane % 4) + element};
  return transposed ? Place{place.column, place.row} : place;
}

} // namespace tilegym::sim
