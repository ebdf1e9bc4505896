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

/// So many boxes follow one another down each column of the tile.
static size_t boxesDown(ArrayRef<SlotBox> boxes, TensorMapType map) {
  auto isBelow = [&](const SlotBox &box) {
    return box.distances[map.getInnermost()] == boxes.front().distances[map.getInnermost()];
  };
  return size_t(llvm::find_if_not(boxes, isBelow) - boxes.begin());
}

/// Parts of every column, or of all columns in their order.
static SharedBoxes cut(ArrayRef<SlotBox> boxes, size_t column, size_t parts) {
  SharedBoxes cut;
  size_t next = column / parts; // the second part's first
  for (size_t i = 0; i < boxes.size(); ++i)
    if (i % column < next)
      cut.first.push_back(boxes[i]);
  cut.step = parts > 1 ? boxes[next] : SlotBox{0, SmallVector<int64_t>(boxes.front().distances.size())};
  return cut;
}

std::optional<SharedBoxes> sharedBoxesOf(TensorMapType map, SharedType slot, int64_t blocks) {
  std::optional<SmallVector<SlotBox>> boxes = boxesOf(map, slot);
  if (!boxes)
    return {};
  size_t down = boxesDown(*boxes, map), parts = size_t(blocks);
  if (boxes->size() / down % parts == 0)
    return cut(*boxes, boxes->size(), parts);
  return down % parts == 0 ? std::optional(cut(*boxes, down, parts)) : std::nullopt;
}

std::optional<SharedBoxes> boxesOfGroups(TensorMapType map, SharedType slot, int64_t groups) {
  std::optional<SmallVector<SlotBox>> boxes = boxesOf(map, slot);
  if (!boxes)
    return {};
  size_t down = boxesDown(*boxes, map);
  return down % size_t(groups) == 0 ? std::optional(cut(*boxes, down, size_t(groups))) : std::nullopt;
}

} // namespace tilegym::tile
