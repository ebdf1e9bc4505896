// SPDX-License-Identifier: MIT
// What producers and consumers may hold.
#include "compiler/ir/SlotBoxes.h"

using namespace mlir;
using namespace tilegym::tile;

LogicalResult MbarriersType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t count) {
  return count < 1 ? emitError() << count << " barriers, expected at least one" : success();
}

LogicalResult MakeMbarriersOp::verify() {
  if (getArrivals() < 1)
    return emitOpError("has phases of ") << getArrivals() << " arrivals, expected at least one";
  if (!isa<KernelOp>((*this)->getParentOp()))
    return emitOpError("must be in the kernel's own block");
  for (Operation *op = (*this)->getPrevNode(); op; op = op->getPrevNode())
    if (isa<RolesOp>(op))
      return emitOpError("must precede the roles that use it");
  return success();
}

LogicalResult RolesOp::verify() {
  if (!isa<KernelOp>((*this)->getParentOp()))
    return emitOpError("must be in the kernel's own block");
  if (llvm::range_size((*this)->getParentOfType<KernelOp>().getBody().front().getOps<RolesOp>()) > 1)
    return emitOpError("is the second of its kernel");
  WalkResult found = getProducer().walk([&](Operation *op) {
    auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
    if (!llvm::any_of(op->getResultTypes(), isTile) && !isa<BarrierOp, MbarrierArriveOp>(op))
      return WalkResult::advance();
    op->emitOpError("needs all threads, but a producer is one");
    return WalkResult::interrupt();
  });
  return failure(found.wasInterrupted());
}

LogicalResult TensorLoadOp::verify() {
  TensorMapType map = getMap().getType();
  RankedTensorType tile = getSlot().getType().getTile();
  if (getCoordinates().size() != map.getAxes().size())
    return emitOpError("has ") << getCoordinates().size() << " coordinates for a map of "
                               << map.getAxes().size() << " axes";
  if (getSlot().getType().getSlots() != 1)
    return emitOpError("needs one slot of a buffer of ") << getSlot().getType().getSlots();
  if (map.getElementType() != tile.getElementType())
    return emitOpError("copies ") << map.getElementType() << " to a slot of " << tile;
  if (!boxesOf(map, getSlot().getType()))
    return emitOpError("cannot fill the slot by boxes of its map");
  return success();
}
