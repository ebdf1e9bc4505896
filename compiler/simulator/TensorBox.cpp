// SPDX-License-Identifier: MIT
// Walks boxes.
#include "compiler/simulator/TensorBox.h"

#include <algorithm>

namespace tilegym::sim {

namespace {

/// One row of the box: `element` bytes at coordinate x and on, cut where the 16-byte chunk or the tensor ends.
void walkRow(const TensorMap &map, int64_t x, uint64_t row, bool rowInside, uint64_t shared,
             const std::function<void(const BoxRun &)> &visit) {
  auto size = uint32_t(map.elementBytes());
  uint32_t total = map.box[0] * size;
  auto inside = [&](uint32_t offset) {
    int64_t at = x + offset / size;
    return rowInside && at >= 0 && uint64_t(at) < map.extents[0];
  };
  for (uint32_t at = 0; at < total;) {
    uint32_t end = std::min(total, at / 16 * 16 + 16);
    bool in = inside(at);
    uint32_t stop = at + size;
    while (stop < end && inside(stop) == in)
      stop += size;
    visit({swizzled(shared + at, map.swizzle), in ? row + uint64_t(x * size) + at : 0, stop - at, in});
    at = stop;
  }
}

} // namespace

void walkBox(const TensorMap &map, std::span<const int32_t> coordinates, uint64_t shared,
             const std::function<void(const BoxRun &)> &visit) {
  std::array<uint32_t, TensorMap::maxRank> index{};
  while (true) {
    uint64_t row = map.address;
    bool inside = true;
    for (int i = 1; i < map.rank; ++i) {
      auto dim = size_t(i);
      int64_t at = int64_t(coordinates[dim]) + int64_t(index[dim]) * map.elementStrides[dim];
      inside &= at >= 0 && uint64_t(at) < map.extents[dim];
      row += uint64_t(at) * map.strides[dim - 1];
    }
    walkRow(map, coordinates[0], row, inside, shared, visit);
    shared += map.rowPitch();
    int dim = 1;
    while (dim < map.rank && ++index[size_t(dim)] == map.boxCount(dim))
      index[size_t(dim++)] = 0;
    if (dim >= map.rank)
      return;
  }
}

void fillOutside(const TensorMap &map, std::byte *to, uint32_t bytes) {
  // Of any float type; an H200 has no other NaN for wider ones.
  constexpr std::byte nan[] = {std::byte(0xF7), std::byte(0x7F)};
  for (uint32_t i = 0; i < bytes; ++i)
    to[i] = map.fillNaN ? nan[i % 2] : std::byte(0);
}

} // namespace tilegym::sim
