// SPDX-License-Identifier: MIT
// Follows values through one thread's program.
#include "Equivalence.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tilegym::mutation {
namespace {

/// Is `weaker` true wherever `stronger` is?
bool implies(Value stronger, Value weaker) {
  if (stronger == weaker)
    return true;
  auto both = stronger.getDefiningOp<arith::AndIOp>();
  return both && (implies(both.getLhs(), weaker) || implies(both.getRhs(), weaker));
}

/// Where `condition` is false, is this use without effect: under a branch or a predicate that is then false, or a way of a select that is then not taken?
bool isBlocked(Value condition, OpOperand &use) {
  Operation *user = use.getOwner();
  if (OpOperand *predicate = predicateOf(user); predicate && implies(predicate->get(), condition))
    return predicate != &use;
  if (auto both = dyn_cast<arith::AndIOp>(user))
    return implies(both->getOperand(1 - use.getOperandNumber()), condition);
  if (auto select = dyn_cast<arith::SelectOp>(user))
    return use.getOperandNumber() == 1 && implies(select.getCondition(), condition);
  for (Operation *inner = user; Operation *parent = inner->getParentOp(); inner = parent)
    if (auto branch = dyn_cast<scf::IfOp>(parent); branch &&
                                                   inner->getParentRegion() == &branch.getThenRegion() &&
                                                   implies(branch.getCondition(), condition))
      return true;
  return false;
}

/// Does `value` matter nowhere but where `condition` is true? Shuffles and branches are other ways, and not pure.
bool staysUnder(Value condition, Value value, llvm::DenseSet<Value> &seen) {
  if (!seen.insert(value).second)
    return true;
  for (OpOperand &use : value.getUses()) {
    if (isBlocked(condition, use))
      continue;
    Operation *user = use.getOwner();
    if (!isPure(user) || user->getNumRegions())
      return false;
    for (Value result : user->getResults())
      if (!staysUnder(condition, result, seen))
        return false;
  }
  return true;
}

/// Equal in all lanes of a warp, by where it comes from.
bool isUniform(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return isa<LLVM::LLVMFuncOp>(cast<BlockArgument>(value).getOwner()->getParentOp());
  // The number of the warp is that of the thread without its lower five bits.
  if (auto shift = dyn_cast<arith::ShRUIOp>(op)) {
    APInt bits;
    if (shift.getLhs().getDefiningOp<ptx::ThreadIdOp>() &&
        matchPattern(shift.getRhs(), m_ConstantInt(&bits)) && bits.getZExtValue() >= 5)
      return true;
  }
  bool isSource = isa<arith::ConstantOp, ptx::BlockIdOp, ptx::GridSizeOp>(op);
  bool isArithmetic = isa_and_nonnull<arith::ArithDialect>(op->getDialect());
  return isSource || (isArithmetic && llvm::all_of(op->getOperands(), isUniform));
}

/// Is it true in lane 0 alone?
bool isLaneZero(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      !matchPattern(compare.getRhs(), m_Zero()))
    return false;
  Value lane = compare.getLhs();
  auto mask = lane.getDefiningOp<arith::AndIOp>();
  return lane.getDefiningOp<ptx::LaneIdOp>() ||
         (mask && mask.getLhs().getDefiningOp<ptx::ThreadIdOp>() && getConstantIntValue(mask.getRhs()) == 31);
}

/// Lane 0 gets lane k's value by `xor k`, `down k` and `index k` alike, and nobody looks at what the others get.
bool onlyLaneZeroMatters(ptx::ShuffleOp shuffle) {
  if (shuffle.getKind() == ptx::ShuffleKind::Up)
    return false;
  bool found = false;
  shuffle->getParentOfType<LLVM::LLVMFuncOp>().walk([&](arith::CmpIOp compare) {
    llvm::DenseSet<Value> seen;
    found = found || (isLaneZero(compare) && staysUnder(compare, shuffle.getResult(), seen));
  });
  return found;
}

} // namespace

