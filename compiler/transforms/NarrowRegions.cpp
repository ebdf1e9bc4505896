// SPDX-License-Identifier: MIT
// Clamps keep what is out of bounds out of bounds: bounds are in 0 .. maxFastExtent, and a span that starts at the greatest start
// that is left ends at 2^31 at the latest.
#include "compiler/transforms/IndexRange.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_NARROWREGIONS
#include "compiler/transforms/Passes.h.inc"

namespace {

constexpr int64_t least = -(int64_t(1) << 31), most = (int64_t(1) << 31) - 1;

struct NarrowRegions : impl::NarrowRegionsBase<NarrowRegions> {
  void runOnOperation() override {
    if (getOperation().getFacts() != tile::Facts::Fast)
      return;
    IndexRanges ranges(getOperation());
    if (!ranges.isValid())
      return signalPassFailure();
    getOperation().walk([&](tile::RegionOp op) {
      OpBuilder builder(op);
      for (int64_t i = 0; i < op.getNumAxes(); ++i) {
        tile::RegionAxis axis = op.getAxis(i);
        // By its place: several operands may hold the same value.
        MutableArrayRef<OpOperand> operands = op->getOpOperands();
        auto operandAt = [&](OperandRange range) -> OpOperand & {
          return operands[range.getBeginOperandIndex() + i];
        };
        int64_t last = axis.kind == tile::AxisKind::Span ? axis.length - 1 : 0;
        if (getElementTypeOrSelf(axis.index.getType()).isInteger(64)) {
          Value fits = clamp(builder, op.getLoc(), ranges, axis.index, least, most - last);
          Type type = builder.getI32Type();
          if (auto tile = dyn_cast<RankedTensorType>(fits.getType()))
            type = tile.clone(type);
          operandAt(op.getIndices()).set(arith::TruncIOp::create(builder, op.getLoc(), type, fits));
        }
        if (axis.check & tile::CheckLower)
          operandAt(op.getLowers()).set(clamp(builder, op.getLoc(), ranges, axis.lower, least, most));
        if (axis.check & tile::CheckUpper)
          operandAt(op.getUppers()).set(clamp(builder, op.getLoc(), ranges, axis.upper, least, most));
      }
    });
  }

  /// The value, or where the analysis does not know it to be in low .. high, the nearest that is.
  static Value clamp(OpBuilder &builder, Location loc, IndexRanges &ranges, Value value, int64_t low,
                     int64_t high) {
    auto range = ranges.of(value);
    auto limit = [&](int64_t number) -> Value {
      TypedAttr attr = builder.getI64IntegerAttr(number);
      if (auto tile = dyn_cast<RankedTensorType>(value.getType()))
        attr = SplatElementsAttr::get(tile, attr);
      return arith::ConstantOp::create(builder, loc, attr);
    };
    if (!range || range->low < low)
      value = arith::MaxSIOp::create(builder, loc, value, limit(low));
    if (!range || range->high > high)
      value = arith::MinSIOp::create(builder, loc, value, limit(high));
    return value;
  }
};

} // namespace
} // namespace tilegym::transforms
