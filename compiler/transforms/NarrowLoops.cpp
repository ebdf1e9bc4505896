// SPDX-License-Identifier: MIT
// The loop keeps its body; only the induction variable changes its type, and is widened again where it is used.
#include "compiler/transforms/IndexRange.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_NARROWLOOPS
#include "compiler/transforms/Passes.h.inc"

namespace {

struct NarrowLoops : impl::NarrowLoopsBase<NarrowLoops> {
  void runOnOperation() override {
    IndexRanges ranges(getOperation());
    if (!ranges.isValid())
      return signalPassFailure();
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      constexpr int64_t most = (int64_t(1) << 31) - 1;
      auto lower = ranges.of(loop.getLowerBound()), upper = ranges.of(loop.getUpperBound()),
           step = ranges.of(loop.getStep());
      if (loop.getInductionVar().getType().isInteger(64) && lower && upper && step && lower->low >= -most &&
          lower->high <= most && upper->low >= -most && step->low > 0 && step->high <= most &&
          upper->high <= most - step->high)
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      narrow(loop);
  }

  static void narrow(scf::ForOp loop) {
    OpBuilder builder(loop);
    Type type = builder.getI32Type();
    auto truncate = [&](Value value) { return arith::TruncIOp::create(builder, loop.getLoc(), type, value); };
    loop.setLowerBound(truncate(loop.getLowerBound()));
    loop.setUpperBound(truncate(loop.getUpperBound()));
    loop.setStep(truncate(loop.getStep()));
    Value variable = loop.getInductionVar();
    variable.setType(type);
    builder.setInsertionPointToStart(loop.getBody());
    auto wide = arith::ExtSIOp::create(builder, loop.getLoc(), builder.getI64Type(), variable);
    variable.replaceAllUsesExcept(wide, wide);
  }
};

} // namespace
} // namespace tilegym::transforms
