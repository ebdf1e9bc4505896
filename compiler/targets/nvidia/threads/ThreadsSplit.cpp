// SPDX-License-Identifier: MIT
// What the blocks of a cluster have summed, each its part, becomes one sum: the others send their registers to block 0, each thread to the thread that holds the same
// elements there, which adds them in the order of the blocks. They land where the operands were.
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

LogicalResult lowerClusterRank(ThreadBuilder &t, Operation *op) {
  t.set(op->getResult(0), {arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), t.partRank())});
  return success();
}

Value addTo(ThreadBuilder &t, Value sum, Value more) {
  if (isa<FloatType>(sum.getType()))
    return arith::AddFOp::create(t.b, t.loc, sum, more);
  return arith::AddIOp::create(t.b, t.loc, sum, more);
}

LogicalResult lowerSplitSum(ThreadBuilder &t, Operation *op) {
  auto split = cast<tile::SplitSumOp>(op);
  const Registers &held = t.get(split.getValue());
  Type element = held[0].getType();
  if (element.getIntOrFloatBitWidth() != 32)
    return op->emitOpError("adds elements of 32 bits");
  int64_t count = int64_t(held.size()), width = count % 4 ? count % 2 ? 1 : 2 : 4;
  int64_t vectorBytes = width * 4, stride = vectorBytes * t.numThreads(), ofBlock = count / width * stride;
  int64_t parts = t.kernel.getSplitK();

  Value isFirst, counts;
  {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointAfter(t.partRank().getDefiningOp());
    isFirst = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, t.partRank(), t.i32(0));
    counts = t.conjunction(
        isFirst, arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, t.threadId(), t.i32(0)));
  }
  Value arrived = t.countArrivals(counts, (parts - 1) * ofBlock);
  Value room = t.beginBuffer(0, (parts - 1) * ofBlock, /*inLoop=*/false);
  // All have read their operands, and block 0 has begun, with its mbarrier.
  ptx::ClusterArriveOp::create(t.b, t.loc, /*relaxed=*/false);
  ptx::ClusterWaitOp::create(t.b, t.loc);

  Value own = t.mul(t.threadId(), t.i32(vectorBytes));
  auto branch =
      scf::IfOp::create(t.b, t.loc, SmallVector<Type>(count, element), isFirst, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(branch.elseBlock());
  Value block = t.mul(arith::SubIOp::create(t.b, t.loc, t.partRank(), t.i32(1)), t.i32(ofBlock));
  Value to = t.inPeer(t.sharedAddress(room, t.add(own, block)), t.i32(0)),
        signal = t.inPeer(arrived, t.i32(0));
  for (int64_t i = 0; i < count; i += width)
    ptx::StoreAsyncOp::create(t.b, t.loc, ValueRange(held).slice(i, width),
                              t.sharedAddress(to, t.i32(i / width * stride)), signal, Value());
  // None exits while what it sent is on its way.
  ptx::ClusterArriveOp::create(t.b, t.loc, /*relaxed=*/true);
  ptx::ClusterWaitOp::create(t.b, t.loc);
  scf::YieldOp::create(t.b, t.loc, held);

  t.b.setInsertionPointToStart(branch.thenBlock());
  t.awaitPhase(arrived);
  ptx::ClusterArriveOp::create(t.b, t.loc, /*relaxed=*/true);
  Registers sums(held);
  for (int64_t part = 1; part < parts; ++part)
    for (int64_t i = 0; i < count; i += width)
      for (auto [k, more] : llvm::enumerate(t.loadShared(
               room, t.add(own, t.i32((part - 1) * ofBlock + i / width * stride)), element, width)))
        sums[i + k] = addTo(t, sums[i + k], more);
  t.barrier(); // what follows may have its buffers here
  scf::YieldOp::create(t.b, t.loc, sums);
  t.b.setInsertionPointAfter(branch);
  t.endBuffer();
  t.set(split.getResult(), Registers(branch.getResults()));
  return success();
}

} // namespace

void addSplitHandlers(HandlerTable &table) {
  table["tile.cluster_rank"] = lowerClusterRank;
  table["tile.split_sum"] = lowerSplitSum;
}

} // namespace tilegym::nvidia
