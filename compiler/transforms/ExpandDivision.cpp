// SPDX-License-Identifier: MIT
// Upstream's patterns for these three ops alone; its pass would also take `arith.maximumf` and others apart, which targets have.
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_EXPANDDIVISION
#include "compiler/transforms/Passes.h.inc"

namespace {

struct ExpandDivision : impl::ExpandDivisionBase<ExpandDivision> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilegym::transforms
