// SPDX-License-Identifier: MIT
// Loads that fill shared memory become a program of their own: its loops and conditions, copied, without the work. Slots of a ring change hands by two
// mbarriers each, whose turn (slot and parity) both sides carry through their loops.
#include "compiler/transforms/LoadRings.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_SPECIALIZELOADS
#include "compiler/transforms/Passes.h.inc"

namespace {

/// Which slot comes next, and the parity of the phase to wait for.
struct Turn {
  Value slot, parity;
};
using Turns = SmallVector<Turn>; ///< by ring

class Specializer {
public:
  Specializer(tile::KernelOp kernel, SmallVector<LoadRing> rings)
      : kernel(kernel), loc(kernel.getLoc()), rings(std::move(rings)), b(kernel.getContext()) {}

  void run() {
    Block &body = kernel.getBody().front();
    b.setInsertionPoint(body.getTerminator());
    for (LoadRing &ring : rings)
      prepare(ring);
    auto roles = tile::RolesOp::create(b, loc);
    Block *producer = b.createBlock(&roles.getProducer()), *consumer = b.createBlock(&roles.getConsumer());
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
      if (&op != roles && !isShared(&op))
        op.moveBefore(consumer, consumer->end());
    for (LoadRing &ring : rings)
      for (RingFill &fill : ring.fills)
        for (Operation *user : llvm::make_early_inc_range(fill.alloc->getUsers()))
          if (isa<tile::DeallocOp>(user))
            user->moveAfter(roles);
    b.setInsertionPointToStart(producer);
    Turns turns = firstTurns(1);
    IRMapping map;
    feed(*consumer, map, turns);
    roles.getProducer().walk([](scf::ForOp loop) { moveLoopInvariantCode(loop); });
    b.setInsertionPointToStart(consumer);
    turns = firstTurns(0);
    consume(*consumer, turns);
    for (LoadRing &ring : rings)
      for (RingFill &fill : ring.fills) {
        fill.put.erase();
        fill.load.erase();
      }
  }

private:
  Value number(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
  }

