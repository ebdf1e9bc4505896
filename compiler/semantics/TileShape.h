// SPDX-License-Identifier: MIT
// Which shapes a kernel's tiles may have: every extent is 2^k * r with r odd and at most 15, r > 1 only where 2^k >= 8.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tilegym::sem {

constexpr int64_t kMaxTileElements = int64_t(1) << 20;
constexpr int64_t kMaxRank = 8;

bool isTileExtent(int64_t extent);
/// The nearest legal extents on both sides; `below` is 0 where there is none.
struct NearestExtents {
  int64_t below, above;
};
NearestExtents nearestTileExtents(int64_t extent);

/// What is wrong with a shape, and what to do; `message` is empty where nothing is.
struct ShapeFault {
  std::string message, help;
  int64_t extent = 0; ///< the one that is illegal; 0 where it is not one alone
};
ShapeFault checkTileShape(const std::vector<int64_t> &shape);

/// `[128, 64]`, `?` for a run-time extent.
std::string shapeText(const std::vector<int64_t> &shape);

} // namespace tilegym::sem
