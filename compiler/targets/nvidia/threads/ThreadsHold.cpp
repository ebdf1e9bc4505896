// SPDX-License-Identifier: MIT
// Regions held in shared memory. The lanes of one warp tell the copy engine, a run of neighbouring elements a copy; an mbarrier counts the bytes. A
// row lies in shared memory as it does in global memory, but for what other blocks of the cluster have: so the 16-byte vectors that neighbouring
// lanes load are neighbours there, too, free of bank conflicts. A row that begins anywhere (a dense variant's) lies as far behind a multiple of 16 bytes there as in
// global memory: the engine copies the whole units of 16 bytes that are all its own, lanes of the last warp the elements before and behind them.
#include "compiler/ir/VectorAccess.h"
#include "compiler/layout/Transform.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/HeldRows.h"
#include "compiler/targets/nvidia/threads/Words.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

layout::Vec bit(int64_t place) { return layout::Vec(1) << place; }

/// Which lane copies what: a run that neighbours in memory is one lane's, its elements the lowest bits of the lane's registers.
struct CopyPlan {
  layout::Layout layout;
  int64_t run;
};

FailureOr<CopyPlan> planCopies(ThreadBuilder &t, tile::HoldOp hold, layout::BlockTurns turns) {
  SmallVector<int64_t> region = cast<tile::RegionOp>(hold.getOperation()).getRegionShape();
  layout::Shape shape(region.begin(), region.end());
  int64_t run = turns.blocks > 1 ? turns.turn : layout::powerOfTwoPart(shape.back());
  int64_t runBits = layout::log2Exact(run), blockBits = layout::log2Exact(turns.blocks), bits = 0;
  for (int64_t extent : shape)
    bits += layout::log2Exact(layout::powerOfTwoPart(extent));
  layout::Layout::Bases bases;
  auto &registers = bases[size_t(layout::Dim::Register)], &lanes = bases[size_t(layout::Dim::Lane)];
  for (int64_t i = 0; i < runBits; ++i)
    registers.push_back(bit(i));
  for (int64_t i = runBits + blockBits; i < bits; ++i)
    (lanes.size() < layout::laneBits ? lanes : registers).push_back(bit(i));
  lanes.resize(layout::laneBits, 0);
  bases[size_t(layout::Dim::Warp)].assign(layout::log2Exact(t.kernel.getWarps()), 0);
  auto &blocks = bases[size_t(layout::Dim::Block)];
  for (int64_t i = 0; i < blockBits; ++i)
    blocks.push_back(bit(runBits + i));
  blocks.resize(layout::log2Exact(t.kernel.getCtas()), 0);
  layout::Expected<layout::Layout> made = layout::Layout::make(shape, std::move(bases));
  if (!made)
    return hold.emitOpError("internal error: ") << made.error();
  return CopyPlan{*made, run};
}

Value roundUp(ThreadBuilder &t, Value bytes) {
  return t.b.createOrFold<arith::AndIOp>(t.loc, t.add(bytes, t.i32(unit - 1)), t.i32(-unit));
}

/// A row that begins anywhere, in bytes from the beginning of the unit that its first element is in.
struct OddRow {
  Value shift;       ///< where it begins
  Value first, last; ///< from where to where units are all its own, if any are
  Value bytes;       ///< its own
};

/// Of the region's only row. What this makes dominates all that follows: `access` keeps it.
OddRow makeOddRow(ThreadBuilder &t, Access &access, int64_t length) {
  // Runs are whole units, so that every lane's begins as far behind one as the row does.
  Access::Address address = access.address(0);
  Value low = LLVM::PtrToIntOp::create(t.b, t.loc, t.b.getI64Type(), address.pointer);
  low = t.add(t.b.createOrFold<arith::TruncIOp>(t.loc, t.b.getI32Type(), low), t.i32(address.fixedBytes));
  OddRow row;
  row.shift = t.b.createOrFold<arith::AndIOp>(t.loc, low, t.i32(unit - 1));
  row.bytes = t.mul(access.rowInBounds(0, length), t.i32(access.elementBytes()));
  row.first = roundUp(t, row.shift);
  row.last = t.b.createOrFold<arith::AndIOp>(t.loc, t.add(row.shift, row.bytes), t.i32(-unit));
  return row;
}

