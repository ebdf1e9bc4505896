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

namespace {

/// Follows products in flight and what releases slots through the consumers' program.
class Releases {
public:
  /// Of each buffer, the barriers whose arrivals let the producer fill a slot again: what it waits for before it does.
  explicit Releases(RolesOp roles) {
    Value waited;
    roles.getProducer().walk([&](Operation *op) {
      if (auto wait = dyn_cast<MbarrierWaitOp>(op))
        waited = wait.getBarriers();
      else if (auto load = dyn_cast<TensorLoadOp>(op))
        if (auto slot = load.getSlot().getDefiningOp<SlotOp>())
          barriers[slot.getBuffer()] = waited;
    });
  }

  LogicalResult check(Region &consumer) {
    return failure(
        consumer.walk<WalkOrder::PreOrder>([&](Operation *op) { return visit(op); }).wasInterrupted());
  }

private:
  WalkResult visit(Operation *op) {
    if (auto dot = dyn_cast<DotOp>(op); dot && dot.getWarpgroups()) {
      if (!dot.getInFlight())
        flying.clear(); // it ends all before it
      else
        flying.push_back(dot);
    } else if (auto wait = dyn_cast<DotWaitOp>(op)) {
      if (flying.size() > size_t(wait.getPending()))
        flying.erase(flying.begin(), flying.end() - wait.getPending());
    } else if (auto arrive = dyn_cast<MbarrierArriveOp>(op)) {
      for (DotOp dot : flying)
        for (Value operand : {dot.getA(), dot.getB()})
          if (auto slot = operand.getDefiningOp<SlotOp>();
              slot && slot.getIndex() == arrive.getIndex() &&
              barriers.lookup(slot.getBuffer()) == arrive.getBarriers()) {
            arrive.emitOpError(
                "releases a slot that a product in flight may still read: put the tile.dot_wait "
                "that ends it before");
            return WalkResult::interrupt();
          }
    }
    return WalkResult::advance();
  }

  DenseMap<Value, Value> barriers;
  SmallVector<DotOp> flying; ///< oldest first
};

} // namespace

/// A slot that each block of a cluster fills in all of them is empty once all have read it.
static LogicalResult verifySharedSlots(RolesOp roles) {
  DenseSet<Value> barriers;
  Value waited;
  roles.getProducer().walk([&](Operation *op) {
    if (auto wait = dyn_cast<MbarrierWaitOp>(op))
      waited = wait.getBarriers();
    else if (auto load = dyn_cast<TensorLoadOp>(op); load && load.getShared() && waited)
      barriers.insert(waited);
  });
  auto kernel = roles->getParentOfType<KernelOp>();
  int64_t expected = kernel.getWarps() * kernel.getClusterSize();
  for (Value value : barriers)
    if (auto make = value.getDefiningOp<MakeMbarriersOp>(); make && make.getArrivals() != expected)
      return make.emitOpError("counts ") << make.getArrivals() << " arrivals, expected " << expected
                                         << ": each warp of each block of the cluster";
  return failure(roles.getConsumer()
                     .walk([&](MbarrierArriveOp arrive) {
                       if (arrive.getEverywhere() || !barriers.contains(arrive.getBarriers()))
                         return WalkResult::advance();
                       arrive.emitOpError("releases a slot that other blocks of the cluster fill: it must "
                                          "arrive everywhere");
                       return WalkResult::interrupt();
                     })
                     .wasInterrupted());
}

LogicalResult MbarrierArriveOp::verify() {
  if (getEverywhere() && getReads())
    return emitOpError("cannot say everywhere what its threads have read themselves");
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (getEverywhere() && kernel && kernel.getClusterSize() == 1)
    return emitOpError("arrives everywhere, but its kernel has no clusters");
  return success();
}

LogicalResult RolesOp::verify() {
  if (!isa<KernelOp>((*this)->getParentOp()))
    return emitOpError("must be in the kernel's own block");
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (llvm::range_size(kernel.getBody().front().getOps<RolesOp>()) > 1)
    return emitOpError("is the second of its kernel");
  if (getShiftsRegisters() && kernel.getWarps() % 4)
    return emitOpError("gives registers to ") << kernel.getWarps() << " warps, which are no whole warpgroups";
  constexpr int64_t mostTeams = 2; // a barrier each to meet at, and one each for its turns
  if (getTeams() < 1 || getTeams() > mostTeams)
    return emitOpError("has ") << getTeams() << " teams, expected 1 or 2";
  if (getTeams() > 1 && (kernel.getWarps() % 4 || !llvm::isPowerOf2_64(kernel.getWarps())))
    return emitOpError("has teams of ") << kernel.getWarps() << " warps, expected a power of two from 4 on";
  WalkResult found = getProducer().walk([&](Operation *op) {
    auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
    if (!llvm::any_of(op->getResultTypes(), isTile) && !isa<BarrierOp, MbarrierArriveOp, TeamOp>(op))
      return WalkResult::advance();
    op->emitOpError("needs all threads, but a producer is one");
    return WalkResult::interrupt();
  });
  if (found.wasInterrupted())
    return failure();
  return failure(failed(verifySharedSlots(*this)) || failed(Releases(*this).check(getConsumer())));
}

static LogicalResult verifyConsumer(Operation *op) {
  auto roles = op->getParentOfType<RolesOp>();
  if (!roles || !roles.getConsumer().isAncestor(op->getParentRegion()))
    return op->emitOpError("is for consumers");
  return success();
}

LogicalResult TeamOp::verify() { return verifyConsumer(*this); }

static LogicalResult verifyTurn(Operation *op) {
  if (failed(verifyConsumer(op)))
    return failure();
  auto kernel = op->getParentOfType<KernelOp>();
  if (op->getParentOfType<RolesOp>().getTeams() > 1)
    return success();
  constexpr int64_t warpgroup = 4, most = 3;
  int64_t groups = kernel.getWarps() / warpgroup;
  if (kernel.getWarps() % warpgroup || groups < 2 || groups > most * warpgroup)
    return op->emitOpError("needs two to twelve warpgroups, but the kernel has ")
           << kernel.getWarps() << " warps";
  return success();
}

/// There are named barriers for four.
LogicalResult tilegym::tile::verifyApart(Operation *op) {
  if (failed(verifyConsumer(op)))
    return failure();
  int64_t warps = op->getParentOfType<KernelOp>().getWarps();
  if (op->getParentOfType<RolesOp>().getTeams() > 1 || (warps != 8 && warps != 16))
    return op->emitOpError("apart needs two or four warpgroups of one team, but the kernel has ")
           << op->getParentOfType<RolesOp>().getTeams() << " x " << warps << " warps";
  return success();
}

LogicalResult BarrierOp::verify() { return getApart() ? verifyApart(*this) : success(); }

LogicalResult TakeTurnOp::verify() { return verifyTurn(*this); }
LogicalResult PassTurnOp::verify() { return verifyTurn(*this); }

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
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (getShared() && kernel && !sharedBoxesOf(map, getSlot().getType(), kernel.getClusterSize()))
    return emitOpError("has boxes that ") << kernel.getClusterSize() << " blocks cannot share";
  return success();
}
