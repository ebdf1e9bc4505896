// SPDX-License-Identifier: MIT
// What power of two divides an index: the proof behind every vector access.
#include "compiler/targets/nvidia/threads/Access.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilegym::nvidia {

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
  if (auto shift = dyn_cast<arith::ShLIOp>(op))
    if (matchPattern(shift.getRhs(), m_Constant(&constant)) && constant.getInt() >= 0 &&
        constant.getInt() <= 20)
      return std::min(limit, of(shift.getLhs()) << constant.getInt());
  return 1;
}

int64_t knownDivisor(Value value) { return divisor(value, 0); }

} // namespace tilegym::nvidia
