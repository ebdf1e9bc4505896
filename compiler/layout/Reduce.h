// SPDX-License-Identifier: MIT
// How to reduce a tile along an axis: which registers a thread combines, which lanes and warps then meet.
#pragma once

#include "compiler/layout/Layout.h"

namespace tilegym::layout {

/// First within threads, then by butterflies in a warp, then across warps through shared memory. Afterwards
/// every place of `result` that holds an element has its value.
struct ReductionPlan {
  Layout result;
  /// For each register of the result, those of the tile to combine, by rising coordinate along the axis.
  std::vector<std::vector<int64_t>> registers;
  /// Lane l combines with lane l ^ x, for each x in turn; `laneSteps` are how far apart along the axis the
  /// two start.
  std::vector<int64_t> laneXors;
  std::vector<int64_t> laneSteps;
  /// The same for warps and for the blocks of a cluster.
  std::vector<int64_t> warpXors;
  std::vector<int64_t> warpSteps;
  std::vector<int64_t> blockXors;
  std::vector<int64_t> blockSteps;

  bool staysInWarp() const { return warpXors.empty() && blockXors.empty(); }
};

/// Fails on layouts in which a step along the axis also moves along another, like swizzled ones: convert to a
/// blocked one first.
Expected<ReductionPlan> planReduction(const Layout &layout, int axis);

} // namespace tilegym::layout
