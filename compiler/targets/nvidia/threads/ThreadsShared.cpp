// SPDX-License-Identifier: MIT
// Tiles in shared memory: their buffers, and both ways of filling them.
#include "compiler/ir/SlotBoxes.h"
#include "compiler/ir/TensorCopy.h"
#include "compiler/layout/MatrixAccess.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/Access.h"
#include "compiler/targets/nvidia/threads/SlotAccess.h"
#include "compiler/targets/nvidia/threads/Words.h"
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

/// Matrices of 8 rows of 16 bytes, four by one instruction; false where the registers do not hold such. On its way to a tensor store alone, as targets
/// whose copy engine knows tensors have the instruction.
bool putMatrices(ThreadBuilder &t, tile::PutOp put, const layout::Layout &layout) {
  auto type = cast<tile::SharedType>(put.getSlot().getType());
  int64_t bytes = type.getSlotBytes() / type.getTile().getNumElements();
  bool isStored =
      llvm::any_of(put.getSlot().getUsers(), [](Operation *user) { return isa<tile::TensorStoreOp>(user); });
  if (!isStored || layout.isReplicated())
    return false;
  layout::Expected<layout::MatrixAccess> matrices =
      layout::matrixAccess(layout, type.getLayout(), int(bytes));
  if (!matrices)
    return false;
  SlotAccess access(t, t.scalar(put.getSlot()), matrices->laneBits, matrices->warpBits, bytes);
  const Registers &values = t.get(put.getValue());
  for (const layout::MatrixAccess::Instruction &instruction : matrices->instructions) {
    SmallVector<Value> words;
    for (const std::vector<int64_t> &registers : instruction.words) {
      SmallVector<Value> elements;
      for (int64_t r : registers)
        elements.push_back(values[r]);
      words.append(pack(t, elements, wordsFor(t, bytes, int64_t(elements.size()))));
    }
    ptx::StoreMatrixOp::create(t.b, t.loc, words, access.address(instruction.offset), matrices->transposed);
  }
  return true;
}

LogicalResult lowerPut(ThreadBuilder &t, Operation *op) {
  auto put = cast<tile::PutOp>(op);
  const layout::Layout &layout = *t.layoutOf(put.getValue().getType());
  if (putMatrices(t, put, layout))
    return success();
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
    if (Value inside = access.inBounds(group[0])) {
      sourceBytes = arith::SelectOp::create(t.b, t.loc, inside, t.i32(bytes), t.i32(0));
      // What is not read must be aligned, too, and an axis of one element may have any stride.
      if (group.size() > 1)
        source = arith::SelectOp::create(t.b, t.loc, inside, source, t.scalar(region.getBase()));
    }
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
  if (cast<tile::BarrierOp>(op).getApart())
    t.warpgroupBarrier();
  else
    t.barrier();
  return success();
}

/// One thread tells the copy engine, box by box, or one of each warpgroup.
LogicalResult lowerTensorStore(ThreadBuilder &t, Operation *op) {
  auto store = cast<tile::TensorStoreOp>(op);
  tile::TensorMapType map = store.getMap().getType();
  tile::SharedBoxes boxes = // the verifier has seen them
      *tile::boxesOfGroups(map, store.getSlot().getType(), store.getApart() ? t.kernel.getWarps() / 4 : 1);
  SmallVector<Value> origin;
  for (Value index : store.getIndices()) {
    Value value = t.scalar(index);
    if (!value.getType().isInteger(32)) // extents fit 31 bits, and no index is negative
      value = arith::TruncIOp::create(t.b, t.loc, t.b.getI32Type(), value);
    origin.push_back(value);
  }
  auto moved = [&](Value value, int64_t by) {
    return by ? t.add(value, t.mul(t.warpgroup(), t.i32(by))) : value;
  };
  t.ifTrue(store.getApart() ? t.isFirstOfWarpgroup() : t.isFirstThread(), [&] {
    for (const tile::SlotBox &box : boxes.first) {
      SmallVector<Value> coordinates;
      for (int64_t axis : map.getOrder())
        coordinates.push_back(
            t.add(moved(origin[axis], boxes.step.distances[axis]), t.i32(box.distances[axis])));
      Value source = t.sharedAddress(t.scalar(store.getSlot()), moved(t.i32(box.bytes), boxes.step.bytes));
      ptx::TensorStoreOp::create(t.b, t.loc, t.scalar(store.getMap()), coordinates, source, /*hint=*/Value(),
                                 /*predicate=*/Value());
    }
    ptx::BulkCommitOp::create(t.b, t.loc);
  });
  return success();
}

/// The threads that began none have nothing to wait for.
LogicalResult lowerStoreWait(ThreadBuilder &t, Operation *op) {
  ptx::BulkWaitOp::create(t.b, t.loc, uint64_t(cast<tile::TensorStoreWaitOp>(op).getPending()),
                          /*read=*/true);
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
  table["tile.tensor_store"] = lowerTensorStore;
  table["tile.tensor_store_wait"] = lowerStoreWait;
}

} // namespace tilegym::nvidia
