// SPDX-License-Identifier: MIT
// A ring of slots for each region that a persistent kernel holds: rows are copied `stages` - 1 trips ahead, while those before them are reduced and stored.
#include "compiler/transforms/GridExtent.h"
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/RingTurns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_HOLDAHEAD
#include "compiler/transforms/Passes.h.inc"

namespace {

constexpr int64_t defaultStages = 3;

class Ahead {
public:
  Ahead(scf::ForOp loop, int64_t slots)
      : loop(loop), loc(loop.getLoc()), slots(slots), b(loop.getContext()) {}

  void run() {
    llvm::append_range(holds, loop.getBody()->getOps<tile::HoldOp>());
    if (holds.empty())
      return;
    b.setInsertionPoint(loop);
    for (tile::HoldOp hold : holds)
      rings.push_back(
          tile::HoldRingOp::create(b, hold.getLoc(), tile::HeldType::get(b.getContext()), uint64_t(slots)));
    for (int64_t trip = 0; trip + 1 < slots; ++trip)
      hold(loop.getLowerBound(), trip, number(b, loc, trip));
    Turn first = firstTurns(b, loc, 1, /*parity=*/0).front();
    loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        b, {first.slot, first.parity}, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &at, Location, ArrayRef<BlockArgument> now) -> SmallVector<Value> {
          Turn next = after(at, loc, {now[0], now[1]}, slots);
          return {next.slot, next.parity};
        }));
    Turn turn{loop.getRegionIterArgs()[0], loop.getRegionIterArgs()[1]};
    b.setInsertionPointToStart(loop.getBody());
    // All threads have read what the slot before this one held.
    tile::BarrierOp::create(b, loc, /*async=*/false);
    hold(loop.getInductionVar(), slots - 1, slotBefore(b, loc, turn, slots));
    for (auto [old, ring] : llvm::zip(holds, rings)) {
      for (Operation *user : llvm::make_early_inc_range(old->getUsers())) {
        auto await = cast<tile::AwaitOp>(user);
        b.setInsertionPoint(await);
        b.replaceOpWithNewOp<tile::AwaitOp>(await, ring, ValueRange{turn.slot, turn.parity});
      }
      b.eraseOp(old);
    }
  }

private:
  /// What the trip so many after that of `variable` needs, if there is such a trip.
  void hold(Value variable, int64_t trips, Value slot) {
    Value ahead =
        arith::MulIOp::create(b, loc, loop.getStep(),
                              arith::ConstantOp::create(b, loc, b.getIntegerAttr(variable.getType(), trips)));
    ahead = arith::AddIOp::create(b, loc, variable, ahead);
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, ahead, loop.getUpperBound());
    IRMapping map;
    // Addresses are made of numbers that occur, whether or not anything is read there.
    map.map(loop.getInductionVar(), arith::SelectOp::create(b, loc, exists, ahead, variable).getResult());
    for (auto [old, ring] : llvm::zip(holds, rings)) {
      for (Value operand : old->getOperands())
        remake(operand, map);
      auto copy = cast<tile::HoldOp>(b.clone(*old, map));
      copy.getRingMutable().assign(ring);
      copy.getSlotMutable().assign(slot);
      copy.getConditionMutable().assign(exists);
    }
  }

  /// What is worked out from the loop's variable; HoldInShared holds nothing else.
  void remake(Value value, IRMapping &map) {
    if (map.contains(value) || loop.isDefinedOutsideOfLoop(value))
      return;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      remake(operand, map);
    b.clone(*op, map);
  }

  scf::ForOp loop;
  Location loc;
  int64_t slots;
  IRRewriter b;
  SmallVector<tile::HoldOp> holds;
  SmallVector<Value> rings;
};

struct HoldAhead : impl::HoldAheadBase<HoldAhead> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    int64_t slots = std::max<int64_t>(2, kernel.getKnob("stages", defaultStages));
    for (auto loop : llvm::to_vector(kernel.getBody().front().getOps<scf::ForOp>()))
      if (isGridLoop(loop))
        Ahead(loop, slots).run();
  }
};

} // namespace
} // namespace tilegym::transforms
