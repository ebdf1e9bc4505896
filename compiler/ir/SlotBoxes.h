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

/// Nothing where the map's copies do not lie as the slot's tile does. The tile has two axes: those of the map whose boxes are longer than one, in their order.
std::optional<llvm::SmallVector<SlotBox>> boxesOf(TensorMapType map, SharedType slot);

} // namespace tilegym::tile