  /// What both sides read: arithmetic of the block, parameters, rings, barriers.
  bool isShared(Operation *op) {
    if (isa<tile::MakeMbarriersOp>(op) || llvm::any_of(rings, [&](const LoadRing &ring) {
          return llvm::any_of(ring.fills, [&](const RingFill &fill) { return fill.alloc == op; });
        }))
      return true;
    auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
    return isMemoryEffectFree(op) && !op->getNumRegions() && !llvm::any_of(op->getResultTypes(), isTile) &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             Operation *made = operand.getDefiningOp();
             return made && made->getBlock() == op->getBlock();
           });
  }

  /// Barriers and slots, in front of everything; the buffers live as long as the kernel.
  void prepare(LoadRing &ring) {
    auto barriers = [&](int64_t arrivals) {
      auto type = tile::MbarriersType::get(b.getContext(), ring.slots);
      return tile::MakeMbarriersOp::create(b, loc, type, arrivals);
    };
    ring.full = barriers(1);
    ring.empty = barriers(kernel.getWarps());
    for (RingFill &fill : ring.fills) {
      tile::SharedType one = fill.alloc.getBuffer().getType();
      fill.alloc.getBuffer().setType(tile::SharedType::get(b.getContext(), ring.slots, one.getTile()));
      fill.alloc->moveBefore(ring.full.getDefiningOp());
    }
  }

  /// Slots are empty at first: to the producer, as if a phase before the first were complete.
  Turns firstTurns(int64_t parity) {
    Turns turns;
    for ([[maybe_unused]] LoadRing &ring : rings)
      turns.push_back({number(0), number(parity)});
    return turns;
  }

  Turn after(Turn turn, int64_t slots) {
    Value next = arith::AddIOp::create(b, loc, turn.slot, number(1));
    Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next, number(slots));
    Value other = arith::XOrIOp::create(b, loc, turn.parity, number(1));
    return {arith::SelectOp::create(b, loc, wraps, number(0), next),
            arith::SelectOp::create(b, loc, wraps, other, turn.parity)};
  }

  /// The rings that turn within a loop or a branch.
  SmallVector<size_t> ringsWithin(Operation *op) {
    SmallVector<size_t> within;
    for (auto [i, ring] : llvm::enumerate(rings))
      if (op->isProperAncestor(ring.first))
        within.push_back(i);
    return within;
  }
  static SmallVector<Value> flat(const Turns &turns, ArrayRef<size_t> within) {
    SmallVector<Value> values;
    for (size_t ring : within)
      llvm::append_values(values, turns[ring].slot, turns[ring].parity);
    return values;
  }
  static void unflat(ValueRange values, ArrayRef<size_t> within, Turns &turns) {
    for (auto [i, ring] : llvm::enumerate(within))
      turns[ring] = {values[2 * i], values[2 * i + 1]};
  }

  /// The value in the producer, made again from what it is made of.
  Value remade(Value value, IRMapping &map) {
    if (map.contains(value))
      return map.lookup(value);
    Operation *op = value.getDefiningOp();
    if (!op || op->getParentOp() == kernel)
      return value;
    for (Value operand : op->getOperands())
      remade(operand, map);
    b.clone(*op, map);
    return map.lookup(value);
  }

  // ---- the producer's side

  /// Copies of a block's loops and conditions, down to the loads. What a block makes is of no use after it.
  void feed(Block &from, IRMapping map, Turns &turns) {
    for (Operation &op : from) {
      SmallVector<size_t> within = ringsWithin(&op);
      if (auto loop = dyn_cast<scf::ForOp>(op); loop && !within.empty())
        feedLoop(loop, map, within, turns);
      else if (auto branch = dyn_cast<scf::IfOp>(op); branch && !within.empty())
        feedBranch(branch, map, within, turns);
      for (auto [i, ring] : llvm::enumerate(rings))
        if (ring.first == &op)
          turns[i] = fill(ring, map, turns[i]);
    }
  }

  void feedLoop(scf::ForOp loop, IRMapping map, ArrayRef<size_t> within, Turns &turns) {
    Value lower = remade(loop.getLowerBound(), map), upper = remade(loop.getUpperBound(), map);
    Value step = remade(loop.getStep(), map);
    auto copy = scf::ForOp::create(b, loop.getLoc(), lower, upper, step, flat(turns, within));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(copy.getBody());
    map.map(loop.getInductionVar(), copy.getInductionVar());
    Turns inner = turns;
    unflat(copy.getRegionIterArgs(), within, inner);
    feed(*loop.getBody(), map, inner);
    scf::YieldOp::create(b, loop.getLoc(), flat(inner, within));
    unflat(copy.getResults(), within, turns);
  }

  void feedBranch(scf::IfOp branch, IRMapping &map, ArrayRef<size_t> within, Turns &turns) {
    SmallVector<Value> before = flat(turns, within);
    auto copy = scf::IfOp::create(b, branch.getLoc(), ValueRange(before).getTypes(),
                                  remade(branch.getCondition(), map), /*withElseRegion=*/true);
    for (auto [old, made] : llvm::zip(branch->getRegions(), copy->getRegions())) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&made.front());
      Turns inner = turns;
      if (!old.empty())
        feed(old.front(), map, inner);
      scf::YieldOp::create(b, branch.getLoc(), flat(inner, within));
    }
    unflat(copy.getResults(), within, turns);
  }

  Turn fill(LoadRing &ring, IRMapping &map, Turn turn) {
    tile::MbarrierWaitOp::create(b, loc, ring.empty, turn.slot, turn.parity);
    int64_t bytes = 0;
    for (RingFill &fill : ring.fills)
      bytes += fill.slot.getSlot().getType().getSlotBytes();
    tile::MbarrierExpectOp::create(b, loc, ring.full, turn.slot, bytes);
    for (RingFill &fill : ring.fills) {
      SmallVector<Value> coordinates;
      for (Value index : fill.load.getIndices()) {
        Value at = remade(index, map);
        if (!at.getType().isInteger(32))
          at = arith::TruncIOp::create(b, fill.load.getLoc(), b.getI32Type(), at);
        coordinates.push_back(at);
      }
      Value slot = tile::SlotOp::create(b, loc, fill.slot.getSlot().getType(), fill.alloc, turn.slot);
      tile::TensorLoadOp::create(b, fill.load.getLoc(), fill.map, coordinates, slot, ring.full, turn.slot);
    }
    return after(turn, ring.slots);
  }

  // ---- the consumers' side

  /// The block's own work, with turns carried through what holds rings.
  void consume(Block &block, Turns &turns) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      b.setInsertionPoint(&op);
      for (auto [i, ring] : llvm::enumerate(rings)) {
        if (ring.first == &op)
          for (RingFill &fill : ring.fills) {
            fill.slot.getIndexMutable().assign(turns[i].slot);
            fill.slot->moveBefore(&op);
          }
        if (ring.firstReader == &op)
          tile::MbarrierWaitOp::create(b, loc, ring.full, turns[i].slot, turns[i].parity);
      }
      SmallVector<size_t> released;
      for (auto [i, ring] : llvm::enumerate(rings))
        if (ring.lastReader == &op)
          released.push_back(i);
      Operation *now = &op;
      SmallVector<size_t> within = ringsWithin(&op);
      if (auto loop = dyn_cast<scf::ForOp>(op); loop && !within.empty())
        now = consumeLoop(loop, within, turns);
      else if (auto branch = dyn_cast<scf::IfOp>(op); branch && !within.empty())
        now = consumeBranch(branch, within, turns);
      b.setInsertionPointAfter(now);
      for (size_t i : within)
        if (rings[i].overlapped && rings[i].overlapped->getParentOp() == now)
          finish(rings[i], cast<scf::ForOp>(now), turns[i]);
      for (size_t i : released) {
        if (rings[i].overlapped)
          overlap(rings[i], turns[i]);
        else
          tile::MbarrierArriveOp::create(b, loc, rings[i].empty, turns[i].slot, Value(),
                                         rings[i].readByThreads);
        turns[i] = after(turns[i], rings[i].slots);
      }
    }
  }

  Value slotBefore(LoadRing &ring, Turn turn) {
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, turn.slot, number(0));
    return arith::SelectOp::create(b, loc, isFirst, number(ring.slots - 1),
                                   arith::SubIOp::create(b, loc, turn.slot, number(1)));
  }

  /// The product goes on while the next turn's is issued: what is read and released is the turn before.
  void overlap(LoadRing &ring, Turn turn) {
    ring.overlapped.setInFlight(true);
    auto loop = cast<scf::ForOp>(ring.overlapped->getParentOp());
    tile::DotWaitOp::create(b, loc, TypeRange(), 1, ValueRange());
    Value hasBefore =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound());
    tile::MbarrierArriveOp::create(b, loc, ring.empty, slotBefore(ring, turn), hasBefore, false);
  }

  /// Behind the loop, its last turn.
  void finish(LoadRing &ring, scf::ForOp loop, Turn turn) {
    Value sum = loop.getResult(ring.overlapped->use_begin()->getOperandNumber());
    auto wait = tile::DotWaitOp::create(b, loc, sum.getType(), 0, sum);
    sum.replaceAllUsesExcept(wait.getResult(0), wait);
    Value ran =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
    tile::MbarrierArriveOp::create(b, loc, ring.empty, slotBefore(ring, turn), ran, false);
  }

  Operation *consumeLoop(scf::ForOp loop, ArrayRef<size_t> within, Turns &turns) {
    auto same = [](OpBuilder &, Location, ArrayRef<BlockArgument> carried) {
      return SmallVector<Value>(carried.begin(), carried.end());
    };
    auto made = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        b, flat(turns, within), /*replaceInitOperandUsesInLoop=*/false, same));
    unsigned count = unsigned(2 * within.size());
    Turns inner = turns;
    unflat(made.getRegionIterArgs().take_back(count), within, inner);
    consume(*made.getBody(), inner);
    Operation *yield = made.getBody()->getTerminator();
    yield->setOperands(yield->getNumOperands() - count, count, flat(inner, within));
    unflat(made.getResults().take_back(count), within, turns);
    return made;
  }

  Operation *consumeBranch(scf::IfOp branch, ArrayRef<size_t> within, Turns &turns) {
    SmallVector<Value> before = flat(turns, within);
    SmallVector<Type> types(branch.getResultTypes());
    llvm::append_range(types, ValueRange(before).getTypes());
    auto made = scf::IfOp::create(b, branch.getLoc(), types, branch.getCondition(), /*withElseRegion=*/true);
    for (auto [from, to] : llvm::zip(branch->getRegions(), made->getRegions())) {
      Turns inner = turns;
      if (from.empty()) {
        b.setInsertionPointToEnd(&to.front());
        scf::YieldOp::create(b, branch.getLoc(), before);
        continue;
      }
      to.takeBody(from);
      consume(to.front(), inner);
      Operation *yield = to.front().getTerminator();
      yield->insertOperands(yield->getNumOperands(), flat(inner, within));
    }
    branch.replaceAllUsesWith(made.getResults().drop_back(before.size()));
    branch.erase();
    unflat(made.getResults().take_back(before.size()), within, turns);
    return made;
  }

  tile::KernelOp kernel;
  Location loc;
  SmallVector<LoadRing> rings;
  IRRewriter b;
};

struct SpecializeLoadsPass : impl::SpecializeLoadsBase<SpecializeLoadsPass> {
  using SpecializeLoadsBase::SpecializeLoadsBase;
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    constexpr int64_t defaultStages = 4;
    if (!tensorCopies || kernel.getKnob("schedule", pipelined) == pipelined || kernel.getCtas() > 1)
      return;
    SmallVector<LoadRing> rings = findLoadRings(kernel, kernel.getKnob("stages", defaultStages));
    if (!rings.empty())
      Specializer(kernel, std::move(rings)).run();
  }
  static constexpr int64_t pipelined = 0; ///< the knob's first word
};

} // namespace
} // namespace tilegym::transforms
