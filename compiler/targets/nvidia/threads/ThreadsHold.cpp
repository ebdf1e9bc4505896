// SPDX-License-Identifier: MIT
// Regions held in shared memory. The lanes of one warp tell the copy engine, a run of neighbouring elements a copy; an mbarrier counts the bytes. A
// row lies in shared memory as it does in global memory, but for what other blocks of the cluster have: so the 16-byte vectors that neighbouring
// lanes load are neighbours there, too, free of bank conflicts. A row that begins anywhere (a dense variant's) lies as far behind a multiple of 16 bytes there as in
// global memory: the engine copies the whole units of 16 bytes that are all its own, lanes of the last warp the elements before and behind them.
#include "compiler/ir/VectorAccess.h"
#include "compiler/layout/Transform.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/Access.h"
#include "compiler/targets/nvidia/threads/Words.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

layout::Vec bit(int64_t place) { return layout::Vec(1) << place; }

int lastAxis(tile::HoldOp hold) {
  return int(cast<tile::RegionOp>(hold.getOperation()).getRegionShape().size()) - 1;
}

/// How the blocks of the cluster share the rows: as the layouts of all loads have it.
FailureOr<layout::BlockTurns> turnsOf(ThreadBuilder &t, tile::HoldOp hold) {
  std::optional<layout::BlockTurns> turns;
  int axis = lastAxis(hold);
  int64_t length = hold.getLengths().back();
  for (Operation *await : hold->getUsers())
    for (Operation *load : await->getUsers()) {
      layout::Expected<layout::BlockTurns> own =
          layout::blockTurns(*t.layoutOf(load->getResult(0).getType()), axis);
      if (own && own->blocks == 1)
        own->turn = length;
      if (!own || (turns && !(*turns == *own)))
        return t.failAcrossBlocks("a row in shared memory");
      turns = *own;
    }
  return turns ? *turns : layout::BlockTurns{length, 1};
}

SmallVector<int64_t> shapeWithin(tile::HoldOp hold, layout::BlockTurns turns) {
  SmallVector<int64_t> shape = cast<tile::RegionOp>(hold.getOperation()).getRegionShape();
  shape.back() /= turns.blocks;
  return shape;
}

constexpr int64_t unit = 16; ///< bytes that the engine copies at once, aligned on both sides

int64_t elementBytes(tile::RegionOp region) {
  return std::max<int64_t>(1, region.getBase().getType().getElementType().getIntOrFloatBitWidth() / 8);
}

/// Whether rows begin, and end, at whole units.
bool isAligned(tile::HoldOp hold) {
  auto region = cast<tile::RegionOp>(hold.getOperation());
  return tile::vectorAxis(region).width * elementBytes(region) == unit;
}

/// Elements that one turn has room for: a unit more, where it begins anywhere in one. One block's turn is the whole row.
int64_t turnRoom(tile::HoldOp hold, layout::BlockTurns turns) {
  return turns.turn + (isAligned(hold) ? 0 : unit / elementBytes(cast<tile::RegionOp>(hold.getOperation())));
}

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

/// The element's offset in this block's part of the region: what threads add, and what is fixed.
std::pair<Value, int64_t> offsetWithin(ThreadBuilder &t, const layout::Layout &within, int64_t reg,
                                       ArrayRef<int64_t> shape) {
  Value sum;
  int64_t fixed = 0, stride = 1;
  for (int64_t axis = within.rank() - 1; axis >= 0; --axis) {
    ThreadBuilder::SplitCoordinate split = t.splitCoordinate(within, axis, reg);
    fixed += split.fixed * stride;
    if (split.thread) {
      Value part = t.mul(split.thread, t.i32(stride));
      sum = sum ? t.add(sum, part) : part;
    }
    stride *= shape[axis];
  }
  return {sum, fixed};
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

LogicalResult lowerHold(ThreadBuilder &t, Operation *op) {
  auto hold = cast<tile::HoldOp>(op);
  auto region = cast<tile::RegionOp>(op);
  FailureOr<layout::BlockTurns> turns = turnsOf(t, hold);
  if (failed(turns))
    return failure();
  FailureOr<CopyPlan> plan = planCopies(t, hold, *turns);
  if (failed(plan))
    return failure();
  int last = lastAxis(hold);
  SmallVector<int64_t> shape = shapeWithin(hold, *turns);
  layout::Layout within = layout::withinBlock(plan->layout, last, *turns);
  Access access(t, region, &plan->layout);
  int64_t size = access.elementBytes(), room = turnRoom(hold, *turns), bytes = room * size;
  for (int64_t extent : shape)
    bytes *= extent;
  bytes /= turns->turn;
  Value data = t.reserveShared(bytes + 8);
  Value barrier = t.sharedAddress(data, t.i32(bytes));
  std::optional<OddRow> odd;
  Value before; // of register 0's run
  if (!isAligned(hold)) {
    odd = makeOddRow(t, access, hold.getLengths().back());
    before = bytesBefore(t, *plan, last, 0, size);
  }

  layout::Vec idle = plan->layout.freeBits(layout::Dim::Lane);
  int64_t issuers = 32 >> llvm::popcount(idle);
  Value inFirstWarp = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, t.warpId(), t.i32(0));
  t.ifTrue(inFirstWarp, [&] {
    Value isFirst = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, t.laneId(), t.i32(0));
    ptx::MbarrierInitOp::create(t.b, t.loc, barrier, t.i32(issuers), isFirst);
    ptx::FenceMbarrierInitOp::create(t.b, t.loc);
    // One issuer needs none, but compute-sanitizer takes a predicated store for every lane's.
    ptx::WarpBarrierOp::create(t.b, t.loc);
    Value idleBits = arith::AndIOp::create(t.b, t.loc, t.laneId(), t.i32(int64_t(idle)));
    Value issues = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, idleBits, t.i32(0));
    struct Part {
      Value bytes, source, place; ///< of whole units; the last two from the run's own
    };
    SmallVector<Part> parts;
    Value total;
    for (int64_t reg = 0; reg < plan->layout.numRegisters(); reg += plan->run) {
      Part part{t.mul(access.runInBounds(reg, plan->run), t.i32(size)), {}, {}};
      if (odd) {
        Value start = bytesBefore(t, *plan, last, reg, size);
        // One block's runs meet: a unit that two share is the first one's. What other blocks have lies between a cluster's.
        Value begin = turns->blocks > 1 ? Value(arith::MaxSIOp::create(t.b, t.loc, start, odd->first))
                                        : t.add(start, odd->first);
        Value end = arith::MinSIOp::create(
            t.b, t.loc, roundUp(t, t.add(t.add(start, part.bytes), odd->shift)), odd->last);
        part.place = arith::SubIOp::create(t.b, t.loc, begin, start);
        part.source = arith::SubIOp::create(t.b, t.loc, part.place, odd->shift);
        part.bytes =
            arith::MaxSIOp::create(t.b, t.loc, arith::SubIOp::create(t.b, t.loc, end, begin), t.i32(0));
      }
      total = total ? t.add(total, part.bytes) : part.bytes;
      parts.push_back(part);
    }
    ptx::MbarrierArriveExpectTxOp::create(t.b, t.loc, Type(), barrier, total, issues);
    for (auto [i, part] : llvm::enumerate(parts)) {
      int64_t reg = int64_t(i) * plan->run;
      Value source = pointerBehind(t, access.address(reg), part.source);
      auto [offset, fixed] = offsetWithin(t, within, reg, shape);
      if (odd && turns->blocks > 1) { // whole turns, each with a unit more
        fixed = fixed / turns->turn * room;
        if (offset)
          offset = t.mul(t.b.createOrFold<arith::DivUIOp>(t.loc, offset, t.i32(turns->turn)), t.i32(room));
      }
      Value place = t.mul(offset ? t.add(offset, t.i32(fixed)) : t.i32(fixed), t.i32(size));
      Value target = t.sharedAddress(data, part.place ? t.add(place, part.place) : place);
      Value some = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ne, part.bytes, t.i32(0));
      ptx::BulkLoadOp::create(t.b, t.loc, target, source, part.bytes, barrier, Value(), Value(),
                              t.conjunction(issues, some));
    }
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
  t.awaitPhase(t.get(await.getCopy())[1]);
  t.set(await, t.get(await.getCopy()));
  return success();
}

} // namespace

