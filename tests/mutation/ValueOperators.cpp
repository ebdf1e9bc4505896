// SPDX-License-Identifier: MIT
// Mistakes in arithmetic, bounds, conditions, loops and lanes.
#include "MutationOperators.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilegym::ptx;

namespace tilegym::mutation {
namespace {

/// The same comparison with the bound one further.
std::optional<arith::CmpIPredicate> shifted(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::slt:
    return P::sle;
  case P::sle:
    return P::slt;
  case P::sgt:
    return P::sge;
  case P::sge:
    return P::sgt;
  case P::ult:
    return P::ule;
  case P::ule:
    return P::ult;
  case P::ugt:
    return P::uge;
  case P::uge:
    return P::ugt;
  default:
    return std::nullopt;
  }
}
unsigned bounds(Operation *op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  return compare && shifted(compare.getPredicate());
}
void shiftBound(Operation *op, unsigned, uint64_t) {
  auto compare = cast<arith::CmpIOp>(op);
  compare.setPredicate(*shifted(compare.getPredicate()));
}

/// Integer constants among the operands of arithmetic, and lanes of shuffles.
SmallVector<OpOperand *> constantsOf(Operation *op) {
  SmallVector<OpOperand *> found;
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp,
          arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp, arith::CmpIOp, arith::DivUIOp, arith::DivSIOp,
          arith::RemUIOp, arith::RemSIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op))
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getType().isInteger() && !operand.get().getType().isInteger(1) &&
          matchPattern(operand.get(), m_Constant()))
        found.push_back(&operand);
  return found;
}
void shiftConstant(Operation *op, unsigned place, uint64_t random) {
  OpOperand *operand = constantsOf(op)[place];
  APInt value;
  matchPattern(operand->get(), m_ConstantInt(&value));
  operand->set(constantBefore(op, operand->get().getType(), value.getSExtValue() + (random & 1 ? 1 : -1)));
}
void flipBit(Operation *op, unsigned place, uint64_t random) {
  OpOperand *operand = constantsOf(op)[place];
  APInt value;
  matchPattern(operand->get(), m_ConstantInt(&value));
  operand->set(
      constantBefore(op, operand->get().getType(), value.getSExtValue() ^ (int64_t(1) << (random % 8))));
}

/// What decides whether something happens: an instruction's `if`, a branch's and a select's condition.
OpOperand *conditionOf(Operation *op) {
  OpOperand *condition = TypeSwitch<Operation *, OpOperand *>(op)
                             .Case<scf::IfOp, arith::SelectOp, scf::ConditionOp>(
                                 [](auto one) { return &one.getConditionMutable(); })
                             .Default([](Operation *other) { return predicateOf(other); });
  bool isFree =
      condition && condition->get().getType().isInteger(1) && !matchPattern(condition->get(), m_Constant());
  return isFree ? condition : nullptr;
}
unsigned conditions(Operation *op) { return conditionOf(op) != nullptr; }
void negate(Operation *op, unsigned, uint64_t) {
  OpBuilder b(op);
  OpOperand *condition = conditionOf(op);
  condition->set(arith::XOrIOp::create(b, op->getLoc(), condition->get(),
                                       constantBefore(op, condition->get().getType(), 1)));
}
/// Masks and owners' guards: true, where the other way is nothing.
unsigned guards(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  return conditionOf(op) && !isa<arith::SelectOp, scf::ConditionOp>(op) &&
         (!branch || branch.getElseRegion().empty());
}
void dropGuard(Operation *op, unsigned, uint64_t) {
  OpOperand *condition = conditionOf(op);
  condition->set(constantBefore(op, condition->get().getType(), 1));
}

unsigned conjunctions(Operation *op) {
  return isa<arith::AndIOp>(op) && op->getResult(0).getType().isInteger(1) ? 2 : 0;
}
/// One bound of several is forgotten.
void dropConjunct(Operation *op, unsigned place, uint64_t) {
  op->getResult(0).replaceAllUsesWith(op->getOperand(place));
  op->erase();
}

