// SPDX-License-Identifier: MIT
// The kernel's body as a loop over the grid: block b of a launch of n blocks takes b, b + n, b + 2 n ...
#include "compiler/transforms/GridExtent.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_MAKEPERSISTENT
#include "compiler/transforms/Passes.h.inc"

namespace {

/// What nothing writes reads the same each time, and what is out of bounds is not read.
bool isAlike(Operation *op) {
  auto load = dyn_cast<tile::LoadOp>(op);
  auto param = load ? load.getBase().getDefiningOp<tile::ParamOp>() : tile::ParamOp();
  return param && param.getParam().getReadonly() && !load.getHeld();
}

struct MakePersistent : impl::MakePersistentBase<MakePersistent> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    if (!kernel.getKnob("persistent", 0))
      return;
    if (kernel.getSplitK() > 1) {
      kernel.emitError("blocks that take parts of a sum do not stay for more than one block of the grid")
              .attachNote()
          << "give this kernel `split_k = 1` where it is persistent";
      return signalPassFailure();
    }
    kernel.setBlocksPerSm(kernel.getKnob("occupancy", 1));
    Block &body = kernel.getBody().front();
    Location loc = kernel.getLoc();
    SmallVector<Operation *> inner, ids;
    for (Operation &op : body.without_terminator()) {
      auto param = dyn_cast<tile::ParamOp>(op);
      if (isa<tile::LinearBlockIdOp>(op))
        ids.push_back(&op);
      else if (!param || !param.isFixed()) // which tensor of a list may follow from the block
        inner.push_back(&op);
    }

    OpBuilder builder(body.getTerminator());
    Value total;
    // In 32 bits, in which every launch counts its blocks.
    for (int64_t axis = 0; axis < kernel.getGridRank(); ++axis) {
      Value extent =
          arith::TruncIOp::create(builder, loc, builder.getI32Type(), gridExtent(kernel, builder, axis));
      total = total ? arith::MulIOp::create(builder, loc, total, extent) : extent;
    }
    total = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), total);
    Value first = tile::LinearBlockIdOp::create(builder, loc);
    Value step = tile::LaunchSizeOp::create(builder, loc);
    auto loop = scf::ForOp::create(builder, loc, first, total, step);
    for (Operation *op : inner)
      op->moveBefore(loop.getBody()->getTerminator());
    for (Operation *id : ids) {
      id->getResult(0).replaceAllUsesWith(loop.getInductionVar());
      id->erase();
    }
    moveLoopInvariantCode(
        loop.getLoopRegions(), [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
        [](Operation *op, Region *) { return isAlike(op) || (isMemoryEffectFree(op) && isSpeculatable(op)); },
        [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
  }
};

} // namespace
} // namespace tilegym::transforms