LogicalResult lowerHeldLoad(ThreadBuilder &t, tile::LoadOp load) {
  auto region = cast<tile::RegionOp>(load.getOperation());
  auto hold = cast<tile::HoldOp>(load.getHeld().getDefiningOp<tile::AwaitOp>().getCopy().getDefiningOp());
  FailureOr<layout::BlockTurns> turns = turnsOf(t, hold);
  if (failed(turns))
    return failure();
  Type element = t.elementType(load.getType());
  const layout::Layout &layout = *t.layoutOf(load.getType());
  SmallVector<int64_t> shape = shapeWithin(hold, *turns);
  layout::Layout within = layout::withinBlock(layout, lastAxis(hold), *turns);
  Access access(t, region, &layout);
  int64_t size = access.elementBytes();

  // Where the region starts: whole rounds of turns behind the held one's start.
  Value start = t.scalar(load.getIndices().back()), origin = t.scalar(hold.getIndices().back());
  start = t.b.createOrFold<arith::SubIOp>(t.loc, start, origin);
  if (!start.getType().isInteger(32))
    start = t.b.createOrFold<arith::TruncIOp>(t.loc, t.b.getI32Type(), start);
  if (turns->blocks > 1)
    start = t.b.createOrFold<arith::ShRUIOp>(t.loc, start, t.i32(layout::log2Exact(turns->blocks)));
  if (turns->blocks > 1 && !isAligned(hold)) {
    // A strip is a turn of each block, so that no element of it lies behind the next turn's unit.
    if (load.getLengths().back() / turns->blocks > turns->turn)
      return load.emitOpError("internal error: a strip of several turns");
    Value round = t.b.createOrFold<arith::ShRUIOp>(t.loc, start, t.i32(layout::log2Exact(turns->turn)));
    start = t.mul(round, t.i32(turnRoom(hold, *turns)));
  }

  Registers result(layout.numRegisters());
  for (const std::vector<int64_t> &group : access.vectorGroups(/*maskInTheWay=*/false)) {
    int64_t n = group.size();
    Words form = wordsFor(t, size, n);
    Value predicate = access.inBounds(group[0]);
    SmallVector<Value> other;
    if (predicate)
      other = pack(t, SmallVector<Value>(n, t.scalar(load.getPad())), form);
    auto [offset, fixed] = offsetWithin(t, within, group[0], shape);
    Value place = offset ? t.add(start, offset) : start;
    Value address = t.sharedAddress(t.get(load.getHeld())[0], t.mul(place, t.i32(size)));
    auto words = ptx::LoadSharedOp::create(t.b, t.loc, SmallVector<Type>(form.words, form.wordType), address,
                                           predicate, other, fixed * size, form.wordBits);
    Registers loaded = unpack(t, words.getWords(), element, n, form);
    for (auto [r, value] : llvm::zip(group, loaded))
      result[r] = value;
  }
  t.set(load, std::move(result));
  return success();
}

void addHoldHandlers(HandlerTable &table) {
  table["tile.hold"] = lowerHold;
  table["tile.await"] = lowerAwait;
}

} // namespace tilegym::nvidia
