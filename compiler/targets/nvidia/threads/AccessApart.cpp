// SPDX-License-Identifier: MIT
// Two proofs: both accesses give each thread the same elements, or on some axis one ends before the other begins.
#include "compiler/targets/nvidia/threads/AccessApart.h"
#include "compiler/ir/VectorAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

/// The number that a value stands for, whatever its width: indices are narrowed only where they fit.
Value withoutCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) ? std::optional(constant.getSExtValue())
                                                       : std::nullopt;
}

constexpr int maxDepth = 8; ///< of the expressions that the proofs below look into

bool isNonNegative(Value value, int depth = 0) {
  value = withoutCasts(value);
  if (std::optional<int64_t> constant = constantOf(value))
    return *constant >= 0;
  Operation *op = value.getDefiningOp();
  if (!op || depth == maxDepth)
    return false;
  auto operand = [&](unsigned i) { return isNonNegative(op->getOperand(i), depth + 1); };
  if (isa<arith::DivUIOp, arith::RemUIOp>(op))
    return true;
  if (isa<arith::AddIOp, arith::MulIOp>(op))
    return operand(0) && operand(1);
  if (isa<arith::MaxSIOp>(op))
    return operand(0) || operand(1);
  return isa<arith::SelectOp>(op) && operand(1) && operand(2);
}

/// Proves a <= b. Both are places or extents on an axis, so sums do not overflow and what is divided is not negative.
bool isAtMost(Value a, Value b, int depth = 0) {
  a = withoutCasts(a), b = withoutCasts(b);
  if (a == b)
    return true;
  std::optional<int64_t> low = constantOf(a), high = constantOf(b);
  if (low && high)
    return *low <= *high;
  if (depth == maxDepth)
    return false;
  auto proves = [&](Value x, Value y) { return isAtMost(x, y, depth + 1); };
  if (Operation *op = a.getDefiningOp()) {
    if (isa<arith::MinSIOp, arith::MinUIOp>(op) &&
        (proves(op->getOperand(0), b) || proves(op->getOperand(1), b)))
      return true;
    if (isa<arith::DivUIOp>(op) && proves(op->getOperand(0), b))
      return true;
  }
  if (Operation *op = b.getDefiningOp()) {
    if (isa<arith::MaxSIOp>(op))
      return proves(a, op->getOperand(0)) || proves(a, op->getOperand(1));
    if (isa<arith::AddIOp>(op))
      for (unsigned i : {0, 1})
        if (proves(a, op->getOperand(i)) && isNonNegative(op->getOperand(1 - i)))
          return true;
    return false;
  }
  // A loop counts up from its lower bound.
  auto loop = dyn_cast<scf::ForOp>(b.getParentBlock()->getParentOp());
  return loop && b == loop.getInductionVar() && proves(a, loop.getLowerBound());
}

bool isGather(tile::RegionAxis axis) { return axis.kind == tile::AxisKind::Gather; }
int64_t extentOf(tile::RegionAxis axis) { return axis.kind == tile::AxisKind::Span ? axis.length : 1; }

/// What `a` touches on the axis lies below what `b` does: it stays below its bound, checked or proved.
bool endsBefore(tile::RegionAxis a, tile::RegionAxis b) {
  if (isAtMost(a.upper, b.index))
    return true;
  std::optional<int64_t> from = constantOf(a.index), to = constantOf(b.index);
  return from && to && *from + extentOf(a) <= *to;
}

bool areDisjoint(tile::RegionOp a, tile::RegionOp b) {
  for (int64_t i = 0; i < a.getNumAxes(); ++i) {
    tile::RegionAxis x = a.getAxis(i), y = b.getAxis(i);
    if (!isGather(x) && !isGather(y) && (endsBefore(x, y) || endsBefore(y, x)))
      return true;
  }
  return false;
}

/// Each thread touches the same elements through both, and no other thread does.
bool haveSameOwners(const ThreadBuilder &t, tile::RegionOp a, tile::RegionOp b) {
  Value tileA = tile::accessedTile(a), tileB = tile::accessedTile(b);
  if (!tileA || !tileB)
    return false;
  const layout::Layout *layout = t.layoutOf(tileA.getType()), *other = t.layoutOf(tileB.getType());
  if (!layout || !other || !(*layout == *other))
    return false;
  for (layout::Dim dim : {layout::Dim::Lane, layout::Dim::Warp, layout::Dim::Block})
    if (layout->freeBits(dim))
      return false;
  for (int64_t i = 0; i < a.getNumAxes(); ++i) {
    tile::RegionAxis x = a.getAxis(i), y = b.getAxis(i);
    if (x.kind != y.kind || isGather(x) || x.length != y.length ||
        withoutCasts(x.index) != withoutCasts(y.index))
      return false;
  }
  return true;
}

bool isAtomic(tile::RegionOp op) { return !isa<tile::LoadOp, tile::StoreOp>(op.getOperation()); }

} // namespace

bool keepApart(const ThreadBuilder &t, tile::RegionOp a, tile::RegionOp b) {
  if (a.getNumAxes() != b.getNumAxes())
    return false;
  return areDisjoint(a, b) || (!isAtomic(a) && !isAtomic(b) && haveSameOwners(t, a, b));
}

bool turnsKeepApart(tile::RegionOp a, tile::RegionOp b, scf::ForOp loop) {
  std::optional<int64_t> step = constantOf(loop.getStep());
  auto isDirect = [&](tile::RegionOp op) { return op->getParentOp() == loop.getOperation(); };
  if (!step || !isDirect(a) || !isDirect(b) || a.getNumAxes() != b.getNumAxes())
    return false;
  auto counts = [&](tile::RegionAxis axis) {
    return !isGather(axis) && withoutCasts(axis.index) == loop.getInductionVar() && *step >= extentOf(axis);
  };
  for (int64_t i = 0; i < a.getNumAxes(); ++i)
    if (counts(a.getAxis(i)) && counts(b.getAxis(i)))
      return true;
  return false;
}

} // namespace tilegym::nvidia
