// SPDX-License-Identifier: MIT
// block number = x + grid0 * (y + grid1 * z), taken apart. All of it fits in 32 bits, where a division costs a fifth of one in 64.
#include "compiler/transforms/GridExtent.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_LINEARIZEGRID
#include "compiler/transforms/Passes.h.inc"

namespace {

struct LinearizeGrid : impl::LinearizeGridBase<LinearizeGrid> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    SmallVector<tile::BlockIdOp> ids;
    SmallVector<tile::NumBlocksOp> counts;
    kernel.walk([&](Operation *op) {
      if (auto id = dyn_cast<tile::BlockIdOp>(op))
        ids.push_back(id);
      else if (auto count = dyn_cast<tile::NumBlocksOp>(op))
        counts.push_back(count);
    });
    Block &body = kernel.getBody().front();
    OpBuilder builder(&body, body.begin());
    Location loc = kernel.getLoc();

    Value extents[3];
    auto extent = [&](int64_t axis) {
      if (!extents[axis])
        extents[axis] = gridExtent(kernel, builder, axis);
      return extents[axis];
    };
    for (tile::NumBlocksOp count : counts) {
      count.replaceAllUsesWith(extent(count.getAxis()));
      count.erase();
    }
    if (ids.empty())
      return;

    int64_t rank = kernel.getGridRank();
    Value linear = tile::LinearBlockIdOp::create(builder, loc), positions[3];
    if (rank == 1) {
      positions[0] = linear;
    } else {
      Type narrow = builder.getI32Type();
      Value rest = arith::TruncIOp::create(builder, loc, narrow, linear);
      for (int64_t axis = 0; axis < rank; ++axis) {
        Value here = rest;
        if (axis + 1 < rank) {
          Value size = arith::TruncIOp::create(builder, loc, narrow, extent(axis));
          here = arith::RemUIOp::create(builder, loc, rest, size);
          rest = arith::DivUIOp::create(builder, loc, rest, size);
        }
        positions[axis] = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), here);
      }
    }
    for (tile::BlockIdOp id : ids) {
      id.replaceAllUsesWith(positions[id.getAxis()]);
      id.erase();
    }
  }
};

} // namespace
} // namespace tilegym::transforms
