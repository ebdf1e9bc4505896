// SPDX-License-Identifier: MIT
// A load is a producer's if its place, and whether it happens, follow from parameters and induction variables alone.
#include "compiler/transforms/LoadRings.h"
#include "compiler/ir/ProductLayouts.h"
#include "compiler/ir/TensorMaps.h"
#include "compiler/layout/Build.h"
#include "compiler/transforms/ReadBy.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilegym::transforms {
namespace {

/// Whether its instructions read slots, and no thread does.
bool readsItself(tile::DotOp dot) {
  return dot.getWarpgroups() && !dot.getRest() && !tile::isMadeTransposed(dot);
}

/// Whether one thread can compute it, again, without tiles.
bool isRemade(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar();
  }
  Operation *op = value.getDefiningOp();
  return isScalarProgram(op) && llvm::all_of(readBy(op), isRemade);
}

/// What decides how often a loop or a condition runs what is in it; nothing of other ops.
SmallVector<Value> controls(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return {branch.getCondition()};
  return {};
}

/// Whether the same holds for all that decides whether, and how often, the op runs.
bool isReached(Operation *op) {
  for (Operation *outer = op->getParentOp(); !isa<tile::KernelOp>(outer); outer = outer->getParentOp())
    if (SmallVector<Value> values = controls(outer); values.empty() || !llvm::all_of(values, isRemade))
      return false;
  return true;
}

