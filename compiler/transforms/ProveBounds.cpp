// SPDX-License-Identifier: MIT
// Which comparisons of an index with its bounds always hold.
#include "compiler/transforms/IndexRange.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_PROVEBOUNDS
#include "compiler/transforms/Passes.h.inc"

namespace {

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
    IndexRanges ranges(kernel);
    if (!ranges.isValid())
      return signalPassFailure();

    kernel.walk([&](tile::RegionOp op) {
      SmallVector<int32_t> checks(op.getChecks());
      for (int64_t i = 0; i < op.getNumAxes(); ++i) {
        tile::RegionAxis axis = op.getAxis(i);
        int64_t last = axis.kind == tile::AxisKind::Span ? axis.length - 1 : 0;
        auto index = ranges.of(axis.index), lower = ranges.of(axis.lower), upper = ranges.of(axis.upper);
        if (index && lower && index->low >= lower->high)
          checks[i] &= ~tile::CheckLower;
        // Without overflow: a tile's length is small, an index need not be.
        bool isBelow = index && upper && index->high < upper->low &&
                       last < upper->low - std::max<int64_t>(index->high, 0);
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
