// SPDX-License-Identifier: MIT
// Regions of memory ops: text form, shape, verification.
#include "compiler/ir/Tile.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilegym::tile;

RegionAxis RegionOp::getAxis(int64_t axis) {
  return {AxisKind(getKinds()[axis]), getIndices()[axis], getLengths()[axis], getStrides()[axis],
          getLowers()[axis],          getUppers()[axis],  getChecks()[axis]};
}

SmallVector<int64_t> RegionOp::getRegionShape() {
  SmallVector<int64_t> shape;
  bool gathered = false;
  for (int64_t i = 0; i < getNumAxes(); ++i) {
    if (AxisKind(getKinds()[i]) == AxisKind::Span) {
      shape.push_back(getLengths()[i]);
    } else if (AxisKind(getKinds()[i]) == AxisKind::Gather && !gathered) {
      llvm::append_range(shape, cast<RankedTensorType>(getIndices()[i].getType()).getShape());
      gathered = true;
    }
  }
  return shape;
}

SmallVector<int64_t> RegionOp::getRegionAxes() {
  SmallVector<int64_t> axes;
  int64_t next = 0, gather = -1;
  for (int64_t i = 0; i < getNumAxes(); ++i) {
    AxisKind kind = AxisKind(getKinds()[i]);
    if (kind == AxisKind::Gather && gather < 0) {
      gather = next;
      next += cast<RankedTensorType>(getIndices()[i].getType()).getRank();
    }
    axes.push_back(kind == AxisKind::Point ? -1 : kind == AxisKind::Gather ? gather : next++);
  }
  return axes;
}

LogicalResult tilegym::tile::verifyRegion(Operation *operation) {
  auto op = cast<RegionOp>(operation);
  size_t axes = op.getKinds().size();
  if (op.getIndices().size() != axes || op.getLengths().size() != axes || op.getStrides().size() != axes ||
      op.getLowers().size() != axes || op.getUppers().size() != axes || op.getChecks().size() != axes)
    return operation->emitOpError("needs an index, length, stride, bounds and check for each axis");
  ArrayRef<int64_t> gatherShape;
  bool gathered = false;
  for (size_t i = 0; i < axes; ++i) {
    AxisKind kind = AxisKind(op.getKinds()[i]);
    auto tile = dyn_cast<RankedTensorType>(op.getIndices()[i].getType());
    if (bool(tile) != (kind == AxisKind::Gather))
      return operation->emitOpError("axis ") << i << " is a " << stringifyAxisKind(kind)
                                             << " and has an index of type " << op.getIndices()[i].getType();
    if ((op.getLengths()[i] > 0) != (kind == AxisKind::Span))
      return operation->emitOpError("axis ")
             << i << " is a " << stringifyAxisKind(kind) << " and has length " << op.getLengths()[i];
    if (op.getChecks()[i] < CheckNone || op.getChecks()[i] > CheckBoth)
      return operation->emitOpError("axis ")
             << i << " has check " << op.getChecks()[i] << ", expected 0 to 3";
    if (!tile)
      continue;
    if (gathered && gatherShape != tile.getShape())
      return operation->emitOpError("gathers of one region must have one shape, axis ")
             << i << " has another";
    gatherShape = tile.getShape();
    gathered = true;
  }
  if (op.hasGroup() && (op.getGroup().size() % 2 == 0 || axes == 0))
    return operation->emitOpError("a group has a rank, and an extent and a stride for each dim");
  return success();
}

LogicalResult tilegym::tile::verifyAccess(RegionOp op, Type accessed) {
  Type element = op.getBase().getType().getElementType();
  if (getElementTypeOrSelf(accessed) != element)
    return op->emitOpError("accesses ") << getElementTypeOrSelf(accessed) << " in a tensor of " << element;
  SmallVector<int64_t> shape = op.getRegionShape();
  auto sameShape = [&](Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile ? llvm::equal(tile.getShape(), shape) && !shape.empty() : shape.empty();
  };
  if (!sameShape(accessed))
    return op->emitOpError("the region has shape [")
           << llvm::make_range(shape.begin(), shape.end()) << "], the value is " << accessed;
  if (Value mask = op.getMask(); mask && isa<RankedTensorType>(mask.getType()) && !sameShape(mask.getType()))
    return op->emitOpError("the mask is ") << mask.getType() << ", which is not the region's shape";
  return success();
}

