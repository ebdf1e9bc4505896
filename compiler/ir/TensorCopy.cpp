// SPDX-License-Identifier: MIT
// What a tensor store's slot and map must be to each other.
#include "compiler/ir/TensorCopy.h"
#include "compiler/ir/SlotBoxes.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace tilegym::tile;

#define GET_OP_CLASSES
#include "compiler/ir/TensorCopyOps.cpp.inc"

LogicalResult TensorStoreOp::verify() {
  auto slot = cast<SharedType>(getSlot().getType());
  auto map = cast<TensorMapType>(getMap().getType());
  if (slot.getSlots() != 1)
    return emitOpError("needs one slot of a buffer of ") << slot.getSlots();
  if (getIndices().size() != map.getAxes().size())
    return emitOpError("has ") << getIndices().size() << " indices, its map has " << map.getAxes().size()
                               << " axes";
  if (!boxesOf(map, slot))
    return emitOpError("reads a slot whose tile does not lie as the map's copies do");
  if (!getApart())
    return success();
  if (failed(verifyApart(*this)))
    return failure();
  int64_t groups = (*this)->getParentOfType<KernelOp>().getWarps() / 4;
  return boxesOfGroups(map, slot, groups)
             ? success()
             : emitOpError("has boxes down the tile that ") << groups << " warpgroups cannot share";
}
