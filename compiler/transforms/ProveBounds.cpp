// SPDX-License-Identifier: MIT
// Which comparisons of an index with its bounds always hold.
#include "compiler/transforms/Passes.h"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_PROVEBOUNDS
#include "compiler/transforms/Passes.h.inc"

namespace {

struct Range {
  APInt low, high;
};

/// Signed range in 65 bits, so that adding a tile's length cannot overflow.
std::optional<Range> rangeOf(DataFlowSolver &solver, Value value) {
  auto *state = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (!state || state->getValue().isUninitialized())
    return {};
  const ConstantIntRanges &range = state->getValue().getValue();
  return Range{range.smin().sext(65), range.smax().sext(65)};
}

/// index < upper by where the two come from.
bool isBelowByOrigin(tile::KernelOp kernel, Value index, Value upper) {
  if (auto id = index.getDefiningOp<tile::BlockIdOp>()) {
    int64_t number = kernel.getGridParams()[id.getAxis()];
    auto param = upper.getDefiningOp<tile::ParamOp>();
    return param && number >= 0 && param.getNumber() == number;
  }
  auto argument = dyn_cast<BlockArgument>(index);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  return loop && loop.getInductionVar() == index && loop.getUpperBound() == upper;
}

struct ProveBounds : impl::ProveBoundsBase<ProveBounds> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    DataFlowSolver solver;
    solver.load<dataflow::DeadCodeAnalysis>();
    solver.load<dataflow::SparseConstantPropagation>();
    solver.load<dataflow::IntegerRangeAnalysis>();
    if (failed(solver.initializeAndRun(kernel)))
      return signalPassFailure();

    kernel.walk([&](tile::RegionOp op) {
      SmallVector<int32_t> checks(op.getChecks());
      for (int64_t i = 0; i < op.getNumAxes(); ++i) {
        tile::RegionAxis axis = op.getAxis(i);
        int64_t last = axis.kind == tile::AxisKind::Span ? axis.length - 1 : 0;
        std::optional<Range> index = rangeOf(solver, axis.index), lower = rangeOf(solver, axis.lower),
                             upper = rangeOf(solver, axis.upper);
        if (index && lower && index->low.sge(lower->high))
          checks[i] &= ~tile::CheckLower;
        bool isBelow = index && upper && (index->high + last).slt(upper->low);
        if (isBelow || (last == 0 && axis.kind != tile::AxisKind::Gather &&
                        isBelowByOrigin(kernel, axis.index, axis.upper)))
          checks[i] &= ~tile::CheckUpper;
      }
      op.setChecks(checks);
      auto load = dyn_cast<tile::LoadOp>(op.getOperation());
      if (load && !op.isChecked() && !load.getMask())
        load.getPadMutable().clear();
    });
  }
};

} // namespace
} // namespace tilegym::transforms
