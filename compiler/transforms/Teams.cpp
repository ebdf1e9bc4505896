// SPDX-License-Identifier: MIT
// A team's turn of the loop over the grid, and how many slots the other's fills: the trips of the loops that the fills stand in, worked out for the other's block.
#include "compiler/transforms/Teams.h"
#include "compiler/ir/ProductLayouts.h"
#include "compiler/transforms/GridExtent.h"
#include "compiler/transforms/ReadBy.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilegym::transforms {
namespace {

constexpr int64_t teams = 2;

/// The loop over the grid that the op is in; null if there is none.
scf::ForOp gridLoopOf(Operation *op) {
  for (Operation *outer = op->getParentOp(); outer; outer = outer->getParentOp())
    if (isGridLoop(outer))
      return cast<scf::ForOp>(outer);
  return {};
}

/// Whether the value follows from the loop's block of the grid and from what is outside of it.
bool followsFromBlock(Value value, scf::ForOp grid) {
  if (grid.isDefinedOutsideOfLoop(value) || value == grid.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  return op && isScalarProgram(op) &&
         llvm::all_of(readBy(op), [&](Value read) { return followsFromBlock(read, grid); });
}

class Counter {
public:
  /// Counts for the block that `block` says, at the builder's place.
  Counter(OpBuilder &b, scf::ForOp grid, Value block) : b(b), loc(grid.getLoc()), grid(grid) {
    map.map(grid.getInductionVar(), block);
  }

  /// Slots of the ring that are filled for it.
  Value fillsOf(const LoadRing &ring) {
    Value sum;
    for (const RingSite &site : ring.sites) {
      Value fills;
      for (Operation *op = site.first->getParentOp(); op != grid; op = op->getParentOp()) {
        Value trips = tripsOf(cast<scf::ForOp>(op));
        fills = fills ? arith::MulIOp::create(b, loc, fills, trips) : trips;
      }
      if (!fills)
        fills = number(b, loc, 1);
      sum = sum ? arith::AddIOp::create(b, loc, sum, fills) : fills;
    }
    return sum;
  }

private:
  Value remade(Value value) {
    if (grid.isDefinedOutsideOfLoop(value) || map.contains(value))
      return map.lookupOrDefault(value);
    Operation *op = value.getDefiningOp();
    for (Value read : readBy(op))
      remade(read);
    b.clone(*op, map);
    return map.lookup(value);
  }

  /// In 32 bits, in which the loops that feed count.
  Value tripsOf(scf::ForOp loop) {
    Value lower = remade(loop.getLowerBound()), upper = remade(loop.getUpperBound()),
          step = remade(loop.getStep());
    Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(step.getType(), 1));
    Value length = arith::SubIOp::create(b, loc, upper, lower);
    Value last = arith::SubIOp::create(b, loc, length, one);
    Value trips = arith::AddIOp::create(b, loc, b.createOrFold<arith::DivSIOp>(loc, last, step), one);
    Value runs = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lower, upper);
    Value none = arith::ConstantOp::create(b, loc, b.getIntegerAttr(step.getType(), 0));
    trips = arith::SelectOp::create(b, loc, runs, trips, none);
    return trips.getType().isInteger(32) ? trips
                                         : Value(arith::TruncIOp::create(b, loc, b.getI32Type(), trips));
  }

  OpBuilder &b;
  Location loc;
  scf::ForOp grid;
  IRMapping map;
};

} // namespace

