// SPDX-License-Identifier: MIT
// A search in a loop goes on from where the trip before it ended, if what it looks for only grows: the steps that it took then, it would take again.
#include "compiler/targets/nvidia/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilegym::nvidia {
#define GEN_PASS_DEF_RESUMESEARCHES
#include "compiler/targets/nvidia/Passes.h.inc"

namespace {
using namespace mlir;

/// Whether the value is at least what it was a trip before.
bool grows(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  auto add = dyn_cast_or_null<arith::AddIOp>(op);
  if (!(add && bitEnumContainsAny(add.getOverflowFlags(), arith::IntegerOverflowFlags::nsw)) &&
      !isa_and_nonnull<arith::MinSIOp, arith::MaxSIOp>(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return grows(operand, loop); });
}

/// Whether another run gives the same: parameters in memory do not change.
bool isRepeatable(Operation &op) {
  auto load = dyn_cast<LLVM::LoadOp>(op);
  if (!load)
    return isMemoryEffectFree(&op);
  Value from = load.getAddr();
  while (auto part = from.getDefiningOp<LLVM::GEPOp>())
    from = part.getBase();
  auto argument = dyn_cast<BlockArgument>(from);
  auto function = argument ? dyn_cast<LLVM::LLVMFuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  return function && function.getArgAttr(argument.getArgNumber(), "nvvm.grid_constant");
}

/// What the search compares its own values with, if it goes on while that is not below them; null if it is no search that may be resumed.
Value soughtBy(scf::WhileOp search, scf::ForOp loop) {
  scf::ConditionOp condition = search.getConditionOp();
  auto compare = condition.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare || compare->getBlock() != search.getBeforeBody() ||
      condition.getArgs() != ValueRange(search.getBeforeArguments()) ||
      !llvm::all_of(search.getInits(), [&](Value init) { return loop.isDefinedOutsideOfLoop(init); }))
    return {};
  arith::CmpIPredicate predicate = compare.getPredicate();
  bool isRight = predicate == arith::CmpIPredicate::sle || predicate == arith::CmpIPredicate::slt;
  if (!isRight && predicate != arith::CmpIPredicate::sge && predicate != arith::CmpIPredicate::sgt)
    return {};
  unsigned side = isRight ? 1 : 0;
  auto isOwn = [&](Value value) {
    return loop.isDefinedOutsideOfLoop(value) || search->isAncestor(value.getParentRegion()->getParentOp());
  };
  bool same = !search
                   .walk([&](Operation *inner) {
                     if (inner == search)
                       return WalkResult::advance();
                     for (OpOperand &operand : inner->getOpOperands())
                       if (!isOwn(operand.get()) && (inner != compare || operand.getOperandNumber() != side))
                         return WalkResult::interrupt();
                     return isRepeatable(*inner) ? WalkResult::advance() : WalkResult::interrupt();
                   })
                   .wasInterrupted();
  Value sought = compare->getOperand(side);
  return same && !search->isAncestor(sought.getParentRegion()->getParentOp()) && grows(sought, loop)
             ? sought
             : Value();
}

struct ResumeSearchesPass : impl::ResumeSearchesBase<ResumeSearchesPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops) {
      SmallVector<scf::WhileOp> searches;
      SmallVector<Value> begins;
      for (auto search : loop.getBody()->getOps<scf::WhileOp>())
        if (search.getNumResults() && soughtBy(search, loop)) {
          searches.push_back(search);
          llvm::append_range(begins, search.getInits());
        }
      if (searches.empty())
        continue;
      auto ends = [&](OpBuilder &, Location, ArrayRef<BlockArgument> carried) {
        SmallVector<Value> values;
        for (scf::WhileOp search : searches) {
          search.getInitsMutable().assign(ValueRange(carried.take_front(search.getInits().size())));
          carried = carried.drop_front(search.getInits().size());
          llvm::append_range(values, search.getResults());
        }
        return values;
      };
      (void)loop.replaceWithAdditionalYields(rewriter, begins, /*replaceInitOperandUsesInLoop=*/false, ends);
    }
  }
};

} // namespace

} // namespace tilegym::nvidia
