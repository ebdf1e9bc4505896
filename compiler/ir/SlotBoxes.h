// SPDX-License-Identifier: MIT
// How copies through a tensor map make up a slot.
#pragma once
#include "compiler/ir/Tile.h"

namespace tilegym::tile {

/// One copy: where it lies in the slot, and how far it is, along each axis of the map, from where the slot's tile begins.
struct SlotBox {
  int64_t bytes = 0;
  llvm::SmallVector<int64_t> distances;
};

/// A slot's copies, in equal parts: those of the first, and how far those of each further part are from those of the one before.
struct SharedBoxes {
  llvm::SmallVector<SlotBox> first;
  SlotBox step;
};
/// One for each block of a cluster: across the tile, else down. Nothing where the boxes are no multiple of them.
std::optional<SharedBoxes> sharedBoxesOf(TensorMapType map, SharedType slot, int64_t blocks);
/// Whether what each warpgroup is to do for itself can be done where the op stands.
llvm::LogicalResult verifyApart(mlir::Operation *op);
/// One for each warpgroup, down the tile.
std::optional<SharedBoxes> boxesOfGroups(TensorMapType map, SharedType slot, int64_t groups);

/// Nothing where the map's copies do not lie as the slot's tile does. The tile has two axes: those of the map whose boxes are longer than one, in their order.
std::optional<llvm::SmallVector<SlotBox>> boxesOf(TensorMapType map, SharedType slot);

} // namespace tilegym::tile
