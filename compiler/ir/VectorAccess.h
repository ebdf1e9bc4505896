// SPDX-License-Identifier: MIT
// What is known of a region's addresses: which elements one vector access may take. The choice of layouts and the code for threads both ask here, so
// that they agree.
#pragma once
#include "compiler/ir/Tile.h"

namespace tilegym::tile {

/// The tile that a memory op accesses: its value or result; null for a scalar.
mlir::Value accessedTile(RegionOp op);

/// The largest power of two (at most 2^20) known to divide an integer, from constants, parameters' facts, loops and arithmetic.
int64_t knownDivisor(mlir::Value value);

/// The largest power of two n (at most 2^20) of which this is known of an integer tile: from each coordinate on the last axis that is a
/// multiple of n, n neighbours hold consecutive numbers, the first a multiple of n.
int64_t consecutiveRun(mlir::Value tile);

/// Whether neighbours on the last axis hold consecutive numbers, wherever they begin.
bool isConsecutive(mlir::Value tile);

/// The axis of the tensor along which neighbours are neighbours in memory, -1 if none is known; and how many of them, starting at a multiple of
/// it, are aligned, at most 16 bytes, and inside or outside the bounds together.
struct VectorAxis {
  int64_t axis = -1;
  int64_t width = 1;
  /// What keeps the width below 16 bytes: no neighbours in memory are known; where the region begins on the axis; its bounds; the
  /// tensor's address; what another axis adds; a group of leading dims that may not merge.
  enum Limit : uint8_t { None, Stride, Begin, Bounds, Address, Other, Group } limit = Stride;
  int64_t limitAxis = -1; ///< of Other
};
VectorAxis vectorAxis(RegionOp op);

} // namespace tilegym::tile