bool canTeamsShare(tile::KernelOp kernel, ArrayRef<LoadRing> rings) {
  scf::ForOp grid = gridLoopOf(rings.front().sites.front().first);
  if (!grid || grid->getParentOp() != kernel || grid.getNumResults())
    return false;
  SmallPtrSet<Operation *, 8> buffers;
  for (const LoadRing &ring : rings)
    for (const RingSite &site : ring.sites) {
      for (const RingFill &fill : site.fills)
        buffers.insert(fill.alloc);
      if (!grid->isProperAncestor(site.first))
        return false;
      for (Operation *op = site.first->getParentOp(); op != grid; op = op->getParentOp()) {
        auto loop = dyn_cast<scf::ForOp>(op);
        if (!loop || !followsFromBlock(loop.getLowerBound(), grid) ||
            !followsFromBlock(loop.getUpperBound(), grid) || !followsFromBlock(loop.getStep(), grid))
          return false;
      }
    }
  return !kernel
              .walk([&](tile::AllocOp alloc) {
                return buffers.contains(alloc) ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

bool areSumsMany(tile::KernelOp kernel) {
  constexpr int64_t many = 128; // of 168: enough beside them for addresses and conversions, not for more
  int64_t most = 0;
  bool hasWork = false;
  kernel.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()))
      return;
    auto layout =
        dyn_cast_or_null<tile::LayoutAttr>(cast<RankedTensorType>(op->getResult(0).getType()).getEncoding());
    int64_t registers = layout ? layout.getLayout().numRegisters() : 0;
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      std::optional<tile::PromotedParts> parts = tile::promotedParts(dot);
      most = std::max(most, registers + (parts && parts->inPairs ? parts->columns : 0));
      hasWork |= tile::isMadeTransposed(dot); // threads hold words of it, too
    } else if (registers >= many && op->hasTrait<OpTrait::Elementwise>())
      hasWork |= !isa<arith::TruncFOp>(op);
  });
  return most > many || (most == many && hasWork);
}

void alternate(scf::ForOp grid, ArrayRef<LoadRing> rings) {
  OpBuilder b(grid);
  Location loc = grid.getLoc();
  SmallVector<size_t> within = llvm::to_vector(llvm::seq<size_t>(0, rings.size()));
  unsigned carried = unsigned(2 * rings.size()), before = grid.getNumResults() - carried;
  auto skipped = [&](ValueRange values, Value block, Value team) {
    Turns turns(rings.size());
    unflat(values, within, turns);
    Counter counter(b, grid, block);
    for (auto [turn, ring] : llvm::zip(turns, rings)) {
      Value fills = counter.fillsOf(ring);
      turn = afterMany(b, loc, turn, ring.slots, team ? arith::MulIOp::create(b, loc, fills, team) : fills);
    }
    return flat(turns, within);
  };

  Type type = grid.getInductionVar().getType();
  Value team = tile::TeamOp::create(b, loc);
  Value index = team;
  if (type != team.getType())
    index = arith::ExtUIOp::create(b, loc, type, team);
  Value step = grid.getStep(), first = grid.getLowerBound();
  SmallVector<Value> inits = skipped(grid.getInitArgs().take_back(carried), first, team);
  grid.getInitArgsMutable().slice(before, carried).assign(inits);
  grid.setLowerBound(arith::AddIOp::create(b, loc, first, arith::MulIOp::create(b, loc, step, index)));
  Value many = arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, teams));
  grid.setStep(arith::MulIOp::create(b, loc, step, many));

  Operation *yield = grid.getBody()->getTerminator();
  b.setInsertionPoint(yield);
  // Of a block that the grid has, though nobody takes one behind the last: a search for its tensor in a list would not end.
  Value others =
      arith::AddIOp::create(b, loc, grid.getInductionVar(), step, arith::IntegerOverflowFlags::nsw);
  Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, 1));
  others = arith::MinSIOp::create(b, loc, others, arith::SubIOp::create(b, loc, grid.getUpperBound(), one));
  SmallVector<Value> next = skipped(yield->getOperands().take_back(carried), others, Value());
  yield->setOperands(before, carried, next);

  Operation *from = nullptr, *to = nullptr; // what holds the products, in the loop's body
  for (const LoadRing &ring : rings)
    for (const RingSite &site : ring.sites) {
      Operation *holds = grid.getBody()->findAncestorOpInBlock(*site.first);
      if (!from || holds->isBeforeInBlock(from))
        from = holds;
      Operation *ends = grid.getBody()->findAncestorOpInBlock(*site.lastReader);
      if (!to || to->isBeforeInBlock(ends))
        to = ends;
    }
  b.setInsertionPoint(from);
  tile::TakeTurnOp::create(b, loc);
  b.setInsertionPointAfter(to);
  tile::PassTurnOp::create(b, loc);
}

} // namespace tilegym::transforms