Value pointerBehind(ThreadBuilder &t, Access::Address address, Value bytes) {
  Value offset = bytes ? t.add(bytes, t.i32(address.fixedBytes)) : t.i32(address.fixedBytes);
  return LLVM::GEPOp::create(t.b, t.loc, address.pointer.getType(), t.b.getI8Type(), address.pointer,
                             ValueRange{offset});
}

/// Bytes from the row's start to the register's run.
Value bytesBefore(ThreadBuilder &t, const CopyPlan &plan, int64_t axis, int64_t reg, int64_t size) {
  ThreadBuilder::SplitCoordinate column = t.splitCoordinate(plan.layout, axis, reg);
  Value fixed = t.i32(column.fixed * size);
  return column.thread ? t.add(t.mul(column.thread, t.i32(size)), fixed) : fixed;
}

/// The elements of an odd row that no unit of its own has: up to 15 bytes before those, and as many behind, each by a lane.
void copyEdges(ThreadBuilder &t, tile::HoldOp hold, const OddRow &row, Access &access, Value before,
               layout::BlockTurns turns, Value data) {
  auto region = cast<tile::RegionOp>(hold.getOperation());
  int64_t size = elementBytes(region), each = unit / size;
  auto less = [&](Value a, Value b) -> Value {
    return arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::slt, a, b);
  };
  auto isEqual = [&](Value a, Value b) -> Value {
    return arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, a, b);
  };
  auto sub = [&](Value a, Value b) -> Value { return arith::SubIOp::create(t.b, t.loc, a, b); };
  Value headEnd = arith::MinSIOp::create(t.b, t.loc, sub(row.first, row.shift), row.bytes);
  Value tailBegin = arith::MaxSIOp::create(t.b, t.loc, sub(row.last, row.shift), headEnd);
  Value number = t.laneId(), isHead = less(number, t.i32(each));
  Value inHead = t.mul(number, t.i32(size)), inTail = sub(t.add(tailBegin, inHead), t.i32(unit));
  Value at = arith::SelectOp::create(t.b, t.loc, isHead, inHead, inTail);
  Value end = arith::SelectOp::create(t.b, t.loc, isHead, headEnd, row.bytes);
  Value copies = t.conjunction(isEqual(t.warpId(), t.i32(t.kernel.getWarps() - 1)),
                               t.conjunction(less(number, t.i32(2 * each)), less(at, end)));
  Value place = at;
  if (turns.blocks > 1) {
    Value turn = arith::DivUIOp::create(t.b, t.loc, at, t.i32(turns.turn * size));
    Value block = arith::RemUIOp::create(t.b, t.loc, turn, t.i32(turns.blocks));
    Value round = arith::DivUIOp::create(t.b, t.loc, turn, t.i32(turns.blocks));
    copies = t.conjunction(copies, isEqual(block, t.clusterRank()));
    place = t.add(t.mul(round, t.i32(turnRoom(hold, turns) * size)),
                  arith::RemUIOp::create(t.b, t.loc, at, t.i32(turns.turn * size)));
  }
  t.ifTrue(copies, [&] {
    Words form = wordsFor(t, size, 1);
    Value from = pointerBehind(t, access.address(0), sub(at, before));
    auto words =
        ptx::LoadGlobalOp::create(t.b, t.loc, SmallVector<Type>{form.wordType}, from, Value(), ValueRange(),
                                  0, form.wordBits, /*readonly=*/true, ptx::Cache::Default);
    Type element = t.elementType(region.getBase().getType().getElementType());
    t.storeShared(data, t.add(place, row.shift), unpack(t, words.getWords(), element, 1, form));
  });
}

/// Where a region is copied to: this block's part of it, and the mbarrier that counts its bytes.
struct Place {
  Value data, barrier;
};

/// Of one region (a slot's) in shared memory.
int64_t bytesHeld(tile::HoldOp hold, layout::BlockTurns turns) {
  int64_t bytes = turnRoom(hold, turns) * elementBytes(cast<tile::RegionOp>(hold.getOperation()));
  for (int64_t extent : shapeWithin(hold, turns))
    bytes *= extent;
  return bytes / turns.turn;
}

int64_t issuersOf(const CopyPlan &plan) {
  return 32 >> llvm::popcount(plan.layout.freeBits(layout::Dim::Lane));
}