/// What is loaded from a held region is a part of it.
static LogicalResult verifyHeld(LoadOp load) {
  auto await = load.getHeld().getDefiningOp<AwaitOp>();
  if (!await)
    return load.emitOpError("holds what is no result of tile.await");
  HoldOp hold = await.getHold();
  if (!hold)
    return load.emitOpError("holds a ring that nothing fills");
  ArrayRef<int64_t> have = hold.getLengths(), want = load.getLengths();
  if (hold.getBase() != load.getBase() || hold.getKinds() != load.getKinds() || have.empty() ||
      have.drop_back() != want.drop_back() || want.back() > have.back())
    return load.emitOpError("is of a region that is no part of the held one");
  return success();
}

LogicalResult LoadOp::verify() {
  if (!getPad() && getMask())
    return emitOpError("with a mask needs a pad");
  if (getPad() && getPad().getType() != getBase().getType().getElementType())
    return emitOpError("pads ") << getBase().getType().getElementType() << " with " << getPad().getType();
  if (!getPad() && cast<RegionOp>(getOperation()).isChecked())
    return emitOpError("whose bounds are checked needs a pad");
  if (getHeld() && failed(verifyHeld(*this)))
    return failure();
  return verifyAccess(cast<RegionOp>(getOperation()), getResult().getType());
}

LogicalResult HoldOp::verify() {
  auto region = cast<RegionOp>(getOperation());
  bool gathers = llvm::is_contained(getKinds(), int32_t(AxisKind::Gather));
  if (gathers || region.hasGroup() || getLengths().empty() || getLengths().back() == 0)
    return emitOpError("needs a region of points and spans, its last axis a span, and no group axis");
  if (getRing() && !getRing().getDefiningOp<HoldRingOp>())
    return emitOpError("fills what is no result of tile.hold_ring");
  return success();
}

HoldRingOp AwaitOp::getRing() { return getCopy().getDefiningOp<HoldRingOp>(); }

HoldOp AwaitOp::getHold() {
  if (!getRing())
    return getCopy().getDefiningOp<HoldOp>();
  for (Operation *user : getCopy().getUsers())
    if (auto hold = dyn_cast<HoldOp>(user))
      return hold;
  return {};
}

LogicalResult AwaitOp::verify() {
  if (!getRing() && !getCopy().getDefiningOp<HoldOp>())
    return emitOpError("awaits what is no result of tile.hold or tile.hold_ring");
  size_t parts = getRing() ? 2 : 0;
  return getTurn().size() == parts ? success()
                                   : emitOpError("needs slot and parity of a ring, and of nothing else");
}

LogicalResult HoldRingOp::verify() {
  return getSlots() > 1 ? success() : emitOpError("has ") << getSlots() << " slots, expected at least 2";
}

LogicalResult StoreOp::verify() { return verifyAccess(cast<RegionOp>(getOperation()), getValue().getType()); }

LogicalResult AtomicRMWOp::verify() {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(getValue().getType()));
  switch (getKind()) {
  case AtomicKind::Add:
  case AtomicKind::Max:
  case AtomicKind::Min:
  case AtomicKind::Exchange:
    break;
  default:
    if (isFloat)
      return emitOpError("'") << stringifyAtomicKind(getKind()) << "' is not defined on floats";
  }
  return verifyAccess(cast<RegionOp>(getOperation()), getValue().getType());
}

LogicalResult AtomicCasOp::verify() {
  return verifyAccess(cast<RegionOp>(getOperation()), getValue().getType());
}
