// SPDX-License-Identifier: MIT
// Follows values through one thread's program.
#include "Equivalence.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tilegym::mutation {
namespace {

constexpr unsigned kSharedSpace = 3; // of NVVM

/// Computed from the same by the same operations.
bool isSame(Value one, Value other, unsigned depth = 8) {
  if (one == other)
    return true;
  Operation *a = one.getDefiningOp(), *b = other.getDefiningOp();
  return depth && a && b && isPure(a) && !a->getNumRegions() && a->getName() == b->getName() &&
         a->getNumOperands() == b->getNumOperands() && a->getAttrDictionary() == b->getAttrDictionary() &&
         a->getPropertiesAsAttribute() == b->getPropertiesAsAttribute() &&
         cast<OpResult>(one).getResultNumber() == cast<OpResult>(other).getResultNumber() &&
         llvm::all_of(llvm::zip(a->getOperands(), b->getOperands()),
                      [&](auto pair) { return isSame(std::get<0>(pair), std::get<1>(pair), depth - 1); });
}

/// Is `weaker` true wherever `stronger` is?
bool implies(Value stronger, Value weaker) {
  if (isSame(stronger, weaker))
    return true;
  if (auto all = weaker.getDefiningOp<arith::AndIOp>())
    return implies(stronger, all.getLhs()) && implies(stronger, all.getRhs());
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

/// The number of the thread in its warp.
bool isLane(Value value) {
  auto mask = value.getDefiningOp<arith::AndIOp>();
  return value.getDefiningOp<ptx::LaneIdOp>() ||
         (mask && mask.getLhs().getDefiningOp<ptx::ThreadIdOp>() && getConstantIntValue(mask.getRhs()) == 31);
}

/// That of the warp: the thread's without its lower five bits, or some bits of that.
bool isWarp(Value value) {
  if (auto mask = value.getDefiningOp<arith::AndIOp>())
    return isWarp(mask.getLhs()) && matchPattern(mask.getRhs(), m_Constant());
  auto shift = value.getDefiningOp<arith::ShRUIOp>();
  APInt bits;
  return shift && shift.getLhs().getDefiningOp<ptx::ThreadIdOp>() &&
         matchPattern(shift.getRhs(), m_ConstantInt(&bits)) && bits.getZExtValue() >= 5;
}

enum class Among { Warp, Block };

/// Equal in all lanes of a warp or all threads of a block, by where it comes from.
bool isUniform(Value value, Among among);

/// What a butterfly leaves, level by level: an operation that does not care about order, of a lane's value and that of the lane across. `missing` are the
/// distances that it still has to cover: without one of them, lanes differ.
bool isButterfly(Value value, uint32_t missing = 31) {
  if (!missing)
    return true;
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp, arith::MaximumFOp, arith::MaxNumFOp, arith::MinimumFOp,
                       arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp, arith::OrIOp, arith::AndIOp>(op))
    return false;
  for (unsigned own : {0u, 1u})
    if (auto across = op->getOperand(1 - own).getDefiningOp<ptx::ShuffleOp>();
        across && across.getKind() == ptx::ShuffleKind::Xor && across.getValue() == op->getOperand(own))
      if (std::optional<int64_t> lane = getConstantIntValue(across.getLane());
          lane && llvm::isPowerOf2_64(uint64_t(*lane)) && (missing & uint32_t(*lane)))
        return isButterfly(op->getOperand(own), missing & ~uint32_t(*lane));
  return false;
}

bool isUniform(Value value, Among among) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return isa<LLVM::LLVMFuncOp>(cast<BlockArgument>(value).getOwner()->getParentOp());
  if (among == Among::Warp && (isWarp(value) || isButterfly(value)))
    return true;
  if (isa<arith::ConstantOp, LLVM::PoisonOp, ptx::BlockIdOp, ptx::GridSizeOp, ptx::SharedBaseOp>(op))
    return true;
  // Of shared memory: a write between two threads' reads would be a race.
  auto load = dyn_cast<LLVM::LoadOp>(op);
  bool isShared =
      load && cast<LLVM::LLVMPointerType>(load.getAddr().getType()).getAddressSpace() == kSharedSpace;
  return (isShared || isPure(op)) && op->getNumOperands() && !op->getNumRegions() &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isUniform(operand, among); });
}

