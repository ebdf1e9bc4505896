// SPDX-License-Identifier: MIT
// Mistakes in barriers, fences, groups, phases and descriptors.
#include "MutationOperators.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilegym::ptx;

namespace tilegym::mutation {
namespace {

template <class... Ops> unsigned isOne(Operation *op) { return isa<Ops...>(op); }
void drop(Operation *op, unsigned, uint64_t) { dropOperation(op); }

/// Arrivals whose state nobody takes.
unsigned arrivals(Operation *op) {
  return isa<MbarrierInitOp, MbarrierArriveOp, MbarrierArriveExpectTxOp, MbarrierExpectTxOp,
             CopyAsyncArriveOp>(op) &&
         op->use_empty();
}

void dropWait(Operation *op, unsigned, uint64_t) {
  op->getResult(0).replaceAllUsesWith(constantBefore(op, op->getResult(0).getType(), 1));
  op->erase();
}

template <class Op> void addPending(Operation *op) {
  auto wait = dyn_cast<Op>(op);
  if (wait)
    wait.setPending(wait.getPending() + 1);
}
void loosen(Operation *op, unsigned, uint64_t) {
  addPending<WgmmaWaitOp>(op);
  addPending<BulkWaitOp>(op);
  addPending<CopyAsyncWaitOp>(op);
}

/// The parity of a wait; null for a state.
OpOperand *parityOf(Operation *op) {
  OpOperand *phase =
      TypeSwitch<Operation *, OpOperand *>(op)
          .Case<MbarrierTryWaitOp, MbarrierTestWaitOp>([](auto wait) { return &wait.getPhaseMutable(); })
          .Default(nullptr);
  return phase && phase->get().getType().isInteger(32) ? phase : nullptr;
}
void flip(Operation *op, unsigned, uint64_t) {
  OpBuilder b(op);
  OpOperand *phase = parityOf(op);
  phase->set(
      arith::XOrIOp::create(b, op->getLoc(), phase->get(), constantBefore(op, phase->get().getType(), 1)));
}

OpOperand *bytesOf(Operation *op) {
  return TypeSwitch<Operation *, OpOperand *>(op)
      .Case<MbarrierArriveExpectTxOp, MbarrierExpectTxOp, BulkLoadOp, BulkStoreOp>(
          [](auto one) { return &one.getBytesMutable(); })
      .Case<MbarrierInitOp>([](auto one) { return &one.getCountMutable(); })
      .Default(nullptr);
}
void changeCount(Operation *op, unsigned, uint64_t random) {
  OpBuilder b(op);
  if (auto barrier = dyn_cast<NamedBarrierOp>(op)) {
    barrier.setThreads(barrier.getThreads() + 32);
    return;
  }
  OpOperand *count = bytesOf(op);
  int64_t step = isa<MbarrierInitOp>(op) ? 1 : 16;
  count->set(arith::AddIOp::create(b, op->getLoc(), count->get(),
                                   constantBefore(op, count->get().getType(), random & 1 ? step : -step)));
}

/// Constants that become part of a descriptor of a wgmma: 64 bits, through `or` and `add`.
bool reachesDescriptor(Value value, unsigned depth = 4) {
  for (Operation *user : value.getUsers())
    if (isa<WgmmaOp>(user) ||
        (depth && isa<arith::OrIOp, arith::AddIOp>(user) && reachesDescriptor(user->getResult(0), depth - 1)))
      return true;
  return false;
}
unsigned descriptorPlaces(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  return constant && constant.getType().isInteger(64) && reachesDescriptor(op->getResult(0));
}
/// Another bit of the value.
template <int... Bits> void changeDescriptor(Operation *op, unsigned, uint64_t random) {
  static constexpr int bits[] = {Bits...};
  auto constant = cast<arith::ConstantOp>(op);
  int64_t value = cast<IntegerAttr>(constant.getValue()).getInt();
  constant.setValueAttr(
      IntegerAttr::get(constant.getType(), value ^ (int64_t(1) << bits[random % sizeof...(Bits)])));
}

unsigned orderings(Operation *op) {
  auto relaxed = op->getAttrOfType<OrderingAttr>("ordering");
  return (relaxed && !isa<FenceOp>(op) && relaxed.getValue() != Ordering::Relaxed) ||
         (isa<MbarrierArriveOp, MbarrierArriveExpectTxOp, MbarrierTryWaitOp, MbarrierTestWaitOp,
              ClusterArriveOp>(op) &&
          !op->hasAttr("relaxed"));
}
void relax(Operation *op, unsigned, uint64_t) {
  if (op->hasAttr("ordering"))
    op->setAttr("ordering", OrderingAttr::get(op->getContext(), Ordering::Relaxed));
  else
    op->setAttr("relaxed", UnitAttr::get(op->getContext()));
}

const Operator operators[] = {
    {"drop-barrier", isOne<BarrierOp, NamedBarrierOp, WarpBarrierOp, ClusterArriveOp, ClusterWaitOp>, drop,
     true},
    {"drop-mbarrier", arrivals, drop, true},
    {"drop-phase-wait", isOne<MbarrierTryWaitOp, MbarrierTestWaitOp>, dropWait, true},
    {"drop-fence", isOne<FenceProxyAsyncOp, FenceMbarrierInitOp, FenceOp, WgmmaFenceOp>, drop, true},
    {"drop-commit", isOne<BulkCommitOp, WgmmaCommitOp, CopyAsyncCommitOp>, drop, true},
    {"drop-wait", isOne<WgmmaWaitOp, BulkWaitOp, CopyAsyncWaitOp>, drop, true},
    {"loosen-wait", isOne<WgmmaWaitOp, BulkWaitOp, CopyAsyncWaitOp>, loosen, true},
    {"flip-phase", [](Operation *op) { return unsigned(parityOf(op) != nullptr); }, flip, true},
    {"change-count", [](Operation *op) { return unsigned(bytesOf(op) || isa<NamedBarrierOp>(op)); },
     changeCount, true},
    // Start, stride, base offset, swizzle; and the leading offset, which not every operand has.
    {"change-descriptor", descriptorPlaces, changeDescriptor<0, 1, 3, 32, 33, 37, 38, 49, 62, 63>, true},
    {"change-leading", descriptorPlaces, changeDescriptor<16, 17, 20>},
    {"relax-order", orderings, relax},
};

} // namespace

llvm::ArrayRef<Operator> orderOperators() { return operators; }

} // namespace tilegym::mutation
