// SPDX-License-Identifier: MIT
// A load is a producer's if its place, and whether it happens, follow from parameters and induction variables alone.
#include "compiler/transforms/LoadRings.h"
#include "compiler/ir/ProductLayouts.h"
#include "compiler/ir/TensorMaps.h"
#include "compiler/layout/Build.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilegym::transforms {
namespace {

/// Whether one thread can compute it, again, without tiles.
bool isRemade(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar();
  }
  Operation *op = value.getDefiningOp();
  return isMemoryEffectFree(op) && !op->getNumRegions() && !isa<RankedTensorType>(value.getType()) &&
         llvm::all_of(op->getOperands(), isRemade);
}

/// Whether the same holds for all that decides whether, and how often, the op runs.
bool isReached(Operation *op) {
  for (Operation *outer = op->getParentOp(); !isa<tile::KernelOp>(outer); outer = outer->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(outer)) {
      if (!isRemade(loop.getLowerBound()) || !isRemade(loop.getUpperBound()) || !isRemade(loop.getStep()))
        return false;
    } else if (auto branch = dyn_cast<scf::IfOp>(outer)) {
      if (!isRemade(branch.getCondition()))
        return false;
    } else {
      return false;
    }
  }
  return true;
}

/// The map whose copies fill the slot, in which rows of `swizzle` bytes lie one below the other; null if there is none.
Value mapInto(tile::LoadOp load, tile::SlotOp slot) {
  auto region = cast<tile::RegionOp>(load.getOperation());
  RankedTensorType tile = slot.getSlot().getType().getTile();
  layout::Layout have = slot.getSlot().getType().getLayout();
  layout::Shape shape(tile.getShape().begin(), tile.getShape().end());
  int bytes = int(tile.getElementTypeBitWidth() / 8);
  SmallVector<int64_t> axes = region.getRegionAxes();
  for (int inner : {1, 0})
    for (int swizzle : {128, 64, 32}) {
      layout::Expected<layout::Layout> made = layout::sharedTile(shape, bytes, {inner, 1 - inner}, swizzle);
      if (!made || !(*made == have))
        continue;
      SmallVector<int64_t> box;
      for (int64_t axis : axes)
        box.push_back(axis < 0 ? 1 : axis == inner ? swizzle / bytes : std::min<int64_t>(256, shape[axis]));
      std::string reason;
      FailureOr<Value> map = tile::tensorMapOf(region, box, swizzle, reason);
      if (succeeded(map) && axes[cast<tile::TensorMapType>(map->getType()).getInnermost()] == inner)
        return *map;
      return {};
    }
  return {};
}

/// The fill that a put ends, if a producer can do it.
std::optional<RingFill> fillOf(tile::PutOp put) {
  RingFill fill{
      put.getValue().getDefiningOp<tile::LoadOp>(), put, put.getSlot().getDefiningOp<tile::SlotOp>(), {}, {}};
  if (!fill.load || !fill.slot || !fill.load->hasOneUse() || fill.load->getBlock() != put->getBlock() ||
      fill.slot->getBlock() != put->getBlock() || fill.load.getMask())
    return {};
  if (Value pad = fill.load.getPad();
      pad && !matchPattern(pad, m_AnyZeroFloat()) && !matchPattern(pad, m_Zero()))
    return {};
  auto base = fill.load.getBase().getDefiningOp<tile::ParamOp>();
  fill.alloc = fill.slot.getBuffer().getDefiningOp<tile::AllocOp>();
  auto isSlot = [](Operation *op) { return isa<tile::SlotOp>(op); };
  // A product in flight reads on behind itself; where it ends is not the block's to see.
  if (llvm::any_of(fill.slot->getUsers(), [](Operation *user) {
        auto dot = dyn_cast<tile::DotOp>(user);
        return dot && dot.getInFlight();
      }))
    return {};
  if (!base || !base.getParam().getReadonly() || !fill.alloc ||
      llvm::count_if(fill.alloc->getUsers(), isSlot) != 1 ||
      cast<RankedTensorType>(fill.load.getType()).getRank() != 2 || !isReached(put) ||
      !llvm::all_of(fill.load.getIndices(), isRemade))
    return {};
  fill.map = mapInto(fill.load, fill.slot);
  return fill.map ? std::optional(fill) : std::nullopt;
}