unsigned swappable(Operation *op) {
  return isa<arith::SubIOp, arith::SubFOp, arith::DivFOp, arith::DivUIOp, arith::DivSIOp, arith::RemUIOp,
             arith::RemSIOp, arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp, arith::CmpIOp, arith::CmpFOp,
             arith::SelectOp, DivideApproxOp>(op);
}
void swapOperands(Operation *op, unsigned, uint64_t) {
  unsigned first = isa<arith::SelectOp>(op) ? 1 : 0;
  Value other = op->getOperand(first);
  op->setOperand(first, op->getOperand(first + 1));
  op->setOperand(first + 1, other);
}

template <class To> void becomes(Operation *op) {
  OpBuilder b(op);
  op->getResult(0).replaceAllUsesWith(
      To::create(b, op->getLoc(), op->getOperand(0), op->getOperand(1)).getResult());
  op->erase();
}
unsigned replaceable(Operation *op) {
  return isa<arith::AddIOp, arith::AddFOp, arith::SubIOp, arith::SubFOp, arith::MulFOp, arith::MulIOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaxSIOp,
             arith::MinSIOp, arith::AndIOp, arith::OrIOp>(op);
}
void replaceOperation(Operation *op, unsigned, uint64_t random) {
  TypeSwitch<Operation *>(op)
      .Case<arith::AddIOp>(
          [&](auto) { random & 1 ? becomes<arith::SubIOp>(op) : becomes<arith::MulIOp>(op); })
      .Case<arith::AddFOp>(
          [&](auto) { random & 1 ? becomes<arith::SubFOp>(op) : becomes<arith::MulFOp>(op); })
      .Case<arith::SubIOp, arith::MulIOp>([&](auto) { becomes<arith::AddIOp>(op); })
      .Case<arith::SubFOp, arith::MulFOp>([&](auto) { becomes<arith::AddFOp>(op); })
      .Case<arith::MaximumFOp>([&](auto) { becomes<arith::MinimumFOp>(op); })
      .Case<arith::MinimumFOp>([&](auto) { becomes<arith::MaximumFOp>(op); })
      .Case<arith::MaxNumFOp>([&](auto) { becomes<arith::MinNumFOp>(op); })
      .Case<arith::MinNumFOp>([&](auto) { becomes<arith::MaxNumFOp>(op); })
      .Case<arith::MaxSIOp>([&](auto) { becomes<arith::MinSIOp>(op); })
      .Case<arith::MinSIOp>([&](auto) { becomes<arith::MaxSIOp>(op); })
      .Case<arith::AndIOp>([&](auto) { becomes<arith::OrIOp>(op); })
      .Case<arith::OrIOp>([&](auto) { becomes<arith::AndIOp>(op); });
}

/// The last round of a loop, or the first, is left out.
unsigned loops(Operation *op) { return isa<scf::ForOp>(op) ? 2 : 0; }
void shortenLoop(Operation *op, unsigned place, uint64_t) {
  auto loop = cast<scf::ForOp>(op);
  OpBuilder b(op);
  if (place == 0)
    loop.setUpperBound(arith::SubIOp::create(b, op->getLoc(), loop.getUpperBound(), loop.getStep()));
  else
    loop.setLowerBound(arith::AddIOp::create(b, op->getLoc(), loop.getLowerBound(), loop.getStep()));
}

