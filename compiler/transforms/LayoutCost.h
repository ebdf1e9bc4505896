// SPDX-License-Identifier: MIT
// What an access to global memory costs in a layout, and the best layout for one.
#pragma once
#include "compiler/ir/VectorAccess.h"

namespace tilegym::transforms {

/// A memory op as far as layouts care: the region's axis that is contiguous in memory, the elements of a vector there, the bytes of one.
struct AccessShape {
  int axis = 0;
  int64_t width = 1;
  int64_t elementBytes = 4;
  int64_t weight = 1; ///< how often it runs, roughly
};
AccessShape accessShape(tile::RegionOp op);

/// Instructions and memory sectors of one warp, in about the time of a sector each.
int64_t accessCost(const layout::Layout &layout, const AccessShape &access);
/// Of moving a tile with this many registers a thread to another layout, in the same unit.
int64_t conversionCost(int64_t registers);
/// Whether it pays to access in a layout of its own, `best`, and to convert.
bool paysToConvert(const layout::Layout &layout, const layout::Layout &best, const AccessShape &access);

} // namespace tilegym::transforms
