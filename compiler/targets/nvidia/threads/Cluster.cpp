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

bool ThreadBuilder::canExchange() { return canExchangeOnce() || b.getInsertionBlock() == turn.block; }

void ThreadBuilder::exchangeByTurns(Value slot, Value parity, int64_t slots) {
  if (turn.block != b.getInsertionBlock())
    needsBarrier = false;
  turn = {b.getInsertionBlock(), slot, parity, slots};
}

/// The mbarrier is made before the blocks first meet, so that the others find it. By turns, room is written again a turn of the ring later: by a block that has what all sent in the trip
/// before, so after the barrier that each thread here met once it had read the room. Bytes may come before this block has said how many; the phase waits for that.
ThreadBuilder::Exchange ThreadBuilder::beginExchange(int64_t bytes, int64_t arriving) {
  startCluster();
  bool once = canExchangeOnce();
  int64_t slots = once ? 1 : turn.slots, behind = llvm::alignTo(bytes, once ? 8 : 16);
  OpBuilder::InsertPoint here = b.saveInsertionPoint();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(clusterStart);
  Value data = reserveShared(slots * (behind + 8)), barrier = sharedAddress(data, i32(slots * behind));
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread, i32(0));
  for (int64_t slot = 0; slot < slots; ++slot)
    ptx::MbarrierInitOp::create(b, loc, slot ? sharedAddress(barrier, i32(8 * slot)) : barrier, i32(1),
                                isFirst);
  if (once)
    ptx::MbarrierArriveExpectTxOp::create(b, loc, Type(), barrier, i32(arriving), isFirst);
  ptx::FenceMbarrierInitOp::create(b, loc);
  if (once)
    return {data, barrier, {}};
  b.restoreInsertionPoint(here);
  data = sharedAddress(data, mul(turn.slot, i32(behind)));
  barrier = sharedAddress(barrier, mul(turn.slot, i32(8)));
  ptx::MbarrierArriveExpectTxOp::create(b, loc, Type(), barrier, i32(arriving), isFirst);
  return {data, barrier, turn.parity};
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
  awaitPhase(exchange.barrier, exchange.parity);
  if (!exchange.parity) {
    lastExchange = &b.getInsertionBlock()->back();
    return;
  }
  exchangedByTurns = true;
}

/// Who has waited for the last exchange has all that was sent to it. So threads say it there, and by the end most need not wait for the others.
void ThreadBuilder::leaveCluster() {
  if (exchangedByTurns) {
    ptx::ClusterArriveOp::create(b, loc, /*relaxed=*/true);
    ptx::ClusterWaitOp::create(b, loc);
    return;
  }
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
