// SPDX-License-Identifier: MIT
// What power of two divides an index: the proof behind every vector access.
#include "compiler/ir/VectorAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilegym::tile {

Value accessedTile(RegionOp op) {
  Value value = TypeSwitch<Operation *, Value>(op.getOperation())
                    .Case<LoadOp>([](auto load) { return load.getResult(); })
                    .Case<StoreOp, AtomicRMWOp, AtomicCasOp>([](auto store) { return store.getValue(); })
                    .Default([](Operation *) { return Value(); });
  return value && isa<RankedTensorType>(value.getType()) ? value : Value();
}

constexpr int64_t limit = int64_t(1) << 20;

static int64_t powerOfTwoIn(int64_t value) { return value == 0 ? limit : std::min(limit, value & -value); }

static int64_t divisor(Value value, int depth) {
  if (depth > 16)
    return 1;
  auto of = [&](Value v) { return divisor(v, depth + 1); };
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return powerOfTwoIn(constant.getInt());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() ? std::min(of(loop.getLowerBound()), of(loop.getStep()))
                                                      : 1;
  }
  Operation *op = value.getDefiningOp();
  if (auto param = dyn_cast<tile::ParamOp>(op))
    return powerOfTwoIn(param.getParam().getDivisor());
  if (isa<arith::AddIOp, arith::SubIOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(op))
    return std::min(of(op->getOperand(0)), of(op->getOperand(1)));
  if (isa<arith::MulIOp>(op))
    return std::min(limit, of(op->getOperand(0)) * of(op->getOperand(1)));
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return of(op->getOperand(0));
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return std::min(of(select.getTrueValue()), of(select.getFalseValue()));
  // A quotient without a rest: what is left of the dividend's power of two.
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op) &&
      matchPattern(op->getOperand(1), m_Constant(&constant)) && constant.getInt() > 0) {
    int64_t dividend = of(op->getOperand(0)), by = constant.getInt();
    return dividend % by == 0 ? dividend / by : 1;
  }
  if (auto shift = dyn_cast<arith::ShLIOp>(op))
    if (matchPattern(shift.getRhs(), m_Constant(&constant)) && constant.getInt() >= 0 &&
        constant.getInt() <= 20)
      return std::min(limit, of(shift.getLhs()) << constant.getInt());
  return 1;
}

int64_t knownDivisor(Value value) { return divisor(value, 0); }

namespace {

/// An element is base + slope * its coordinate on the last axis; the base does not depend on that, and is a multiple of `divisor`.
struct Slope {
  int64_t slope, divisor;
};

} // namespace

// Arithmetic that wraps does no harm: a power of two divides where it wraps, and no aligned run lies across.
static std::optional<Slope> slopeOf(Value value, int depth) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!type)
    return Slope{0, knownDivisor(value)};
  if (!op || depth > 16)
    return {};
  auto of = [&](Value v) { return slopeOf(v, depth + 1); };
  if (DenseIntElementsAttr all; matchPattern(value, m_Constant(&all)) && all.isSplat())
    return Slope{0, powerOfTwoIn(all.getSplatValue<APInt>().getSExtValue())};
  if (auto splat = dyn_cast<SplatOp>(op))
    return Slope{0, knownDivisor(splat.getValue())};
  if (auto iota = dyn_cast<IotaOp>(op))
    return int64_t(iota.getAxis()) == type.getRank() - 1 ? Slope{1, limit} : Slope{0, 1};
  if (isa<arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp, ConvertLayoutOp>(op))
    return of(op->getOperand(0));
  if (isa<ReshapeOp, BroadcastOp>(op)) {
    auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    std::optional<Slope> source = of(op->getOperand(0));
    if (!from || !source || from.getShape().back() == type.getShape().back())
      return source;
    if (from.getShape().back() == 1 || source->slope == 0)
      return Slope{0, source->divisor};
    return type.getShape().back() == 1 ? std::optional(Slope{0, 1}) : std::nullopt;
  }
  if (!isa<arith::AddIOp, arith::MulIOp>(op))
    return {};
  std::optional<Slope> a = of(op->getOperand(0)), b = of(op->getOperand(1));
  if (!a || !b)
    return {};
  if (isa<arith::AddIOp>(op))
    return Slope{a->slope + b->slope, std::min(a->divisor, b->divisor)};
  if (a->slope != 0 || b->slope != 0)
    return {};
  return Slope{0, std::min(limit, a->divisor * b->divisor)};
}

int64_t consecutiveRun(Value tile) {
  std::optional<Slope> slope = slopeOf(tile, 0);
  return slope && slope->slope == 1 ? slope->divisor : 1;
}

bool isConsecutive(Value tile) {
  std::optional<Slope> slope = slopeOf(tile, 0);
  return slope && slope->slope == 1;
}

VectorAxis vectorAxis(RegionOp op) {
  int64_t bytes = std::max<int64_t>(1, op.getBase().getType().getElementType().getIntOrFloatBitWidth() / 8);
  VectorAxis best;
  for (int64_t axis = 0; axis < op.getNumAxes(); ++axis) {
    RegionAxis a = op.getAxis(axis);
    IntegerAttr stride;
    if (a.kind != AxisKind::Span || (axis == 0 && op.hasGroup()) ||
        !matchPattern(a.stride, m_Constant(&stride)) || stride.getInt() != 1)
      continue;
    // Everything that adds to the address or bounds the axis is a multiple of the width.
    VectorAxis found = {axis, 16 / bytes, VectorAxis::None};
    auto narrow = [&](int64_t width, VectorAxis::Limit limit, int64_t limitAxis = -1) {
      if (width < found.width)
        found = {axis, std::max<int64_t>(width, 1), limit, limitAxis};
    };
    narrow(knownDivisor(a.index), VectorAxis::Begin);
    if (a.check & CheckLower)
      narrow(knownDivisor(a.lower), VectorAxis::Bounds);
    if (a.check & CheckUpper)
      narrow(knownDivisor(a.upper), VectorAxis::Bounds);
    narrow(knownDivisor(op.getBase()) / bytes, VectorAxis::Address);
    for (int64_t other = 0; other < op.getNumAxes(); ++other) {
      if (other == axis)
        continue;
      RegionAxis o = op.getAxis(other);
      bool opaque = other == 0 && op.hasGroup();
      int64_t fromIndex = o.kind == AxisKind::Point ? knownDivisor(o.index) : 1;
      if (opaque)
        narrow(1, VectorAxis::Group);
      else
        narrow(std::max(knownDivisor(o.stride), fromIndex), VectorAxis::Other, other);
    }
    if (best.axis < 0 || found.width > best.width)
      best = found;
  }
  return best;
}

} // namespace tilegym::tile
