// SPDX-License-Identifier: MIT
// Loads that fill shared memory become a program of their own: its loops and conditions, copied, without the work. Slots of a ring change hands by two
// mbarriers each, whose turn (slot and parity) both sides carry through their loops.
#include "compiler/transforms/GridExtent.h"
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/ReadBy.h"
#include "compiler/transforms/Teams.h"
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

class Specializer {
public:
  Specializer(tile::KernelOp kernel, SmallVector<LoadRing> rings)
      : kernel(kernel), loc(kernel.getLoc()), rings(std::move(rings)), b(kernel.getContext()) {}

  void run() {
    Block &body = kernel.getBody().front();
    b.setInsertionPoint(body.getTerminator());
    for (LoadRing &ring : rings)
      prepare(ring);
    // Products in flight beside others need more registers than an equal part of them.
    scarce = kernel
                 .walk([](tile::DotOp dot) {
                   return dot.getInFlight() ? WalkResult::interrupt() : WalkResult::advance();
                 })
                 .wasInterrupted();
    bool inTurns = kernel.getKnob("schedule", 0) == pingpong;
    bool hasTeams = inTurns && kernel.getWarps() == warpgroup && canTeamsShare(kernel, rings);
    int64_t teams = hasTeams ? 2 : 1;
    bool fills = kernel.getWarps() * teams == 2 * warpgroup && kernel.getBlocksAtOnce() == 1;
    shifts = scarce || (fills && areSumsMany(kernel));
    auto roles = tile::RolesOp::create(b, loc, shifts, teams);
    Block *producer = b.createBlock(&roles.getProducer()), *consumer = b.createBlock(&roles.getConsumer());
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
      if (&op != roles && !isShared(&op))
        op.moveBefore(consumer, consumer->end());
    for (LoadRing &ring : rings)
      for (RingFill &fill : ring.sites.front().fills)
        for (Operation *user : llvm::make_early_inc_range(fill.alloc->getUsers()))
          if (isa<tile::DeallocOp>(user))
            user->moveAfter(roles);
    b.setInsertionPointToStart(producer);
    Turns turns = firstTurns(b, loc, rings.size(), 1);
    IRMapping map;
    copies.emplace_back(consumer, producer);
    feed(*consumer, map, turns);
    for (auto [ring, turn] : llvm::zip(rings, turns))
      drain(ring, turn);
    if (!scarce)
      roles.getProducer().walk([](scf::ForOp loop) { moveLoopInvariantCode(loop); });
    b.setInsertionPointToStart(consumer);
    turns = firstTurns(b, loc, rings.size(), 0);
    consume(*consumer, turns);
    if (hasTeams)
      alternate(*llvm::find_if(consumer->getOps<scf::ForOp>(), isGridLoop), rings);
    if (inTurns && kernel.getWarps() > warpgroup)
      roles.getConsumer().walk([&](scf::ForOp loop) { issueInTurn(loop); });
    if (shifts)
      for (scf::ForOp loop : consumer->getOps<scf::ForOp>())
        sinkInto(loop);
    for (LoadRing &ring : rings)
      for (RingSite &site : ring.sites)
        for (RingFill &fill : site.fills) {
          fill.put.erase();
          fill.load.erase();
        }
  }

private:
  static constexpr int64_t pingpong = 2; ///< the knob's third word
  static constexpr int64_t warpgroup = 4;

  /// Warpgroups issue a trip's products one after the other, so that each does its other work beside products of the next.
  void issueInTurn(scf::ForOp loop) {
    SmallVector<tile::DotOp> flying;
    for (auto dot : loop.getBody()->getOps<tile::DotOp>())
      if (dot.getInFlight())
        flying.push_back(dot);
    if (flying.size() < 2)
      return;
    b.setInsertionPoint(flying.front());
    tile::TakeTurnOp::create(b, loc);
    b.setInsertionPointAfter(flying.back());
    tile::PassTurnOp::create(b, loc);
  }

  /// Arithmetic that only the loop needs is done in it, as what it gives would take registers for the whole loop.
  static void sinkInto(scf::ForOp loop) {
    SmallVector<Operation *> before;
    for (Operation *op = loop->getPrevNode(); op; op = op->getPrevNode())
      before.push_back(op);
    for (Operation *op : before)
      if (isMemoryEffectFree(op) && !op->getNumRegions() && !isa<tile::ParamOp>(op) &&
          llvm::all_of(op->getUsers(), [&](Operation *user) { return loop->isProperAncestor(user); }))
        op->moveBefore(&loop.getBody()->front());
  }

