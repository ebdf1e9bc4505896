// SPDX-License-Identifier: MIT
// The rule of tile extents and its diagnostics.
#include "compiler/semantics/TileShape.h"
#include "compiler/semantics/Checked.h"
#include <bit>

namespace tilegym::sem {

bool isTileExtent(int64_t extent) {
  if (extent <= 0)
    return false;
  int64_t power = int64_t(1) << std::countr_zero(uint64_t(extent)), odd = extent / power;
  return odd == 1 || (odd <= 15 && power >= 8);
}

NearestExtents nearestTileExtents(int64_t extent) {
  NearestExtents near{0, 1};
  if (extent < 1)
    return near;
  if (extent > kMaxTileElements)
    return {kMaxTileElements, kMaxTileElements};
  for (near.below = extent; !isTileExtent(near.below);)
    --near.below;
  for (near.above = extent; !isTileExtent(near.above);)
    ++near.above;
  return near;
}

ShapeFault checkTileShape(const std::vector<int64_t> &shape) {
  if (int64_t(shape.size()) > kMaxRank)
    return {"a tile of rank " + std::to_string(shape.size()) + " has more than " + std::to_string(kMaxRank) +
                " axes",
            "reshape it to fewer"};
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent == kDynamic)
      return {"a tile extent is not known at compile time", "give it as a tile parameter or a const"};
    if (extent <= 0)
      return {"a tile extent of " + std::to_string(extent) + " is not positive", "the smallest extent is 1"};
    if (extent > kMaxTileElements || (elements *= extent) > kMaxTileElements)
      return {"a tile " + shapeText(shape) + " has more than " + std::to_string(kMaxTileElements) +
                  " elements",
              "walk over it in smaller tiles with a loop"};
    if (!isTileExtent(extent)) {
      auto [below, above] = nearestTileExtents(extent);
      return {"a tile extent of " + std::to_string(extent) +
                  " is not 2^k * r with r odd and at most 15 (r > 1 only where 2^k >= 8)",
              "the nearest legal extents are " + std::to_string(below) + " and " + std::to_string(above),
              extent};
    }
  }
  return {};
}

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + (shape[i] == kDynamic ? std::string("?") : std::to_string(shape[i]));
  return text + "]";
}

} // namespace tilegym::sem
