// SPDX-License-Identifier: MIT
// Finds the first operation of a kernel that may need what another grid did. All before it only computes, or prepares the block's own shared memory.
#include "compiler/targets/nvidia/Passes.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilegym::nvidia {
#define GEN_PASS_DEF_AWAITDEPENDENCIES
#include "compiler/targets/nvidia/Passes.h.inc"

namespace {
using namespace mlir;

/// Independent of every other grid. Barriers are, too: the wait that comes after them is every thread's own. Tensor maps are the launch's own parameters. What prepares
/// a barrier of shared memory stays together: with a wait in between, compute-sanitizer's racecheck took a thread's own two accesses for those of two threads.
bool isOwnAffair(Operation &op) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return llvm::all_of(branch->getRegions(),
                        [](Region &region) { return llvm::all_of(region.getOps(), isOwnAffair); });
  if (auto fetch = dyn_cast<ptx::TensorPrefetchOp>(op))
    return fetch.getCoordinates().empty();
  return isMemoryEffectFree(&op) ||
         isa<ptx::MbarrierInitOp, ptx::MbarrierArriveExpectTxOp, ptx::FenceMbarrierInitOp, ptx::BarrierOp,
             ptx::ClusterArriveOp, ptx::ElectOp, ptx::ShuffleOp>(op);
}

/// A grid's last blocks, which announce its end. Those before them have ended by then, or nearly: dependents would find no room sooner. Each announcement takes the
/// scheduler 1.25 ns on an H200: dropout, whose blocks move 2 KB each way, took 1.2 times as long when every block made one.
constexpr int64_t lastBlocks = 1024;

struct AwaitDependenciesPass : impl::AwaitDependenciesBase<AwaitDependenciesPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      if (function.isExternal() || !function->hasAttr("nvvm.kernel"))
        continue;
      Block &entry = function.getBody().front();
      // At the latest at the end: who comes after this grid relies on those before it, too.
      OpBuilder b(&entry, llvm::find_if_not(entry.without_terminator(), isOwnAffair));
      Location loc = function.getLoc();
      ptx::GridDependencyWaitOp::create(b, loc);
      Value blocksLeft =
          arith::SubIOp::create(b, loc, ptx::GridSizeOp::create(b, loc), ptx::BlockIdOp::create(b, loc));
      Value last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, blocksLeft,
                                         arith::ConstantIntOp::create(b, loc, lastBlocks, 32));
      ptx::GridLaunchDependentsOp::create(b, loc, last);
    }
  }
};

} // namespace

} // namespace tilegym::nvidia