/// Nothing but arithmetic, lanes' exchanges and reads of what nobody writes, in it and in its regions.
static bool meetsNobody(Operation *op) {
  return !op->walk([](Operation *inner) {
              auto load = dyn_cast<ptx::LoadGlobalOp>(inner);
              bool isQuiet = isPure(inner) || (load && load.getReadonly()) ||
                             isa<ptx::ShuffleOp, ptx::VoteOp>(inner) ||
                             isa<scf::IfOp, scf::ForOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp>(inner);
              return isQuiet ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

std::string equivalentByOrder(const Operator &kind, Operation *op) {
  if (kind.name != "drop-barrier" || !isa<ptx::BarrierOp>(op))
    return "";
  Operation *before = op->getPrevNode(), *after = op->getNextNode();
  while (before && !isa<ptx::BarrierOp>(before) && meetsNobody(before))
    before = before->getPrevNode();
  while (after && !isa<ptx::BarrierOp, LLVM::ReturnOp>(after) && meetsNobody(after))
    after = after->getNextNode();
  bool isFirst = !before && isa<LLVM::LLVMFuncOp>(op->getParentOp());
  bool isBeside =
      isa_and_nonnull<ptx::BarrierOp>(before) || isa_and_nonnull<ptx::BarrierOp, LLVM::ReturnOp>(after);
  return isFirst || isBeside ? "nothing to order" : "";
}

/// Does the comparison say the same of (a, b) as of (b, a)?
static bool isSymmetric(Operation *op) {
  using I = arith::CmpIPredicate;
  using F = arith::CmpFPredicate;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compare.getPredicate() == I::eq || compare.getPredicate() == I::ne;
  auto compare = dyn_cast<arith::CmpFOp>(op);
  return compare &&
         llvm::is_contained({F::OEQ, F::UEQ, F::ONE, F::UNE, F::ORD, F::UNO}, compare.getPredicate());
}

/// (2^64 - 1) / d still, but for the lowest byte: of a quotient's estimate, the upper half of n times it, which is less by 1 at most for all n below 2^56.
static bool isEstimate(Operation *op) {
  auto divide = dyn_cast<arith::DivUIOp>(op);
  APInt most;
  return divide && divide.getType().isInteger(64) && matchPattern(divide.getLhs(), m_ConstantInt(&most)) &&
         most.getZExtValue() >= ~uint64_t(0xff) && llvm::all_of(divide->getUsers(), [](Operation *user) {
           auto product = dyn_cast<arith::MulUIExtendedOp>(user);
           return product && product.getLow().use_empty();
         });
}

std::string equivalentByFlow(const Operator &kind, Operation *op, unsigned place) {
  if (kind.name == "swap-operands")
    return isSymmetric(op) ? "symmetric comparison" : "";
  if (kind.name == "flip-bit")
    return isEstimate(op) ? "an estimate that is corrected" : "";
  if (kind.name != "change-other" && kind.name != "change-kind" && kind.name != "change-lane" &&
      kind.name != "drop-guard" && kind.name != "negate-condition")
    return ""; // the operation may be gone
  if (isa<ptx::TensorPrefetchOp>(op))
    return "prefetch";
  if (auto shuffle = dyn_cast<ptx::ShuffleOp>(op)) {
    if (isUniform(shuffle.getValue()))
      return "one value in all lanes";
    return kind.name == "change-kind" && onlyLaneZeroMatters(shuffle) ? "only lane 0's" : "";
  }
  auto load = dyn_cast<ptx::LoadGlobalOp>(op);
  if (kind.name != "change-other" || !load)
    return "";
  llvm::DenseSet<Value> seen;
  return staysUnder(load.getPredicate(), load.getWords()[place], seen) ? "value of masked elements" : "";
}

} // namespace tilegym::mutation