/// Whether every block of a cluster has the same value there, which `isRemade`.
bool isSameInCluster(Value value, SmallPtrSetImpl<Operation *> &seen) {
  auto isSame = [&](Value read) { return isSameInCluster(read, seen); };
  if (auto argument = dyn_cast<BlockArgument>(value))
    return llvm::all_of(controls(argument.getOwner()->getParentOp()), isSame);
  Operation *op = value.getDefiningOp();
  if (!seen.insert(op).second)
    return true;
  bool asks = op->walk([](tile::ClusterRankOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return !asks && llvm::all_of(readBy(op), isSame);
}

/// Whether all blocks of a cluster load the same there, equally often.
bool isSameInCluster(tile::LoadOp load) {
  SmallPtrSet<Operation *, 16> seen;
  auto isSame = [&](Value value) { return isSameInCluster(value, seen); };
  for (Operation *outer = load->getParentOp(); !isa<tile::KernelOp>(outer); outer = outer->getParentOp())
    if (!llvm::all_of(controls(outer), isSame))
      return false;
  return llvm::all_of(load.getIndices(), isSame);
}

/// Copies of `width` by so many rows fill a slot of one tile; by several blocks of a cluster, equally many each, if they can.
int64_t boxHeight(int64_t across, int64_t down, int64_t width, int64_t blocks) {
  constexpr int64_t most = 256, swizzled = 8; // rows that a swizzle's pattern is of
  if (across / width % blocks == 0)
    return std::min(most, down);
  return down % (blocks * swizzled) == 0 ? std::min(most, down / blocks) : 0;
}

/// The map whose copies fill the slot, in which rows of `swizzle` bytes lie one below the other; null if there is none. The blocks of a cluster can share the copies.
Value mapInto(tile::LoadOp load, tile::SlotOp slot, int64_t blocks) {
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
      int64_t width = swizzle / bytes, height = boxHeight(shape[inner], shape[1 - inner], width, blocks);
      if (!height)
        return {};
      SmallVector<int64_t> box;
      for (int64_t axis : axes)
        box.push_back(axis < 0 ? 1 : axis == inner ? width : height);
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
  if (!base || !base.getParam().getReadonly() || !fill.alloc ||
      llvm::count_if(fill.alloc->getUsers(), isSlot) != 1 ||
      cast<RankedTensorType>(fill.load.getType()).getRank() != 2 || !isReached(put) ||
      !llvm::all_of(fill.load.getIndices(), isRemade))
    return {};
  auto isReadItself = [&](Operation *user) {
    auto dot = dyn_cast<tile::DotOp>(user);
    return user == put || (dot && readsItself(dot));
  };
  // A thread that has read could say so to other blocks only by a fence of the whole GPU.
  int64_t blocks = put->getParentOfType<tile::KernelOp>().getClusterSize();
  if (blocks > 1 && llvm::all_of(fill.slot->getUsers(), isReadItself) && isSameInCluster(fill.load))
    fill.map = mapInto(fill.load, fill.slot, blocks);
  fill.shared = bool(fill.map);
  if (!fill.map)
    fill.map = mapInto(fill.load, fill.slot, 1);
  return fill.map && isRemade(fill.map) ? std::optional(fill) : std::nullopt;
}

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

/// Where a product has read its operands: itself, or what waits for it if it is in flight; null if that is not in its block. Products end in
/// their order, and a wait lets so many of the youngest go on.
Operation *endOf(tile::DotOp dot) {
  if (!dot.getInFlight())
    return dot;
  int64_t younger = 0;
  for (Operation *op = dot->getNextNode(); op; op = op->getNextNode()) {
    if (auto wait = dyn_cast<tile::DotWaitOp>(op)) {
      if (wait.getPending() <= younger)
        return op;
    } else if (auto other = dyn_cast<tile::DotOp>(op); other && other.getWarpgroups()) {
      if (!other.getInFlight())
        return op;
      ++younger;
    }
  }
  return nullptr;
}

/// Adds the fill to the site where others are read by the same; false if its reads have no end in its block.
bool addFill(const RingFill &fill, SmallVectorImpl<RingSite> &sites) {
  Block *block = fill.put->getBlock();
  Operation *first = nullptr, *last = nullptr;
  bool readByThreads = false;
  for (Operation *user : fill.slot->getUsers()) {
    if (user == fill.put)
      continue;
    auto dot = dyn_cast<tile::DotOp>(user);
    Operation *end = dot ? endOf(dot) : user;
    if (!end)
      return false;
    readByThreads |= dot && !readsItself(dot);
    Operation *from = block->findAncestorOpInBlock(*user), *to = block->findAncestorOpInBlock(*end);
    if (!first || from->isBeforeInBlock(first))
      first = from;
    if (!last || last->isBeforeInBlock(to))
      last = to;
  }
  if (!first)
    return false;
  auto same = [&](const RingSite &site) {
    return site.first->getBlock() == block && site.firstReader == first && site.lastReader == last;
  };
  RingSite *site = llvm::find_if(sites, same);
  if (site == sites.end()) {
    sites.push_back({});
    site = &sites.back();
    site->first = fill.put;
    site->firstReader = first;
    site->lastReader = last;
  }
  site->fills.push_back(fill);
  tile::DotOp overlapped = overlappedReader(fill);
  site->overlapped = site->fills.size() == 1 || site->overlapped == overlapped ? overlapped : tile::DotOp();
  site->readByThreads |= readByThreads;
  return true;
}

/// Whether a site's turn is over when the other's begins, wherever the two are.
bool areApart(const RingSite &site, const RingSite &other) {
  for (Block *block = site.first->getBlock(); block;) {
    if (Operation *there = block->findAncestorOpInBlock(*other.first)) {
      Operation *first = block->findAncestorOpInBlock(*site.first);
      Operation *last = block->findAncestorOpInBlock(*site.lastReader);
      Operation *end = block->findAncestorOpInBlock(*other.lastReader);
      // Within one op of the block they are in different regions of it.
      return (first == last && there == first) || last->isBeforeInBlock(there) || end->isBeforeInBlock(first);
    }
    Operation *outer = block->getParentOp();
    block = outer ? outer->getBlock() : nullptr;
  }
  return false;
}

/// Whether both take the same of the same tensor.
bool areAlike(const RingSite &site, const RingSite &other) {
  auto same = [](RingFill a, RingFill b) {
    return a.map == b.map && a.shared == b.shared && a.slot.getSlot().getType() == b.slot.getSlot().getType();
  };
  return site.fills.size() == other.fills.size() &&
         std::equal(site.fills.begin(), site.fills.end(), other.fills.begin(), same);
}

int64_t slotBytes(const LoadRing &ring) {
  int64_t bytes = 0;
  for (RingFill fill : ring.sites.front().fills)
    bytes += fill.slot.getSlot().getType().getSlotBytes();
  return bytes;
}

/// What is held while other rings turn is loaded for a loop's next turn meanwhile, if there is room for it and for as much again, which results may take.
void doubleHolders(SmallVectorImpl<LoadRing> &rings, int64_t sharedBytes) {
  constexpr int64_t besideBuffers = 2048; // mbarriers, and what moves between threads
  int64_t all = besideBuffers;
  for (const LoadRing &ring : rings)
    all += ring.slots * slotBytes(ring);
  for (LoadRing &ring : rings)
    if (rings.size() > 1 && ring.slots == 1 && ring.sites.size() == 1 &&
        ring.sites.front().first->getParentOfType<scf::ForOp>() && all + 2 * slotBytes(ring) <= sharedBytes) {
      ring.slots = 2;
      all += slotBytes(ring);
    }
}

} // namespace

SmallVector<LoadRing> findLoadRings(tile::KernelOp kernel, int64_t stages, int64_t sharedBytes) {
  SmallVector<RingSite> sites;
  kernel.walk([&](tile::PutOp put) {
    if (std::optional<RingFill> fill = fillOf(put))
      addFill(*fill, sites);
  });
  auto holdsOthers = [&](const RingSite &outer) {
    return llvm::any_of(sites, [&](const RingSite &inner) {
      return outer.first->getBlock() != inner.first->getBlock() &&
             outer.first->getBlock()->findAncestorOpInBlock(*inner.first) && !areApart(outer, inner);
    });
  };
  SmallVector<LoadRing> rings;
  for (RingSite &site : sites) {
    bool holds = holdsOthers(site);
    // What threads write meanwhile would be read in flight; and the products of one loop would be waited for together.
    auto isFilled = [&](Value operand) {
      return !isa<tile::SharedType>(operand.getType()) ||
             llvm::any_of(site.fills, [&](RingFill &fill) { return fill.slot.getSlot() == operand; });
    };
    bool alone = llvm::count_if(sites, [&](const RingSite &other) {
                   return other.first->getBlock() == site.first->getBlock();
                 }) == 1;
    if (site.overlapped && (!isFilled(site.overlapped.getA()) || !isFilled(site.overlapped.getB()) ||
                            !alone || holds || stages < 2))
      site.overlapped = {};
    auto shares = [&](const LoadRing &ring) {
      return llvm::all_of(ring.sites, [&](const RingSite &other) {
        return areAlike(site, other) && areApart(site, other) && !site.overlapped && !other.overlapped;
      });
    };
    LoadRing *ring = holds ? rings.end() : llvm::find_if(rings, shares);
    if (ring == rings.end()) {
      rings.push_back({});
      ring = &rings.back();
      ring->slots = holds ? 1 : stages;
    }
    ring->sites.push_back(site);
  }
  doubleHolders(rings, sharedBytes);
  return rings;
}

} // namespace tilegym::transforms
