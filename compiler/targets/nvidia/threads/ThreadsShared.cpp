// SPDX-License-Identifier: MIT
// Tiles in shared memory: their buffers, and both ways of filling them.
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/Access.h"
#include "compiler/targets/nvidia/threads/SlotAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

LogicalResult lowerAlloc(ThreadBuilder &t, Operation *op) {
  auto alloc = cast<tile::AllocOp>(op);
  if (!alloc.getOffset())
    return op->emitOpError("has no place: plan-shared gives it one");
  bool inLoop = op->getParentOfType<scf::ForOp>() || op->getParentOfType<scf::WhileOp>();
  t.set(alloc, {t.beginBuffer(*alloc.getOffset(), alloc.getBuffer().getType().getBytes(), inLoop)});
  return success();
}

LogicalResult lowerDealloc(ThreadBuilder &t, Operation *) {
  t.endBuffer();
  return success();
}

LogicalResult lowerSlot(ThreadBuilder &t, Operation *op) {
  auto slot = cast<tile::SlotOp>(op);
  Value index = t.scalar(slot.getIndex());
  t.set(slot, {t.sharedAddress(t.scalar(slot.getBuffer()),
                               t.mul(index, t.i32(slot.getSlot().getType().getSlotBytes())))});
  return success();
}

LogicalResult lowerPut(ThreadBuilder &t, Operation *op) {
  auto put = cast<tile::PutOp>(op);
  const layout::Layout &layout = *t.layoutOf(put.getValue().getType());
  FailureOr<TileInSlot> place = TileInSlot::make(t, op, layout, put.getSlot());
  if (failed(place))
    return failure();
  const Registers &values = t.get(put.getValue());
  t.ifTrue(t.isOwner(layout, /*inBlock=*/true), [&] {
    for (const std::vector<int64_t> &group : place->groups()) {
      if (t.isCopy(layout, group[0]))
        continue;
      SmallVector<Value> elements;
      for (int64_t r : group)
        elements.push_back(values[r]);
      t.storeShared(place->address(group[0]), t.i32(0), elements);
    }
  });
  return success();
}

LogicalResult lowerCopyAsync(ThreadBuilder &t, Operation *op) {
  auto copy = cast<tile::CopyAsyncOp>(op);
  auto region = cast<tile::RegionOp>(op);
  layout::Layout by = copy.getBy().getLayout();
  t.orderLoad(region);
  Access access(t, region, &by);
  FailureOr<TileInSlot> place = TileInSlot::make(t, op, by, copy.getSlot());
  if (failed(place))
    return failure();
  Value condition = copy.getCondition() ? t.scalar(copy.getCondition()) : Value();
  condition = t.conjunction(condition, t.isOwner(by, /*inBlock=*/true));
  for (const std::vector<int64_t> &group : access.vectorGroups(/*maskInTheWay=*/false)) {
    if (t.isCopy(by, group[0]))
      continue;
    int64_t bytes = int64_t(group.size()) * access.elementBytes();
    if (bytes < 4)
      return op->emitOpError("copies ") << bytes << " bytes at a time, but 4, 8 or 16 can be";
    Access::Address from = access.address(group[0]);
    Value source = from.pointer;
    if (from.fixedBytes)
      source = LLVM::GEPOp::create(t.b, t.loc, source.getType(), t.b.getI8Type(), source,
                                   ArrayRef<LLVM::GEPArg>{int32_t(from.fixedBytes)});
    Value sourceBytes;
    if (Value inside = access.inBounds(group[0]))
      sourceBytes = arith::SelectOp::create(t.b, t.loc, inside, t.i32(bytes), t.i32(0));
    ptx::CopyAsyncOp::create(t.b, t.loc, place->address(group[0]), source, sourceBytes, condition, bytes,
                             bytes == 16 ? ptx::CopyAsyncCache::Global : ptx::CopyAsyncCache::All,
                             /*fetch=*/0);
  }
  return success();
}

LogicalResult lowerCommit(ThreadBuilder &t, Operation *) {
  ptx::CopyAsyncCommitOp::create(t.b, t.loc);
  return success();
}

LogicalResult lowerWait(ThreadBuilder &t, Operation *op) {
  ptx::CopyAsyncWaitOp::create(t.b, t.loc, uint64_t(cast<tile::CopyWaitOp>(op).getPending()));
  return success();
}

LogicalResult lowerBarrier(ThreadBuilder &t, Operation *op) {
  // Each writer fences what it wrote itself, before all meet.
  if (cast<tile::BarrierOp>(op).getAsync())
    ptx::FenceProxyAsyncOp::create(t.b, t.loc, ptx::ProxySpace::SharedCta);
  t.barrier();
  return success();
}

} // namespace

void addSharedHandlers(HandlerTable &table) {
  table["tile.alloc"] = lowerAlloc;
  table["tile.dealloc"] = lowerDealloc;
  table["tile.slot"] = lowerSlot;
  table["tile.put"] = lowerPut;
  table["tile.copy_async"] = lowerCopyAsync;
  table["tile.copy_commit"] = lowerCommit;
  table["tile.copy_wait"] = lowerWait;
  table["tile.barrier"] = lowerBarrier;
}

} // namespace tilegym::nvidia
