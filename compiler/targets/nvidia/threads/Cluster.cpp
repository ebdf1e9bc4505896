// SPDX-License-Identifier: MIT
// The blocks of a cluster as one: barriers, and memory of each that the others write. Accesses to global memory are ordered in MemoryOrder.cpp.
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tilegym::nvidia {

/// A block's shared memory may be written from outside once its threads run: they say so first thing, and the first exchange waits for it, long after.
void ThreadBuilder::startCluster() {
  if (clusterStarted)
    return;
  clusterStarted = true;
  OpBuilder::InsertionGuard guard(b);
  // All threads wait once, so not within control flow.
  Block *entry = sharedBase.getParentBlock();
  if (Operation *outer = b.getInsertionBlock()->getParentOp(); b.getInsertionBlock() != entry)
    b.setInsertionPoint(entry->findAncestorOpInBlock(*outer));
  ptx::ClusterWaitOp::create(b, loc);
  b.setInsertionPointAfter(sharedBase.getDefiningOp());
  ptx::ClusterArriveOp::create(b, loc, /*relaxed=*/true);
}

void ThreadBuilder::clusterBarrier() {
  startCluster();
  ptx::ClusterArriveOp::create(b, loc, /*relaxed=*/false);
  ptx::ClusterWaitOp::create(b, loc);
  order = AccessOrder();
  needsBarrier = needsClusterBarrier = false;
}

Value ThreadBuilder::acquireCluster(int64_t bytes) {
  startCluster();
  if (needsClusterBarrier)
    clusterBarrier();
  usedCluster = true;
  clusterBuffer ^= 1;
  return bufferBase(clusterBuffer, bytes);
}

LogicalResult ThreadBuilder::failAcrossBlocks(StringRef what) {
  InFlightDiagnostic error = emitError(loc) << what << " needs what other blocks of the cluster hold";
  error.attachNote() << "only elementwise operations, reductions and scans cross the blocks of a cluster: "
                        "give this kernel `ctas = 1`";
  return failure();
}

LogicalResult ThreadBuilder::expectWhole(const layout::Layout &layout, StringRef what) {
  return layout.freeBits(layout::Dim::Block) == layout::Vec(layout.numBlocks() - 1) ? success()
                                                                                    : failAcrossBlocks(what);
}

Value ThreadBuilder::inPeer(Value base, Value peer) {
  return ptx::MapSharedRankOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), 7), base, peer);
}

} // namespace tilegym::nvidia
