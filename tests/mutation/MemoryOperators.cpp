// SPDX-License-Identifier: MIT
// Mistakes in loads, stores, atomics and their addresses; and what all families share.
#include "MutationOperators.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilegym::ptx;

namespace tilegym::mutation {
namespace {

unsigned stores(Operation *op) {
  return isa<LLVM::StoreOp, StoreGlobalOp, StoreMatrixOp, AtomicStoreOp, AtomicReduceOp, TensorStoreOp,
             BulkStoreOp, StoreAsyncOp, TensorReduceOp, BulkReduceOp, TensorLoadOp, BulkLoadOp, CopyAsyncOp>(
      op);
}
void drop(Operation *op, unsigned, uint64_t) { dropOperation(op); }

unsigned atomics(Operation *op) { return isa<AtomicReduceOp, AtomicOp, BulkReduceOp, TensorReduceOp>(op); }
void duplicate(Operation *op, unsigned, uint64_t) { OpBuilder(op).clone(*op); }
void changeAtomicKind(Operation *op, unsigned, uint64_t) {
  auto other = [](auto kind) {
    using Kind = decltype(kind);
    if constexpr (std::is_same_v<Kind, AtomicKind>)
      return kind == Kind::Add ? Kind::MaxS : kind == Kind::AddF ? Kind::Exchange : Kind::Add;
    else
      return kind == Kind::Add ? Kind::Max : Kind::Add;
  };
  TypeSwitch<Operation *>(op).Case<AtomicReduceOp, AtomicOp, BulkReduceOp, TensorReduceOp>(
      [&](auto one) { one.setKind(other(one.getKind())); });
}

unsigned others(Operation *op) {
  auto load = dyn_cast<LoadGlobalOp>(op);
  return load ? unsigned(load.getOther().size()) : 0;
}
/// 0 becomes 3.0, -inf -1.5.
void changeOther(Operation *op, unsigned place, uint64_t) {
  OpBuilder b(op);
  OpOperand &other = *std::next(cast<LoadGlobalOp>(op).getOtherMutable().begin(), place);
  unsigned width = other.get().getType().getIntOrFloatBitWidth();
  int64_t flipped = width == 16 ? 0x4040 : width == 64 ? 0x4008000000000000 : 0x40400000;
  other.set(arith::XOrIOp::create(b, op->getLoc(), other.get(),
                                  constantBefore(op, other.get().getType(), flipped)));
}

unsigned vectors(Operation *op) {
  return (isa<LoadGlobalOp>(op) && op->getNumResults() > 1) ||
         (isa<StoreGlobalOp>(op) && cast<StoreGlobalOp>(op).getWords().size() > 1) ||
         (isa<StoreMatrixOp>(op) && cast<StoreMatrixOp>(op).getWords().size() > 1);
}
void swapWords(Operation *op, unsigned, uint64_t) {
  if (!isa<LoadGlobalOp>(op)) {
    Value first = op->getOperand(0);
    op->setOperand(0, op->getOperand(1));
    op->setOperand(1, first);
    return;
  }
  SmallVector<OpOperand *> ofFirst, ofSecond;
  for (OpOperand &use : op->getResult(0).getUses())
    ofFirst.push_back(&use);
  for (OpOperand &use : op->getResult(1).getUses())
    ofSecond.push_back(&use);
  for (OpOperand *use : ofFirst)
    use->set(op->getResult(1));
  for (OpOperand *use : ofSecond)
    use->set(op->getResult(0));
}

unsigned addresses(Operation *op) {
  auto pointer = dyn_cast<LLVM::GEPOp>(op);
  return isa<LoadGlobalOp, StoreGlobalOp>(op) || (pointer && pointer.getRawConstantIndices().size() == 1);
}
/// One word, or for shared memory one row of banks, further.
void shiftAddress(Operation *op, unsigned, uint64_t random) {
  OpBuilder b(op);
  TypeSwitch<Operation *>(op)
      .Case<LoadGlobalOp, StoreGlobalOp>(
          [](auto access) { access.setOffset(access.getOffset() + access.getBits() / 8); })
      .Case<LLVM::GEPOp>([&](LLVM::GEPOp pointer) {
        int64_t bytes = random % 3 == 0 ? 4 : random % 3 == 1 ? 16 : -4;
        op->getResult(0).replaceAllUsesExcept(
            [&]() -> Value {
              b.setInsertionPointAfter(op);
              return LLVM::GEPOp::create(b, op->getLoc(), pointer.getType(), b.getI8Type(), pointer,
                                         ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
            }(),
            op->getNextNode());
      });
}

const Operator operators[] = {
    {"drop-store", stores, drop, true},           {"duplicate-atomic", atomics, duplicate, true},
    {"change-atomic", atomics, changeAtomicKind}, {"change-other", others, changeOther},
    {"swap-words", vectors, swapWords, true},     {"shift-address", addresses, shiftAddress, true},
};

template <class... Ops> struct TypeList {};
template <class... Ops> OpOperand *findPredicate(Operation *op, TypeList<Ops...>) {
  OpOperand *found = nullptr;
  auto look = [&]<class Op>() {
    if constexpr (requires(Op one) { one.getPredicateMutable().begin(); })
      if (auto one = dyn_cast<Op>(op); one && one.getPredicate())
        found = &*one.getPredicateMutable().begin();
  };
  (look.template operator()<Ops>(), ...);
  return found;
}

} // namespace

llvm::ArrayRef<Operator> memoryOperators() { return operators; }

std::vector<const Operator *> allOperators() {
  std::vector<const Operator *> all;
  for (llvm::ArrayRef<Operator> family : {orderOperators(), valueOperators(), memoryOperators()})
    for (const Operator &one : family)
      all.push_back(&one);
  return all;
}

Value constantBefore(Operation *op, Type type, int64_t value) {
  OpBuilder b(op);
  return arith::ConstantOp::create(b, op->getLoc(),
                                   IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), uint64_t(value),
                                                                /*isSigned=*/false, /*implicitTrunc=*/true)));
}

void dropOperation(Operation *op) {
  if (op->getNumResults())
    op->replaceAllUsesWith(op->getOperands().take_back(op->getNumResults()));
  op->erase();
}

OpOperand *predicateOf(Operation *op) {
  return findPredicate(op, TypeList<
#define GET_OP_LIST
#include "compiler/targets/nvidia/ptx/PtxOps.cpp.inc"
                               >());
}

} // namespace tilegym::mutation
