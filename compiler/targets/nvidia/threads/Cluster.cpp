// SPDX-License-Identifier: MIT
// The blocks of a cluster as one: barriers, and memory of each that the others write. An exchange that happens once goes by mbarriers, as a release to the whole
// cluster waits for all that a thread has in flight. Accesses to global memory are ordered in MemoryOrder.cpp.
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilegym::nvidia {

/// A block's shared memory may be written from outside once its threads run: they say so first thing, and the first exchange waits for it, long after.
void ThreadBuilder::startCluster() {
  if (clusterStart)
    return;
  OpBuilder::InsertionGuard guard(b);
  // All threads wait once, so not within control flow.
  Block *entry = sharedBase.getParentBlock();
  if (Operation *outer = b.getInsertionBlock()->getParentOp(); b.getInsertionBlock() != entry)
    b.setInsertionPoint(entry->findAncestorOpInBlock(*outer));
  ptx::ClusterWaitOp::create(b, loc);
  b.setInsertionPointAfter(sharedBase.getDefiningOp());
  clusterStart = ptx::ClusterArriveOp::create(b, loc, /*relaxed=*/true);
}

void ThreadBuilder::clusterBarrier() {
  startCluster();
  ptx::ClusterArriveOp::create(b, loc, /*relaxed=*/false);
  ptx::ClusterWaitOp::create(b, loc);
  order = AccessOrder();
  needsBarrier = needsClusterBarrier = false;
  if (canExchangeOnce())
    lastExchange = nullptr;
}

Value ThreadBuilder::acquireCluster(int64_t bytes) {
  startCluster();
  if (needsClusterBarrier)
    clusterBarrier();
  usedCluster = true;
  clusterBuffer ^= 1;
  return bufferBase(clusterBuffer, bytes);
}

bool ThreadBuilder::canExchangeOnce() { return b.getInsertionBlock() == sharedBase.getParentBlock(); }

/// The mbarrier is made before the blocks first meet, so that the others find it.
ThreadBuilder::Exchange ThreadBuilder::beginExchange(int64_t bytes, int64_t arriving) {
  startCluster();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(clusterStart);
  int64_t behind = llvm::alignTo(bytes, 8);
  Value data = reserveShared(behind + 8), barrier = sharedAddress(data, i32(behind));
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread, i32(0));
  ptx::MbarrierInitOp::create(b, loc, barrier, i32(1), isFirst);
  ptx::MbarrierArriveExpectTxOp::create(b, loc, Type(), barrier, i32(arriving), isFirst);
  ptx::FenceMbarrierInitOp::create(b, loc);
  return {data, barrier};
}

Value ThreadBuilder::countArrivals(Value condition, int64_t bytes) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(condition.getDefiningOp());
  Value barrier = reserveShared(8);
  ptx::MbarrierInitOp::create(b, loc, barrier, i32(1), condition);
  ptx::MbarrierArriveExpectTxOp::create(b, loc, Type(), barrier, i32(bytes), condition);
  ptx::FenceMbarrierInitOp::create(b, loc);
  return barrier;
}

void ThreadBuilder::awaitExchange(const Exchange &exchange) {
  awaitPhase(exchange.barrier);
  lastExchange = &b.getInsertionBlock()->back();
}

/// Who has waited for the last exchange has all that was sent to it. So threads say it there, and by the end most need not wait for the others.
void ThreadBuilder::leaveCluster() {
  if (!lastExchange)
    return;
  OpBuilder::InsertionGuard guard(b);
  bool meetsBetween = false;
  for (Operation *op = lastExchange->getNextNode(); op; op = op->getNextNode())
    op->walk([&](ptx::ClusterArriveOp) { meetsBetween = true; });
  if (!meetsBetween)
    b.setInsertionPointAfter(lastExchange);
  ptx::ClusterArriveOp::create(b, loc, /*relaxed=*/true);
  b.setInsertionPointToEnd(lastExchange->getBlock());
  ptx::ClusterWaitOp::create(b, loc);
}

void ThreadBuilder::awaitPhase(Value barrier, Value parity) {
  Value yes = boolean(true);
  if (!parity)
    parity = i32(0);
  auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  Value done = ptx::MbarrierTryWaitOp::create(b, loc, barrier, parity, Value());
  scf::ConditionOp::create(b, loc, arith::XOrIOp::create(b, loc, done, yes), ValueRange());
  b.createBlock(&loop.getAfter());
  scf::YieldOp::create(b, loc);
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
