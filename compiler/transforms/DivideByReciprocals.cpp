// SPDX-License-Identifier: MIT
// Divisions of a persistent kernel's blocks: a producer makes them while nothing is on its way, and ptxas's own take some 120 cycles each, most of them for a reciprocal.
#include "compiler/transforms/GridExtent.h"
#include "compiler/transforms/IndexRange.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_DIVIDEBYRECIPROCALS
#include "compiler/transforms/Passes.h.inc"

namespace {

constexpr uint64_t largest = 0xFFFFFFFF; ///< the reciprocal of d is this, divided by d

class Divider {
public:
  Divider(scf::ForOp grid, const IndexRanges &ranges) : grid(grid), ranges(ranges), b(grid) {}

  void rewrite(Operation *op) {
    Value number = op->getOperand(0), divisor = op->getOperand(1);
    b.setInsertionPoint(op);
    loc = op->getLoc();
    Value reciprocal = reciprocalOf(divisor);
    if (!reciprocal)
      return;
    // The product's upper half is the quotient, or one less: the reciprocal is less than 2^32 / d by at most 1, and the number is below 2^32.
    Type wide = b.getI64Type();
    Value product = arith::MulIOp::create(b, loc, arith::ExtUIOp::create(b, loc, wide, number),
                                          arith::ExtUIOp::create(b, loc, wide, reciprocal));
    Value half = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
    Value quotient =
        arith::TruncIOp::create(b, loc, b.getI32Type(), arith::ShRUIOp::create(b, loc, product, half));
    Value left = arith::SubIOp::create(b, loc, number, arith::MulIOp::create(b, loc, quotient, divisor));
    Value isLess = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, left, divisor);
    Value one = isa<arith::DivUIOp>(op) ? arith::AddIOp::create(b, loc, quotient, constant(1)).getResult()
                                        : arith::SubIOp::create(b, loc, left, divisor).getResult();
    Value other = isa<arith::DivUIOp>(op) ? quotient : left;
    op->getResult(0).replaceAllUsesWith(arith::SelectOp::create(b, loc, isLess, one, other));
    op->erase();
  }

private:
  Value constant(uint64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(uint32_t(value))));
  }

  /// Chosen where there are few, else of what is the same for all blocks; null if the division is to stay.
  Value reciprocalOf(Value divisor) {
    constexpr int64_t few = 8;
    if (matchPattern(divisor, m_Constant()))
      return {};
    if (auto range = ranges.of(divisor); range && range->low >= 1 && range->high <= few) {
      Value chosen = constant(largest / uint64_t(range->low));
      for (int64_t d = range->low + 1; d <= range->high; ++d) {
        Value is = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, divisor, constant(uint64_t(d)));
        chosen = arith::SelectOp::create(b, loc, is, constant(largest / uint64_t(d)), chosen);
      }
      return chosen;
    }
    if (!grid.isDefinedOutsideOfLoop(divisor))
      return {};
    Value &made = reciprocals[divisor];
    if (!made) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(grid);
      // Also where no block divides by it.
      Value safe = arith::MaxUIOp::create(b, loc, divisor, constant(1));
      made = arith::DivUIOp::create(b, loc, constant(largest), safe);
    }
    return made;
  }

  scf::ForOp grid;
  const IndexRanges &ranges;
  OpBuilder b;
  Location loc = grid.getLoc();
  DenseMap<Value, Value> reciprocals;
};

struct DivideByReciprocals : impl::DivideByReciprocalsBase<DivideByReciprocals> {
  void runOnOperation() override {
    Block &body = getOperation().getBody().front();
    for (auto loop : llvm::make_filter_range(body.getOps<scf::ForOp>(), isGridLoop)) {
      IndexRanges ranges(getOperation());
      Divider divider(loop, ranges);
      SmallVector<Operation *> divisions;
      loop.walk([&](Operation *op) {
        if (isa<arith::DivUIOp, arith::RemUIOp>(op) && op->getResult(0).getType().isInteger(32))
          divisions.push_back(op);
      });
      for (Operation *op : divisions)
        divider.rewrite(op);
    }
  }
};

} // namespace
} // namespace tilegym::transforms