/// Lanes of the first warp tell the engine.
void issueCopies(ThreadBuilder &t, tile::HoldOp hold, const CopyPlan &plan, layout::BlockTurns turns,
                 Access &access, const std::optional<OddRow> &odd, Place to, Value condition) {
  int last = lastAxis(hold);
  SmallVector<int64_t> shape = shapeWithin(hold, turns);
  layout::Layout within = layout::withinBlock(plan.layout, last, turns);
  int64_t size = access.elementBytes(), room = turnRoom(hold, turns);
  layout::Vec idle = plan.layout.freeBits(layout::Dim::Lane);
  Value idleBits = arith::AndIOp::create(t.b, t.loc, t.laneId(), t.i32(int64_t(idle)));
  Value issues = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, idleBits, t.i32(0));
  issues = t.conjunction(issues, condition);
  struct Part {
    Value bytes, source, place; ///< of whole units; the last two from the run's own
  };
  SmallVector<Part> parts;
  Value total;
  for (int64_t reg = 0; reg < plan.layout.numRegisters(); reg += plan.run) {
    Part part{t.mul(access.runInBounds(reg, plan.run), t.i32(size)), {}, {}};
    if (odd) {
      Value start = bytesBefore(t, plan, last, reg, size);
      // One block's runs meet: a unit that two share is the first one's. What other blocks have lies between a cluster's.
      Value begin = turns.blocks > 1 ? Value(arith::MaxSIOp::create(t.b, t.loc, start, odd->first))
                                     : t.add(start, odd->first);
      Value end = arith::MinSIOp::create(t.b, t.loc, roundUp(t, t.add(t.add(start, part.bytes), odd->shift)),
                                         odd->last);
      part.place = arith::SubIOp::create(t.b, t.loc, begin, start);
      part.source = arith::SubIOp::create(t.b, t.loc, part.place, odd->shift);
      part.bytes =
          arith::MaxSIOp::create(t.b, t.loc, arith::SubIOp::create(t.b, t.loc, end, begin), t.i32(0));
    }
    total = total ? t.add(total, part.bytes) : part.bytes;
    parts.push_back(part);
  }
  ptx::MbarrierArriveExpectTxOp::create(t.b, t.loc, Type(), to.barrier, total, issues);
  for (auto [i, part] : llvm::enumerate(parts)) {
    int64_t reg = int64_t(i) * plan.run;
    Value source = pointerBehind(t, access.address(reg), part.source);
    auto [offset, fixed] = offsetWithin(t, within, reg, shape);
    if (odd && turns.blocks > 1) { // whole turns, each with a unit more
      fixed = fixed / turns.turn * room;
      if (offset)
        offset = t.mul(t.b.createOrFold<arith::DivUIOp>(t.loc, offset, t.i32(turns.turn)), t.i32(room));
    }
    Value place = t.mul(offset ? t.add(offset, t.i32(fixed)) : t.i32(fixed), t.i32(size));
    Value target = t.sharedAddress(to.data, part.place ? t.add(place, part.place) : place);
    Value some = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ne, part.bytes, t.i32(0));
    ptx::BulkLoadOp::create(t.b, t.loc, target, source, part.bytes, to.barrier, Value(), Value(),
                            t.conjunction(issues, some));
  }
}

Value isFirstWarp(ThreadBuilder &t) {
  return arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, t.warpId(), t.i32(0));
}

/// In the first warp, whose lanes see them afterwards.
void initBarriers(ThreadBuilder &t, Value first, int64_t count, int64_t arrivals) {
  Value isFirst = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, t.laneId(), t.i32(0));
  for (int64_t i = 0; i < count; ++i)
    ptx::MbarrierInitOp::create(t.b, t.loc, i ? t.sharedAddress(first, t.i32(8 * i)) : first, t.i32(arrivals),
                                isFirst);
  ptx::FenceMbarrierInitOp::create(t.b, t.loc);
  // One issuer needs none, but compute-sanitizer takes a predicated store for every lane's.
  ptx::WarpBarrierOp::create(t.b, t.loc);
}

/// A slot's place: slots lie one after another, then their mbarriers.
Place placeOf(ThreadBuilder &t, ArrayRef<Value> ring, Value slot, int64_t bytes) {
  return {t.sharedAddress(ring[0], t.mul(slot, t.i32(bytes))),
          t.sharedAddress(ring[1], t.mul(slot, t.i32(8)))};
}