/// Does a condition decide nothing but which of several threads stores what all of them have, where all of them would?
bool onlyChoosesOwner(Value condition, Among among) {
  auto isCommon = [&](Operation *op) {
    auto store = dyn_cast<ptx::StoreGlobalOp>(op);
    OpOperand *predicate = predicateOf(op);
    return (store || isa<LLVM::StoreOp>(op)) && llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
             return &operand == predicate || isUniform(operand.get(), among);
           });
  };
  return llvm::all_of(condition.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<arith::AndIOp>(user))
      return onlyChoosesOwner(user->getResult(0), among);
    if (auto branch = dyn_cast<scf::IfOp>(user))
      return branch.getElseRegion().empty() && llvm::all_of(*branch.thenBlock(), [&](Operation &inner) {
               return isPure(&inner) || isCommon(&inner);
             });
    return &use == predicateOf(user) && isCommon(user);
  });
}

/// Another lane, or another warp of those there are, than the first is asked to do it.
bool isAnotherOwner(Operation *op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  APInt asked;
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      !matchPattern(compare.getRhs(), m_ConstantInt(&asked)))
    return false;
  auto threads = op->getParentOfType<LLVM::LLVMFuncOp>()->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid");
  uint64_t warps = threads ? uint64_t(threads[0]) / 32 : 1;
  return (isLane(compare.getLhs()) && asked.ult(32) && onlyChoosesOwner(compare, Among::Warp)) ||
         (isWarp(compare.getLhs()) && asked.ult(warps) && onlyChoosesOwner(compare, Among::Block));
}

/// Is it true in lane 0 alone?
bool isLaneZero(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      !matchPattern(compare.getRhs(), m_Zero()))
    return false;
  return isLane(compare.getLhs());
}

constexpr uint32_t kAllLanes = ~0u;

/// In which lanes a value matters, a bit each, given a condition that is true in lane 0 alone.
uint32_t lanesThatMatter(Value laneZero, Value value, llvm::DenseMap<Value, uint32_t> &known) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  uint32_t lanes = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isBlocked(laneZero, use)) {
      lanes |= 1;
    } else if (auto shuffle = dyn_cast<ptx::ShuffleOp>(user)) {
      std::optional<int64_t> across = getConstantIntValue(shuffle.getLane());
      if (shuffle.getKind() != ptx::ShuffleKind::Xor || !across || use.get() != shuffle.getValue())
        return known[value] = kAllLanes;
      uint32_t heard = lanesThatMatter(laneZero, shuffle.getResult(), known);
      for (uint32_t lane = 0; lane < 32; ++lane)
        if (heard >> lane & 1)
          lanes |= 1u << (lane ^ uint32_t(*across));
    } else if (isPure(user) && !user->getNumRegions()) {
      for (Value result : user->getResults())
        lanes |= lanesThatMatter(laneZero, result, known);
    } else {
      return known[value] = kAllLanes;
    }
  }
  return known[value] = lanes;
}

/// An exchange across became one of another kind: do those that matter still hear the same lane?
bool heardTheSame(ptx::ShuffleOp shuffle) {
  std::optional<int64_t> constant = getConstantIntValue(shuffle.getLane());
  if (!constant)
    return false;
  auto source = [&](uint32_t lane) {
    uint32_t by = uint32_t(*constant);
    switch (shuffle.getKind()) {
    case ptx::ShuffleKind::Down:
      return lane + by < 32 ? lane + by : lane;
    case ptx::ShuffleKind::Up:
      return lane >= by ? lane - by : lane;
    case ptx::ShuffleKind::Index:
      return by;
    case ptx::ShuffleKind::Xor:
      return lane ^ by;
    }
    llvm_unreachable("no other kind");
  };
  uint32_t lanes = kAllLanes;
  shuffle->getParentOfType<LLVM::LLVMFuncOp>().walk([&](arith::CmpIOp compare) {
    llvm::DenseMap<Value, uint32_t> known;
    if (isLaneZero(compare))
      lanes &= lanesThatMatter(compare, shuffle.getResult(), known);
  });
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (lanes >> lane & 1 && source(lane) != (lane ^ uint32_t(*constant)))
      return false;
  return true;
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

/// Is `condition` part of loads' masks alone, and does what they give matter only where their masks are true as they are?
static bool masksOnly(Value condition) {
  return llvm::all_of(condition.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<arith::AndIOp>(user))
      return masksOnly(user->getResult(0));
    auto load = dyn_cast<ptx::LoadGlobalOp>(user);
    llvm::DenseSet<Value> seen;
    return load && &use == predicateOf(user) && llvm::all_of(load.getWords(), [&](Value word) {
             return staysUnder(load.getPredicate(), word, seen);
           });
  });
}

