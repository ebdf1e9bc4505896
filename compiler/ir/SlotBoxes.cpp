// SPDX-License-Identifier: MIT
// A box is as wide as the swizzle; boxes follow one another down the tile, then across.
#include "compiler/ir/SlotBoxes.h"
#include "compiler/layout/Build.h"

using namespace mlir;

namespace tilegym::tile {

std::optional<SmallVector<SlotBox>> boxesOf(TensorMapType map, SharedType slot) {
  RankedTensorType tile = slot.getTile();
  SmallVector<int64_t> axes; // of the map, by axis of the tile
  for (auto [i, axis] : llvm::enumerate(map.getAxes()))
    if (axis.box > 1)
      axes.push_back(int64_t(i));
  if (tile.getRank() != 2 || axes.size() != 2 || map.getElementType() != tile.getElementType())
    return {};
  int inner = axes[1] == map.getInnermost() ? 1 : 0, outer = 1 - inner;
  if (axes[inner] != map.getInnermost())
    return {};
  int64_t width = map.getAxes()[axes[inner]].box, height = map.getAxes()[axes[outer]].box;
  layout::Shape shape(tile.getShape().begin(), tile.getShape().end());
  int bytes = int(map.getBoxBytes() / (width * height));
  layout::Expected<layout::Layout> lies =
      layout::sharedTile(shape, bytes, {inner, outer}, int(map.getSwizzle()));
  if (!lies || !(*lies == slot.getLayout()) || width * bytes != map.getSwizzle() || shape[inner] % width ||
      shape[outer] % height)
    return {};
  SmallVector<SlotBox> boxes;
  for (int64_t across = 0; across < shape[inner]; across += width)
    for (int64_t down = 0; down < shape[outer]; down += height) {
      SlotBox &box = boxes.emplace_back();
      box.bytes = (across * shape[outer] + down * width) * bytes;
      box.distances.resize(map.getAxes().size());
      box.distances[axes[inner]] = across;
      box.distances[axes[outer]] = down;
    }
  return boxes;
}

std::optional<SharedBoxes> sharedBoxesOf(TensorMapType map, SharedType slot, int64_t blocks) {
  std::optional<SmallVector<SlotBox>> boxes = boxesOf(map, slot);
  if (!boxes)
    return {};
  // Boxes down the first column, then across.
  size_t down = 1, count = boxes->size();
  auto isBelow = [&](const SlotBox &box) {
    return box.distances[map.getInnermost()] == boxes->front().distances[map.getInnermost()];
  };
  while (down < count && isBelow((*boxes)[down]))
    ++down;
  size_t across = count / down, parts = size_t(blocks);
  if (across % parts && down % parts)
    return {};
  bool cutsAcross = across % parts == 0;
  size_t next = cutsAcross ? count / parts : down / parts; // the second block's first
  SharedBoxes shared;
  for (size_t i = 0; i < count; ++i)
    if (cutsAcross ? i < next : i % down < next)
      shared.first.push_back((*boxes)[i]);
  shared.step = parts > 1 ? (*boxes)[next] : SlotBox{0, SmallVector<int64_t>(map.getAxes().size())};
  return shared;
}

} // namespace tilegym::tile