  /// What both sides read: parameters, rings, barriers, and arithmetic of the block where registers are not scarce.
  bool isShared(Operation *op) {
    if (isa<tile::MakeMbarriersOp>(op) || llvm::any_of(rings, [&](const LoadRing &ring) {
          return llvm::any_of(ring.sites.front().fills,
                              [&](const RingFill &fill) { return fill.alloc == op; });
        }))
      return true;
    auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
    if (shifts && !isa<tile::ParamOp>(op) && !op->hasTrait<OpTrait::ConstantLike>())
      return false;
    return isMemoryEffectFree(op) && !op->getNumRegions() && !llvm::any_of(op->getResultTypes(), isTile) &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             Operation *made = operand.getDefiningOp();
             return made && made->getBlock() == op->getBlock();
           });
  }

  /// Barriers and slots, in front of everything; the buffers live as long as the kernel. All sites fill the first one's.
  void prepare(LoadRing &ring) {
    auto barriers = [&](int64_t arrivals) {
      auto type = tile::MbarriersType::get(b.getContext(), ring.slots);
      return tile::MakeMbarriersOp::create(b, loc, type, arrivals);
    };
    RingSite &home = ring.sites.front();
    ring.full = barriers(1);
    ring.empty = barriers(kernel.getWarps() * (isFilledByAll(ring) ? kernel.getClusterSize() : 1));
    for (RingFill &fill : home.fills) {
      tile::SharedType one = fill.alloc.getBuffer().getType();
      fill.alloc.getBuffer().setType(tile::SharedType::get(b.getContext(), ring.slots, one.getTile()));
      fill.alloc->moveBefore(ring.full.getDefiningOp());
    }
    for (RingSite &site : MutableArrayRef(ring.sites).drop_front())
      for (auto [fill, first] : llvm::zip(site.fills, home.fills)) {
        for (Operation *user : llvm::make_early_inc_range(fill.alloc->getUsers()))
          if (isa<tile::DeallocOp>(user))
            user->erase();
        fill.slot.getBufferMutable().assign(first.alloc);
        fill.alloc->erase();
        fill.alloc = first.alloc;
      }
  }

  /// Whether other blocks of the cluster fill its slots, too.
  static bool isFilledByAll(const LoadRing &ring) {
    return llvm::any_of(ring.sites.front().fills, [](const RingFill &fill) { return fill.shared; });
  }

  void release(const LoadRing &ring, Value slot, Value condition, bool reads) {
    tile::MbarrierArriveOp::create(b, loc, ring.empty, slot, condition, reads, isFilledByAll(ring));
  }

  /// The rings that turn within a loop or a branch.
  SmallVector<size_t> ringsWithin(Operation *op) {
    SmallVector<size_t> within;
    for (auto [i, ring] : llvm::enumerate(rings))
      if (llvm::any_of(ring.sites, [&](RingSite &site) { return op->isProperAncestor(site.first); }))
        within.push_back(i);
    return within;
  }
  /// The value in the producer, made again from what it is made of: where that was made, unless registers are scarce.
  Value remade(Value value, IRMapping &map) {
    if (map.contains(value))
      return map.lookup(value);
    Operation *op = value.getDefiningOp();
    if (!op || op->getParentOp() == kernel)
      return value;
    for (Value read : readBy(op))
      remade(read, map);
    OpBuilder::InsertionGuard guard(b);
    for (auto [from, to] : copies)
      if (!scarce && from == op->getBlock() && to != b.getInsertionBlock())
        b.setInsertionPoint(to->findAncestorOpInBlock(*b.getInsertionBlock()->getParentOp()));
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
        for (RingSite &site : ring.sites)
          if (site.first == &op)
            turns[i] = fill(ring, site, map, turns[i]);
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
    copies.emplace_back(loop.getBody(), copy.getBody());
    feed(*loop.getBody(), map, inner);
    copies.pop_back();
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
      if (!old.empty()) {
        copies.emplace_back(&old.front(), &made.front());
        feed(old.front(), map, inner);
        copies.pop_back();
      }
      scf::YieldOp::create(b, branch.getLoc(), flat(inner, within));
    }
    unflat(copy.getResults(), within, turns);
  }

  Turn fill(LoadRing &ring, RingSite &site, IRMapping &map, Turn turn) {
    tile::MbarrierWaitOp::create(b, loc, ring.empty, turn.slot, turn.parity);
    int64_t bytes = 0;
    for (RingFill &fill : site.fills)
      bytes += fill.slot.getSlot().getType().getSlotBytes();
    tile::MbarrierExpectOp::create(b, loc, ring.full, turn.slot, bytes);
    for (RingFill &fill : site.fills) {
      SmallVector<Value> coordinates;
      for (Value index : fill.load.getIndices()) {
        Value at = remade(index, map);
        if (!at.getType().isInteger(32))
          at = arith::TruncIOp::create(b, fill.load.getLoc(), b.getI32Type(), at);
        coordinates.push_back(at);
      }
      Value slot = tile::SlotOp::create(b, loc, fill.slot.getSlot().getType(), fill.alloc, turn.slot);
      tile::TensorLoadOp::create(b, fill.load.getLoc(), remade(fill.map, map), coordinates, slot, ring.full,
                                 turn.slot, fill.shared);
    }
    return after(b, loc, turn, ring.slots);
  }

  /// A block is there until others no longer arrive at its barriers.
  void drain(const LoadRing &ring, Turn turn) {
    if (!isFilledByAll(ring))
      return;
    for (int64_t slot = 0; slot < ring.slots; ++slot) {
      tile::MbarrierWaitOp::create(b, loc, ring.empty, turn.slot, turn.parity);
      turn = after(b, loc, turn, ring.slots);
    }
  }

  // ---- the consumers' side

  /// The block's own work, with turns carried through what holds rings.
  void consume(Block &block, Turns &turns) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      SmallVector<size_t> within = ringsWithin(&op);
      SmallVector<std::pair<size_t, RingSite *>> released, finished;
      for (auto [i, ring] : llvm::enumerate(rings))
        for (RingSite &site : ring.sites) {
          begin(ring, site, &op, turns[i]);
          if (site.lastReader == &op)
            released.emplace_back(i, &site);
          if (site.overlapped && site.overlapped->getParentOp() == &op)
            finished.emplace_back(i, &site);
        }
      b.setInsertionPoint(&op);
      Operation *now = &op;
      if (auto loop = dyn_cast<scf::ForOp>(op); loop && !within.empty())
        now = consumeLoop(loop, within, turns);
      else if (auto branch = dyn_cast<scf::IfOp>(op); branch && !within.empty())
        now = consumeBranch(branch, within, turns);
      b.setInsertionPointAfter(now);
      for (auto [i, site] : finished)
        finish(rings[i], *site, cast<scf::ForOp>(now), turns[i]);
      for (auto [i, site] : released) {
        if (site->overlapped)
          overlap(rings[i], *site, turns[i]);
        else
          release(rings[i], turns[i].slot, Value(), site->readByThreads);
        turns[i] = after(b, loc, turns[i], rings[i].slots);
      }
    }
  }

  /// Where a site's slots are named, and where they are read first.
  void begin(LoadRing &ring, RingSite &site, Operation *op, Turn turn) {
    b.setInsertionPoint(op);
    if (site.first == op)
      for (RingFill &fill : site.fills) {
        fill.slot.getIndexMutable().assign(turn.slot);
        fill.slot->moveBefore(op);
      }
    // What the products' end is waited for after, stays in front of the wait by another one, for what is full: ptxas moves a wait for products, but over no branch.
    auto wait = dyn_cast<tile::DotWaitOp>(op);
    bool isEnd = site.lastReader == op && wait && wait.getPending() == 0;
    if (site.firstReader == op || isEnd)
      tile::MbarrierWaitOp::create(b, loc, ring.full, turn.slot, turn.parity);
  }

  /// The product goes on while the next turn's is issued: what is read and released is the turn before.
  void overlap(LoadRing &ring, RingSite &site, Turn turn) {
    site.overlapped.setInFlight(true);
    auto loop = cast<scf::ForOp>(site.overlapped->getParentOp());
    tile::DotWaitOp::create(b, loc, TypeRange(), 1, ValueRange());
    Value hasBefore =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound());
    release(ring, slotBefore(b, loc, turn, ring.slots), hasBefore, false);
  }

  /// Behind the loop, its last turn.
  void finish(LoadRing &ring, RingSite &site, scf::ForOp loop, Turn turn) {
    Value sum = loop.getResult(site.overlapped->use_begin()->getOperandNumber());
    auto wait = tile::DotWaitOp::create(b, loc, sum.getType(), 0, sum);
    sum.replaceAllUsesExcept(wait.getResult(0), wait);
    Value ran =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
    release(ring, slotBefore(b, loc, turn, ring.slots), ran, false);
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
  SmallVector<std::pair<Block *, Block *>> copies; ///< that the producer's program is in, and of what
  bool scarce = false;                             ///< registers, of the producer's thread too
  bool shifts = false;                             ///< registers, from the producer to the others
};

struct SpecializeLoadsPass : impl::SpecializeLoadsBase<SpecializeLoadsPass> {
  using SpecializeLoadsBase::SpecializeLoadsBase;
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    constexpr int64_t defaultStages = 4;
    if (!tensorCopies || kernel.getKnob("schedule", pipelined) == pipelined || kernel.getCtas() > 1)
      return;
    SmallVector<LoadRing> rings = findLoadRings(kernel, kernel.getKnob("stages", defaultStages), sharedBytes);
    if (!rings.empty())
      Specializer(kernel, std::move(rings)).run();
  }
  static constexpr int64_t pipelined = 0; ///< the knob's first word
};

} // namespace
} // namespace tilegym::transforms