unsigned roundings(Operation *op) { return isa<ConvertOp, arith::TruncFOp>(op); }
void changeRounding(Operation *op, unsigned, uint64_t random) {
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    convert.setMode(RoundingMode((uint32_t(convert.getMode()) + 1 + random % 3) % 4));
    return;
  }
  // A truncation that cuts: in f32, the bits that bf16 and f16 lack (f16 loses a little more at its subnormals, which is a mistake, too).
  OpBuilder b(op);
  auto from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  Type narrow = getElementTypeOrSelf(to);
  if (!getElementTypeOrSelf(from).isF32() || !isa<FloatType>(narrow))
    return;
  Type bits = b.getI32Type();
  int64_t mask = -(int64_t(1) << (24 - cast<FloatType>(narrow).getFPMantissaWidth()));
  TypedAttr attribute = b.getI32IntegerAttr(int32_t(mask));
  if (auto vector = dyn_cast<VectorType>(from)) {
    bits = VectorType::get(vector.getShape(), bits);
    attribute = DenseElementsAttr::get(cast<ShapedType>(bits), ArrayRef<int32_t>(int32_t(mask)));
  }
  Value word = arith::BitcastOp::create(b, op->getLoc(), bits, op->getOperand(0));
  Value kept =
      arith::AndIOp::create(b, op->getLoc(), word, arith::ConstantOp::create(b, op->getLoc(), attribute));
  op->setOperand(0, arith::BitcastOp::create(b, op->getLoc(), from, kept));
}

unsigned shuffles(Operation *op) { return isa<ShuffleOp>(op); }
void changeLane(Operation *op, unsigned, uint64_t random) {
  OpBuilder b(op);
  auto shuffle = cast<ShuffleOp>(op);
  APInt lane;
  // A butterfly whose masks still reach all lanes is one in another order; one that has a mask twice is not.
  if (shuffle.getKind() == ShuffleKind::Xor && matchPattern(shuffle.getLane(), m_ConstantInt(&lane)) &&
      lane.isPowerOf2()) {
    uint64_t shift = (lane.logBase2() + 1 + random % 4) % 5;
    shuffle.getLaneMutable().set(constantBefore(op, b.getI32Type(), int64_t(1) << shift));
    return;
  }
  Value bit = constantBefore(op, b.getI32Type(), int64_t(1) << (random % 5));
  shuffle.getLaneMutable().set(arith::XOrIOp::create(b, op->getLoc(), shuffle.getLane(), bit));
}

/// Another kind of the same instruction.
unsigned kinds(Operation *op) { return isa<ShuffleOp, VoteOp, MatchOp, ReduxOp, ApproxOp>(op); }
template <class Kind> Kind another(Kind kind, uint32_t most, uint64_t random) {
  return Kind((uint32_t(kind) + 1 + random % most) % (most + 1));
}
void changeKind(Operation *op, unsigned, uint64_t random) {
  TypeSwitch<Operation *>(op)
      .Case<ShuffleOp>(
          [&](auto o) { o.setKind(another(o.getKind(), getMaxEnumValForShuffleKind(), random)); })
      .Case<VoteOp>([&](auto o) {
        if (o.getKind() != VoteKind::Ballot) // its result is of another type
          o.setKind(o.getKind() == VoteKind::Any ? VoteKind::All : VoteKind::Any);
      })
      .Case<MatchOp>(
          [&](auto o) { o.setKind(o.getKind() == MatchKind::Any ? MatchKind::All : MatchKind::Any); })
      .Case<ReduxOp>([&](auto o) { o.setKind(another(o.getKind(), getMaxEnumValForReduxKind(), random)); })
      .Case<ApproxOp>([&](auto o) { o.setKind(another(o.getKind(), getMaxEnumValForApproxKind(), random)); });
}

unsigned constantPlaces(Operation *op) { return unsigned(constantsOf(op).size()); }

const Operator operators[] = {
    {"shift-bound", bounds, shiftBound},        {"shift-constant", constantPlaces, shiftConstant},
    {"flip-bit", constantPlaces, flipBit},      {"negate-condition", conditions, negate, true},
    {"drop-guard", guards, dropGuard},          {"drop-conjunct", conjunctions, dropConjunct},
    {"swap-operands", swappable, swapOperands}, {"replace-operation", replaceable, replaceOperation},
    {"shorten-loop", loops, shortenLoop},       {"change-rounding", roundings, changeRounding},
    {"change-lane", shuffles, changeLane},      {"change-kind", kinds, changeKind},
};

} // namespace

llvm::ArrayRef<Operator> valueOperators() { return operators; }

} // namespace tilegym::mutation
