// SPDX-License-Identifier: MIT
// Counts the trips of a loop that stay inside every bound, and gives them a loop of their own.
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_SPLITMASKEDLOOPS
#include "compiler/transforms/Passes.h.inc"

namespace {

/// scale * induction variable + offset; a null offset is 0.
struct Affine {
  int64_t scale = 1;
  Value offset;
};

/// One bound: the span `index .. index + length` must end at or below `upper`.
struct Bound {
  Affine index;
  int64_t length;
  Value upper;
  bool operator==(const Bound &other) const {
    return index.scale == other.index.scale && index.offset == other.index.offset && length == other.length &&
           upper == other.upper;
  }
};

std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) ? std::optional(constant.getSExtValue())
                                                       : std::nullopt;
}

std::optional<Affine> affineIn(scf::ForOp loop, Value index) {
  if (index == loop.getInductionVar())
    return Affine{};
  Operation *op = index.getDefiningOp();
  if (auto add = dyn_cast_if_present<arith::AddIOp>(op))
    for (auto [moving, fixed] :
         {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())})
      if (loop.isDefinedOutsideOfLoop(fixed))
        if (std::optional<Affine> inner = affineIn(loop, moving); inner && !inner->offset)
          return Affine{inner->scale, fixed};
  if (auto mul = dyn_cast_if_present<arith::MulIOp>(op))
    if (std::optional<int64_t> scale = constantOf(mul.getRhs());
        scale && *scale > 0 && mul.getLhs() == loop.getInductionVar())
      return Affine{*scale, {}};
  return {};
}

/// The bound of a mask `start + iota < upper`.
std::optional<Bound> boundOf(scf::ForOp loop, arith::CmpIOp mask) {
  auto sum = mask.getLhs().getDefiningOp<arith::AddIOp>();
  auto upper = mask.getRhs().getDefiningOp<tile::SplatOp>();
  if (!sum || !upper || mask.getPredicate() != arith::CmpIPredicate::slt ||
      !loop.isDefinedOutsideOfLoop(upper.getValue()))
    return {};
  for (auto [x, y] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
    auto start = x.getDefiningOp<tile::SplatOp>();
    auto iota = y.getDefiningOp<tile::IotaOp>();
    std::optional<Affine> index = start && iota ? affineIn(loop, start.getValue()) : std::nullopt;
    if (index)
      return Bound{*index, cast<RankedTensorType>(iota.getType()).getDimSize(iota.getAxis()),
                   upper.getValue()};
  }
  return {};
}

/// The bound of an axis if its upper end is in doubt and moves with the loop.
std::optional<Bound> boundOf(scf::ForOp loop, tile::RegionAxis axis) {
  if (axis.kind == tile::AxisKind::Gather || !(axis.check & tile::CheckUpper) ||
      !loop.isDefinedOutsideOfLoop(axis.upper))
    return {};
  std::optional<Affine> index = affineIn(loop, axis.index);
  if (!index)
    return {};
  return Bound{*index, axis.kind == tile::AxisKind::Span ? axis.length : 1, axis.upper};
}

struct SplitMaskedLoops : impl::SplitMaskedLoopsBase<SplitMaskedLoops> {
  using SplitMaskedLoopsBase::SplitMaskedLoopsBase;

  void runOnOperation() override {
    // A general kernel reads element by element, which a check each makes little slower, and is long already.
    if (getOperation().getFacts() == tile::Facts::General)
      return;
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      int64_t size = 0;
      bool isInnermost = true, hasProduct = false;
      loop.getBody()->walk([&](Operation *op) {
        ++size;
        isInnermost &= !isa<scf::ForOp, scf::WhileOp>(op);
        hasProduct |= isa<tile::DotOp>(op);
      });
      // Copies to shared memory fill with zeros for nothing, and a pipeline should not end before the last trips.
      if (isInnermost && !hasProduct && size <= maxOps)
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      split(loop);
  }