/// Whether its instructions read slots, and no thread does.
bool readsItself(tile::DotOp dot) { return dot.getWarpgroups() && !tile::isMadeTransposed(dot); }

/// The one product that reads the fill, if all it does is add to the loop's accumulator.
tile::DotOp overlappedReader(const RingFill &fill) {
  auto isDot = [](Operation *op) { return isa<tile::DotOp>(op); };
  if (llvm::count_if(fill.slot->getUsers(), isDot) != 1 || !llvm::hasNItems(fill.slot->getUsers(), 2))
    return {};
  auto dot = cast<tile::DotOp>(*llvm::find_if(fill.slot->getUsers(), isDot));
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  auto sum = dyn_cast<BlockArgument>(dot.getAccumulator());
  bool isFast8 = dot.getPrecision() == tile::Precision::Fast;
  if (!readsItself(dot) || !loop || dot->getBlock() != fill.put->getBlock() || !sum ||
      sum.getOwner() != loop.getBody() || !sum.hasOneUse() || !dot->hasOneUse() ||
      (dot.getAType().getElementTypeBitWidth() == 8 && isa<FloatType>(dot.getType().getElementType()) &&
       !isFast8))
    return {};
  OpOperand &use = *dot->getUses().begin();
  bool carries = isa<scf::YieldOp>(use.getOwner()) && use.getOwner()->getBlock() == loop.getBody() &&
                 loop.getRegionIterArgs()[use.getOperandNumber()] == sum;
  return carries ? dot : tile::DotOp();
}

} // namespace

SmallVector<LoadRing> findLoadRings(tile::KernelOp kernel, int64_t stages) {
  SmallVector<LoadRing> rings;
  kernel.walk([&](tile::PutOp put) {
    std::optional<RingFill> fill = fillOf(put);
    if (!fill)
      return;
    Block *block = put->getBlock();
    Operation *first = nullptr, *last = nullptr;
    for (Operation *user : fill->slot->getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      if (user == put)
        continue;
      if (!first || here->isBeforeInBlock(first))
        first = here;
      if (!last || last->isBeforeInBlock(here))
        last = here;
    }
    if (!first)
      return;
    auto same = [&](const LoadRing &ring) {
      return ring.first->getBlock() == block && ring.firstReader == first && ring.lastReader == last;
    };
    LoadRing *ring = llvm::find_if(rings, same);
    if (ring == rings.end()) {
      rings.push_back({});
      ring = &rings.back();
      ring->first = put;
      ring->firstReader = first;
      ring->lastReader = last;
      ring->slots = stages;
    }
    ring->fills.push_back(*fill);
    tile::DotOp overlapped = overlappedReader(*fill);
    ring->overlapped = ring->fills.size() == 1 || ring->overlapped == overlapped ? overlapped : tile::DotOp();
    ring->readByThreads |= llvm::any_of(fill->slot->getUsers(), [](Operation *user) {
      auto dot = dyn_cast<tile::DotOp>(user);
      return dot && !readsItself(dot);
    });
  });
  for (LoadRing &outer : rings)
    for (const LoadRing &inner : rings)
      if (outer.first->getBlock() != inner.first->getBlock() &&
          outer.first->getBlock()->findAncestorOpInBlock(*inner.first))
        outer.slots = 1;
  for (LoadRing &ring : rings) {
    // What threads write meanwhile would be read in flight; and the products of one loop would be waited for together.
    auto isFilled = [&](Value operand) {
      return !isa<tile::SharedType>(operand.getType()) ||
             llvm::any_of(ring.fills, [&](RingFill &fill) { return fill.slot.getSlot() == operand; });
    };
    if (ring.overlapped && (!isFilled(ring.overlapped.getA()) || !isFilled(ring.overlapped.getB())))
      ring.overlapped = {};
    bool alone = llvm::count_if(rings, [&](const LoadRing &other) {
                   return other.first->getBlock() == ring.first->getBlock();
                 }) == 1;
    if (!alone || ring.slots < 2)
      ring.overlapped = {};
  }
  return rings;
}

} // namespace tilegym::transforms