std::string equivalentByMask(const Operator &kind, Operation *op) {
  using P = arith::CmpIPredicate;
  auto compare = dyn_cast<arith::CmpIOp>(op);
  bool isWider = (kind.name == "shift-bound" &&
                  llvm::is_contained({P::slt, P::ult, P::sgt, P::ugt}, compare.getPredicate())) ||
                 kind.name == "drop-conjunct" || (kind.name == "replace-operation" && isa<arith::AndIOp>(op));
  return isWider && op->getResult(0).getType().isInteger(1) && masksOnly(op->getResult(0))
             ? "value of masked elements, more of them"
             : "";
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

/// A clamp at 2^31, or a few less, of a kernel that is called with 32-bit offsets alone: no index that it lets through comes near.
static bool isBeyondOffsets(Operation *op) {
  APInt most;
  return isa<arith::MinUIOp, arith::MinSIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&most)) &&
         most.getZExtValue() > (1u << 31) - (1u << 17) && most.getZExtValue() <= 1u << 31 &&
         op->getParentOfType<LLVM::LLVMFuncOp>().getSymName().ends_with("_fast");
}

/// An unsigned integer, rounded down where the language cuts.
static bool isCutBelow(ptx::ConvertOp convert) {
  return isa<FloatType>(convert.getOperand().getType()) && convert.getIsUnsigned() &&
         convert.getMode() == ptx::RoundingMode::Down;
}

std::string equivalentByFlow(const Operator &kind, Operation *op, unsigned place, Attribute before) {
  if (kind.name == "swap-operands")
    return isSymmetric(op) ? "symmetric comparison" : "";
  if (kind.name == "flip-bit" || kind.name == "shift-constant")
    return isEstimate(op)        ? "an estimate that is corrected"
           : isAnotherOwner(op)  ? "another owner"
           : isBeyondOffsets(op) ? "beyond 32-bit offsets"
                                 : "";
  if (kind.name != "change-rounding" && kind.name != "change-other" && kind.name != "change-kind" &&
      kind.name != "change-lane" && kind.name != "drop-guard" && kind.name != "negate-condition")
    return ""; // the operation may be gone
  if (isa<ptx::TensorPrefetchOp>(op))
    return "prefetch";
  if (auto convert = dyn_cast<ptx::ConvertOp>(op))
    return isCutBelow(convert) ? "unsigned, cut below" : "";
  if (auto shuffle = dyn_cast<ptx::ShuffleOp>(op)) {
    if (isUniform(shuffle.getValue(), Among::Warp))
      return "one value in all lanes";
    auto was = cast<DictionaryAttr>(before).getAs<ptx::ShuffleKindAttr>("kind");
    bool wasAcross = kind.name == "change-kind" && was && was.getValue() == ptx::ShuffleKind::Xor;
    return wasAcross && heardTheSame(shuffle) ? "the lanes that matter hear the same" : "";
  }
  auto load = dyn_cast<ptx::LoadGlobalOp>(op);
  if (kind.name != "change-other" || !load)
    return "";
  llvm::DenseSet<Value> seen;
  return staysUnder(load.getPredicate(), load.getWords()[place], seen) ? "value of masked elements" : "";
}

} // namespace tilegym::mutation