LogicalResult lowerHoldRing(ThreadBuilder &t, Operation *op) {
  auto ring = cast<tile::HoldRingOp>(op);
  auto holds = llvm::make_filter_range(op->getUsers(), llvm::IsaPred<tile::HoldOp>);
  if (holds.empty())
    return success();
  auto hold = cast<tile::HoldOp>(*holds.begin());
  FailureOr<layout::BlockTurns> turns = turnsOf(t, hold);
  if (failed(turns))
    return failure();
  FailureOr<CopyPlan> plan = planCopies(t, hold, *turns);
  if (failed(plan))
    return failure();
  int64_t slots = int64_t(ring.getSlots()), bytes = bytesHeld(hold, *turns);
  Value data = t.reserveShared(slots * (bytes + 8));
  Value barriers = t.sharedAddress(data, t.i32(slots * bytes));
  t.ifTrue(isFirstWarp(t), [&] { initBarriers(t, barriers, slots, issuersOf(*plan)); });
  t.barrier();
  t.set(ring, {data, barriers});
  return success();
}

LogicalResult lowerHold(ThreadBuilder &t, Operation *op) {
  auto hold = cast<tile::HoldOp>(op);
  FailureOr<layout::BlockTurns> turns = turnsOf(t, hold);
  if (failed(turns))
    return failure();
  FailureOr<CopyPlan> plan = planCopies(t, hold, *turns);
  if (failed(plan))
    return failure();
  Access access(t, cast<tile::RegionOp>(op), &plan->layout);
  int64_t bytes = bytesHeld(hold, *turns);
  if (hold.getRing()) {
    if (!isAligned(hold))
      return hold.emitOpError("internal error: a slot for rows that begin anywhere");
    Place place = placeOf(t, t.get(hold.getRing()), t.scalar(hold.getSlot()), bytes);
    Value condition = t.scalar(hold.getCondition());
    t.ifTrue(isFirstWarp(t), [&] {
      // Threads have read the slot, before a barrier.
      ptx::FenceProxyAsyncOp::create(t.b, t.loc, ptx::ProxySpace::SharedCta);
      issueCopies(t, hold, *plan, *turns, access, {}, place, condition);
    });
    t.set(hold, {place.data, place.barrier});
    return success();
  }
  Value data = t.reserveShared(bytes + 8);
  Value barrier = t.sharedAddress(data, t.i32(bytes));
  std::optional<OddRow> odd;
  Value before; // of register 0's run
  if (!isAligned(hold)) {
    odd = makeOddRow(t, access, hold.getLengths().back());
    before = bytesBefore(t, *plan, lastAxis(hold), 0, access.elementBytes());
  }
  t.ifTrue(isFirstWarp(t), [&] {
    initBarriers(t, barrier, 1, issuersOf(*plan));
    issueCopies(t, hold, *plan, *turns, access, odd, {data, barrier}, Value());
  });
  if (odd)
    copyEdges(t, hold, *odd, access, before, *turns, data);
  // The others see the mbarrier before they wait at it.
  t.barrier();
  t.set(hold, {odd ? t.sharedAddress(data, odd->shift) : data, barrier});
  return success();
}

LogicalResult lowerAwait(ThreadBuilder &t, Operation *op) {
  auto await = cast<tile::AwaitOp>(op);
  if (tile::HoldRingOp ring = await.getRing()) {
    FailureOr<layout::BlockTurns> turns = turnsOf(t, await.getHold());
    if (failed(turns))
      return failure();
    Value slot = t.scalar(await.getTurn()[0]), parity = t.scalar(await.getTurn()[1]);
    Place place = placeOf(t, t.get(ring), slot, bytesHeld(await.getHold(), *turns));
    t.awaitPhase(place.barrier, parity);
    t.exchangeByTurns(slot, parity, int64_t(ring.getSlots()));
    t.set(await, {place.data, place.barrier});
    return success();
  }
  t.awaitPhase(t.get(await.getCopy())[1]);
  t.set(await, t.get(await.getCopy()));
  return success();
}

} // namespace

void addHoldHandlers(HandlerTable &table) {
  table["tile.hold"] = lowerHold;
  table["tile.hold_ring"] = lowerHoldRing;
  table["tile.await"] = lowerAwait;
}

} // namespace tilegym::nvidia
