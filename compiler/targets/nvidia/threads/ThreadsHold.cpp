// SPDX-License-Identifier: MIT
// Regions held in shared memory. The lanes of one warp tell the copy engine, a run of neighbouring elements a copy; an mbarrier counts the bytes. A
// row lies in shared memory as it does in global memory, but for what other blocks of the cluster have: so the 16-byte vectors that neighbouring
// lanes load are neighbours there, too, free of bank conflicts.
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
  int64_t size = access.elementBytes(), bytes = size;
  for (int64_t extent : shape)
    bytes *= extent;
  Value data = t.reserveShared(bytes + 8);
  Value barrier = t.sharedAddress(data, t.i32(bytes));

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
    SmallVector<Value> sizes;
    Value total;
    for (int64_t reg = 0; reg < plan->layout.numRegisters(); reg += plan->run) {
      sizes.push_back(t.mul(access.runInBounds(reg, plan->run), t.i32(size)));
      total = total ? t.add(total, sizes.back()) : sizes.back();
    }
    ptx::MbarrierArriveExpectTxOp::create(t.b, t.loc, Type(), barrier, total, issues);
    for (auto [i, length] : llvm::enumerate(sizes)) {
      int64_t reg = int64_t(i) * plan->run;
      Access::Address from = access.address(reg);
      Value source = LLVM::GEPOp::create(t.b, t.loc, from.pointer.getType(), t.b.getI8Type(), from.pointer,
                                         ValueRange{t.i32(from.fixedBytes)});
      auto [offset, fixed] = offsetWithin(t, within, reg, shape);
      Value place = offset ? t.add(offset, t.i32(fixed)) : t.i32(fixed);
      Value target = t.sharedAddress(data, t.mul(place, t.i32(size)));
      Value some = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ne, length, t.i32(0));
      ptx::BulkLoadOp::create(t.b, t.loc, target, source, length, barrier, Value(), Value(),
                              t.conjunction(issues, some));
    }
  });
  // The others see the mbarrier before they wait at it.
  t.barrier();
  t.set(hold, {data, barrier});
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
