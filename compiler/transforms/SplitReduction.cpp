// SPDX-License-Identifier: MIT
// A product's loop, cut into as many parts as a cluster has blocks. What follows the loop is for block 0 alone, so that nothing is stored twice.
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_SPLITREDUCTION
#include "compiler/transforms/Passes.h.inc"

namespace {

/// The product whose sum is the loop's one result; null where it is something else.
tile::DotOp sumOf(scf::ForOp loop) {
  if (loop.getNumResults() != 1)
    return {};
  auto dot = loop.getYieldedValues()[0].getDefiningOp<tile::DotOp>();
  BlockArgument sum = loop.getRegionIterArg(0);
  bool isSum = dot && dot.getAccumulator() == sum && sum.hasOneUse() && dot->hasOneUse();
  bool fromZero =
      matchPattern(loop.getInitArgs()[0], m_AnyZeroFloat()) || matchPattern(loop.getInitArgs()[0], m_Zero());
  return isSum && fromZero ? dot : tile::DotOp();
}

/// Whether running it in every block of a cluster shows.
bool writes(Operation *op) {
  return op
      ->walk([](tile::RegionOp region) {
        return isa<tile::LoadOp>(region.getOperation()) ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

struct SplitReduction : impl::SplitReductionBase<SplitReduction> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    int64_t parts = kernel.getSplitK();
    if (parts <= 1)
      return;
    scf::ForOp loop;
    for (scf::ForOp candidate : kernel.getBody().front().getOps<scf::ForOp>())
      if (sumOf(candidate)) {
        loop = candidate;
        break;
      }
    auto before = [&](Operation &op) { return loop && (&op == loop || op.isBeforeInBlock(loop)); };
    bool isSplit =
        loop && kernel.getCtas() == 1 && kernel.getSpread() == 1 &&
        llvm::none_of(kernel.getBody().front(), [&](Operation &op) { return before(op) && writes(&op); });
    if (!isSplit) {
      kernel.emitError("has no reduction that `split_k` can split").attachNote()
          << "it splits a loop of the kernel's own, not within another, that adds one product to zeros, "
             "before anything is "
             "stored, and not with `ctas`: give this kernel `split_k = 1`";
      return signalPassFailure();
    }
    split(kernel, loop, parts);
  }

  static void split(tile::KernelOp kernel, scf::ForOp loop, int64_t parts) {
    OpBuilder b(loop);
    Location loc = loop.getLoc();
    Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, loc, b.getIntegerAttr(lower.getType(), value));
    };
    Value rank = tile::ClusterRankOp::create(b, loc);
    // Trips of the whole loop, then of a part; a loop that ends before it begins has none.
    Value trips = arith::AddIOp::create(b, loc, arith::SubIOp::create(b, loc, upper, lower),
                                        arith::SubIOp::create(b, loc, step, number(1)));
    trips = arith::MaxSIOp::create(b, loc, trips, number(0));
    trips = arith::DivUIOp::create(b, loc, trips, step);
    trips = arith::AddIOp::create(b, loc, trips, number(parts - 1));
    trips = arith::DivUIOp::create(b, loc, trips, number(parts));
    Value length = arith::MulIOp::create(b, loc, trips, step);
    Value first = arith::AddIOp::create(b, loc, lower, arith::MulIOp::create(b, loc, rank, length));
    Value end = arith::MinSIOp::create(b, loc, upper, arith::AddIOp::create(b, loc, first, length));
    loop.setLowerBound(first);
    loop.setUpperBound(end);

    SmallVector<Operation *> after;
    for (Operation *op = loop->getNextNode(); !isa<tile::ReturnOp>(op); op = op->getNextNode())
      after.push_back(op);
    b.setInsertionPointAfter(loop);
    auto sum = tile::SplitSumOp::create(b, loc, loop.getResult(0));
    loop.getResult(0).replaceAllUsesExcept(sum.getResult(), sum);
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rank, number(0));
    auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
    for (Operation *op : after)
      if (auto param = dyn_cast<tile::ParamOp>(op);
          param && param.isFixed()) // of the kernel's own block, where others look for them
        op->moveBefore(branch);
      else
        op->moveBefore(branch.thenYield());
  }
};

} // namespace
} // namespace tilegym::transforms
