// SPDX-License-Identifier: MIT
// Where elements of held rows lie in a block's shared memory, and loads from there.
#include "compiler/targets/nvidia/threads/HeldRows.h"
#include "compiler/ir/VectorAccess.h"
#include "compiler/layout/Transform.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/Words.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilegym::nvidia {

int lastAxis(tile::HoldOp hold) {
  return int(cast<tile::RegionOp>(hold.getOperation()).getRegionShape().size()) - 1;
}

FailureOr<layout::BlockTurns> turnsOf(ThreadBuilder &t, tile::HoldOp hold) {
  std::optional<layout::BlockTurns> turns;
  int axis = lastAxis(hold);
  int64_t length = hold.getLengths().back();
  Value held = hold.getRing() ? hold.getRing() : hold.getResult();
  for (Operation *await : llvm::make_filter_range(held.getUsers(), llvm::IsaPred<tile::AwaitOp>))
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

int64_t elementBytes(tile::RegionOp region) {
  return std::max<int64_t>(1, region.getBase().getType().getElementType().getIntOrFloatBitWidth() / 8);
}

bool isAligned(tile::HoldOp hold) {
  auto region = cast<tile::RegionOp>(hold.getOperation());
  return tile::vectorAxis(region).width * elementBytes(region) == unit;
}

int64_t turnRoom(tile::HoldOp hold, layout::BlockTurns turns) {
  return turns.turn + (isAligned(hold) ? 0 : unit / elementBytes(cast<tile::RegionOp>(hold.getOperation())));
}

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

LogicalResult lowerHeldLoad(ThreadBuilder &t, tile::LoadOp load) {
  auto region = cast<tile::RegionOp>(load.getOperation());
  tile::HoldOp hold = load.getHeld().getDefiningOp<tile::AwaitOp>().getHold();
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

} // namespace tilegym::nvidia