  static void split(scf::ForOp loop) {
    std::optional<int64_t> step = constantOf(loop.getStep());
    if (!step || *step <= 0)
      return;
    SmallVector<Bound> bounds;
    loop.getBody()->walk([&](tile::RegionOp op) {
      for (int64_t i = 0; i < op.getNumAxes(); ++i)
        if (std::optional<Bound> bound = boundOf(loop, op.getAxis(i));
            bound && !llvm::is_contained(bounds, *bound))
          bounds.push_back(*bound);
    });
    // A point that is the loop's own counter ends with the loop: nothing to split.
    llvm::erase_if(bounds, [&](const Bound &bound) {
      return bound.length == 1 && bound.index.scale == 1 && !bound.index.offset &&
             bound.upper == loop.getUpperBound();
    });
    if (bounds.empty())
      return;

    OpBuilder builder(loop);
    Value end;
    for (const Bound &bound : bounds) {
      Value one = wholeTripsEnd(builder, loop, *step, bound);
      end = end ? arith::MinSIOp::create(builder, loop.getLoc(), end, one) : one;
    }
    auto rest = cast<scf::ForOp>(builder.clone(*loop));
    // The loop itself becomes the one without checks; the copy goes on from where that ends.
    builder.setInsertionPointAfter(loop);
    rest->moveAfter(loop);
    for (auto [result, copy] : llvm::zip_equal(loop.getResults(), rest.getResults()))
      result.replaceAllUsesWith(copy);
    rest.getInitArgsMutable().assign(loop.getResults());
    rest.setLowerBound(end);
    builder.setInsertionPoint(loop);
    // Whole tiles of what the loop itself runs over end no later than it does.
    bool endsWithin = bounds.size() == 1 && isWholeTiles(loop, *step, bounds[0]) && !bounds[0].index.offset &&
                      bounds[0].index.scale == 1 && bounds[0].upper == loop.getUpperBound();
    loop.setUpperBound(
        endsWithin ? end
                   : arith::MinSIOp::create(builder, loop.getLoc(), end, loop.getUpperBound()).getResult());
    loop.getBody()->walk([&](tile::RegionOp op) {
      SmallVector<int32_t> checks(op.getChecks());
      for (int64_t i = 0; i < op.getNumAxes(); ++i)
        if (std::optional<Bound> bound = boundOf(loop, op.getAxis(i));
            bound && llvm::is_contained(bounds, *bound))
          checks[i] &= ~tile::CheckUpper;
      op.setChecks(checks);
    });
    // Nor does a mask tell what the bounds tell.
    loop.getBody()->walk([&](arith::CmpIOp mask) {
      std::optional<Bound> bound = boundOf(loop, mask);
      if (!bound || !llvm::is_contained(bounds, *bound))
        return;
      OpBuilder inner(mask);
      auto yes = DenseElementsAttr::get(cast<ShapedType>(mask.getType()), true);
      mask.replaceAllUsesWith(arith::ConstantOp::create(inner, mask.getLoc(), yes).getResult());
    });
  }

  /// Tile after tile from zero: the common case, which a divisor of the extent or a constant extent folds.
  static bool isWholeTiles(scf::ForOp loop, int64_t step, const Bound &bound) {
    return constantOf(loop.getLowerBound()) == 0 && step * bound.index.scale == bound.length;
  }

  /// The first value of the induction variable, on its grid, at which the bound may be crossed.
  static Value wholeTripsEnd(OpBuilder &builder, scf::ForOp loop, int64_t step, const Bound &bound) {
    Location loc = loop.getLoc();
    Type type = loop.getInductionVar().getType();
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
    };
    Value upper = bound.upper;
    if (bound.index.offset)
      upper = arith::SubIOp::create(builder, loc, upper, bound.index.offset);
    if (isWholeTiles(loop, step, bound)) {
      bool isExtent = upper.getDefiningOp<tile::ParamOp>() != nullptr; // never negative
      Value room = isExtent ? upper : arith::MaxSIOp::create(builder, loc, upper, number(0)).getResult();
      Value tiles = arith::DivUIOp::create(builder, loc, room, number(bound.length));
      return arith::MulIOp::create(builder, loc, tiles, number(step));
    }
    // iv * scale + length <= upper, so iv < floor((upper - length) / scale) + 1; then up to the next trip.
    Value room = arith::SubIOp::create(builder, loc, upper, number(bound.length));
    Value last = arith::FloorDivSIOp::create(builder, loc, room, number(bound.index.scale));
    Value distance = arith::SubIOp::create(builder, loc, arith::AddIOp::create(builder, loc, last, number(1)),
                                           loop.getLowerBound());
    Value trips = arith::CeilDivSIOp::create(
        builder, loc, arith::MaxSIOp::create(builder, loc, distance, number(0)), number(step));
    return arith::AddIOp::create(builder, loc, loop.getLowerBound(),
                                 arith::MulIOp::create(builder, loc, trips, number(step)));
  }
};

} // namespace
} // namespace tilegym::transforms
