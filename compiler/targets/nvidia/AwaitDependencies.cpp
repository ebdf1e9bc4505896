// SPDX-License-Identifier: MIT
// Finds the first operation of a kernel that may need what another grid did. All before it only computes, or prepares the block's own shared memory.
#include "compiler/targets/nvidia/Passes.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilegym::nvidia {
#define GEN_PASS_DEF_AWAITDEPENDENCIES
#include "compiler/targets/nvidia/Passes.h.inc"

namespace {
using namespace mlir;

/// Independent of every other grid. Barriers are, too: the wait that comes after them is every thread's own. What prepares a barrier of shared memory stays together:
/// with a wait in between, compute-sanitizer's racecheck took a thread's own two accesses for those of two threads.
bool isOwnAffair(Operation &op) {
  return isMemoryEffectFree(&op) ||
         isa<ptx::MbarrierInitOp, ptx::MbarrierArriveExpectTxOp, ptx::FenceMbarrierInitOp, ptx::BarrierOp,
             ptx::ClusterArriveOp, ptx::ElectOp, ptx::ShuffleOp>(op);
}

struct AwaitDependenciesPass : impl::AwaitDependenciesBase<AwaitDependenciesPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      if (function.isExternal() || !function->hasAttr("nvvm.kernel"))
        continue;
      Block &entry = function.getBody().front();
      // At the latest at the end: who comes after this grid relies on those before it, too.
      OpBuilder b(&entry, llvm::find_if_not(entry.without_terminator(), isOwnAffair));
      ptx::GridDependencyWaitOp::create(b, function.getLoc());
      ptx::GridLaunchDependentsOp::create(b, function.getLoc());
    }
  }
};

} // namespace

} // namespace tilegym::nvidia
