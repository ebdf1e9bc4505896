// SPDX-License-Identifier: MIT
// Values, coordinates and shuffles of a thread. Shared memory is in SharedMemory.cpp, the order of global accesses in MemoryOrder.cpp.
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tilegym::nvidia {

ThreadBuilder::ThreadBuilder(OpBuilder &builder, tile::KernelOp kernel, ValueRange arguments)
    : b(builder), loc(kernel.getLoc()), kernel(kernel), arguments(arguments.begin(), arguments.end()) {
  // These stand at the function's start, so that they dominate every use.
  blockThread = thread = ptx::ThreadIdOp::create(b, loc);
  if (kernel.getTeams() > 1)
    thread = arith::AndIOp::create(b, loc, thread, i32(numThreads() - 1));
  lane = arith::AndIOp::create(b, loc, thread, i32(31));
  warp = arith::ShRUIOp::create(b, loc, thread, i32(5));
  if (kernel.getCtas() > 1)
    rank = ptx::ClusterRankOp::create(b, loc);
  sharedBase = ptx::SharedBaseOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3));
  if (kernel.getClusterSize() > kernel.getCtas())
    part = ptx::ClusterRankOp::create(b, loc);
}

const layout::Layout *ThreadBuilder::layoutOf(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto attribute = tensor ? dyn_cast_or_null<tile::LayoutAttr>(tensor.getEncoding()) : tile::LayoutAttr();
  if (!attribute)
    return nullptr;
  std::unique_ptr<layout::Layout> &layout = layouts[attribute];
  if (!layout)
    layout = std::make_unique<layout::Layout>(attribute.getLayout());
  return layout.get();
}

int64_t ThreadBuilder::numRegisters(Type type) const {
  const layout::Layout *l = layoutOf(type);
  return l ? l->numRegisters() : 1;
}

Type ThreadBuilder::elementType(Type type) const {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8 ? Type(b.getI8Type()) : element;
}

Value ThreadBuilder::constant(Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}
Value ThreadBuilder::constantFloat(Type type, double value) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
}
Value ThreadBuilder::i32(int64_t value) { return constant(b.getI32Type(), value); }
Value ThreadBuilder::i64(int64_t value) { return constant(b.getI64Type(), value); }
Value ThreadBuilder::boolean(bool value) { return constant(b.getI1Type(), value); }
Value ThreadBuilder::add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
Value ThreadBuilder::mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); }
Value ThreadBuilder::conjunction(Value x, Value y) {
  return !x ? y : !y ? x : b.createOrFold<arith::AndIOp>(loc, x, y);
}

Value ThreadBuilder::threadId() { return thread; }
Value ThreadBuilder::threadOfBlock() { return blockThread; }
Value ThreadBuilder::laneId() { return lane; }
Value ThreadBuilder::warpId() { return warp; }
Value ThreadBuilder::warpgroup() {
  if (!group) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(sharedBase.getDefiningOp());
    group = shuffle(arith::ShRUIOp::create(b, loc, warp, i32(2)), int(ptx::ShuffleKind::Index), i32(0));
  }
  return group;
}
Value ThreadBuilder::team() {
  if (!ownTeam) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(sharedBase.getDefiningOp());
    Value team = arith::ShRUIOp::create(b, loc, blockThread, i32(int64_t(llvm::Log2_64(numThreads()))));
    ownTeam = shuffle(team, int(ptx::ShuffleKind::Index), i32(0));
  }
  return ownTeam;
}
Value ThreadBuilder::clusterRank() { return rank; }
Value ThreadBuilder::partRank() { return part; }

Value ThreadBuilder::linear(Value index, ArrayRef<int64_t> masks) {
  // Runs of bits whose masks are a power of two apart move together: one and, one shift.
  Value sum;
  for (size_t i = 0; i < masks.size();) {
    if (masks[i] == 0) {
      ++i;
      continue;
    }
    Value part;
    if (llvm::isPowerOf2_64(masks[i])) {
      size_t n = 1;
      while (i + n < masks.size() && masks[i + n] == masks[i] << n)
        ++n;
      int64_t shift = int64_t(llvm::Log2_64(masks[i])) - int64_t(i);
      part = b.createOrFold<arith::AndIOp>(loc, index, i32(((int64_t(1) << n) - 1) << i));
      if (shift > 0)
        part = b.createOrFold<arith::ShLIOp>(loc, part, i32(shift));
      else if (shift < 0)
        part = b.createOrFold<arith::ShRUIOp>(loc, part, i32(-shift));
      i += n;
    } else {
      Value bit = b.createOrFold<arith::AndIOp>(loc, index, i32(int64_t(1) << i));
      Value isSet = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, i32(0));
      part = arith::SelectOp::create(b, loc, isSet, i32(masks[i]), i32(0));
      ++i;
    }
    sum = sum ? b.createOrFold<arith::XOrIOp>(loc, sum, part) : part;
  }
  return sum;
}

ArrayRef<Value> ThreadBuilder::threadPart(const layout::Layout &layout) {
  std::string key = layout.str();
  auto found = threadParts.find(key);
  if (found != threadParts.end())
    return found->second;
  // Computed right after warp and lane, where it dominates everything, wherever it is first asked for.
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(sharedBase.getDefiningOp());
  SmallVector<Value> parts;
  for (int axis = 0; axis < layout.rank(); ++axis) {
    auto masks = [&](layout::Dim dim) {
      SmallVector<int64_t> result;
      for (layout::Vec base : layout.bases(dim))
        result.push_back(layout.unitCoords(base)[axis]);
      return result;
    };
    Value part;
    for (auto [index, dim] :
         {std::pair(lane, layout::Dim::Lane), {warp, layout::Dim::Warp}, {rank, layout::Dim::Block}})
      if (Value more = linear(index, masks(dim)))
        part = part ? Value(arith::XOrIOp::create(b, loc, part, more)) : more;
    parts.push_back(part);
  }
  return threadParts.try_emplace(key, std::move(parts)).first->second;
}

/// Bits that threads can add to the coordinate.
static int64_t threadBits(const layout::Layout &layout, int64_t axis) {
  int64_t bits = 0;
  for (layout::Dim dim : {layout::Dim::Lane, layout::Dim::Warp, layout::Dim::Block})
    for (layout::Vec base : layout.bases(dim))
      bits |= layout.unitCoords(base)[axis];
  return bits;
}

ThreadBuilder::SplitCoordinate ThreadBuilder::splitCoordinate(const layout::Layout &layout, int64_t axis,
                                                              int64_t reg) {
  int64_t fixed = layout.apply({reg, 0, 0, 0})[axis];
  int64_t unitBits = layout.apply({reg % layout.unitRegisters(), 0, 0, 0})[axis];
  Value part = threadPart(layout)[axis];
  if (part && (unitBits & threadBits(layout, axis))) {
    part = arith::XOrIOp::create(b, loc, part, i32(unitBits));
    fixed -= unitBits;
  }
  return {part, fixed};
}

Value ThreadBuilder::coordinate(const layout::Layout &layout, int64_t axis, int64_t reg) {
  SplitCoordinate split = splitCoordinate(layout, axis, reg);
  if (!split.thread)
    return i32(split.fixed);
  return split.fixed ? add(split.thread, i32(split.fixed)) : split.thread;
}

Value ThreadBuilder::isOwner(const layout::Layout &layout, bool inBlock) {
  Value owner;
  auto require = [&](Value index, layout::Vec bits) {
    if (bits == 0)
      return;
    Value copy = arith::AndIOp::create(b, loc, index, i32(int64_t(bits)));
    owner = conjunction(owner, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, copy, i32(0)));
  };
  require(lane, layout.freeBits(layout::Dim::Lane));
  require(warp, layout.freeBits(layout::Dim::Warp));
  if (rank && !inBlock)
    require(rank, layout.freeBits(layout::Dim::Block));
  return owner;
}

Value ThreadBuilder::isFirstThread() {
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread, i32(0));
  if (!rank)
    return first;
  return conjunction(first, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rank, i32(0)));
}

Value ThreadBuilder::isFirstOfWarpgroup() {
  Value within = arith::AndIOp::create(b, loc, thread, i32(127));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, within, i32(0));
}

bool ThreadBuilder::isCopy(const layout::Layout &layout, int64_t reg) {
  return (reg % layout.unitRegisters()) & int64_t(layout.freeBits(layout::Dim::Register));
}

Value ThreadBuilder::rowMajorIndex(const layout::Layout &layout, int64_t reg, ArrayRef<int64_t> shape,
                                   ArrayRef<int64_t> offsets) {
  int64_t fixed = 0, stride = 1;
  Value sum;
  for (int64_t axis = layout.rank() - 1; axis >= 0; --axis) {
    SplitCoordinate split = splitCoordinate(layout, axis, reg);
    fixed += (split.fixed + (offsets.empty() ? 0 : offsets[axis])) * stride;
    if (split.thread) {
      Value part = mul(split.thread, i32(stride));
      sum = sum ? add(sum, part) : part;
    }
    stride *= shape[axis];
  }
  return !sum ? i32(fixed) : fixed ? add(sum, i32(fixed)) : sum;
}

Value ThreadBuilder::shuffle(Value value, int kind, Value sourceLane) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  auto move = [&](Value word) -> Value {
    return ptx::ShuffleOp::create(b, loc, word.getType(), ptx::ShuffleKind(kind), word, sourceLane);
  };
  if (bits == 32)
    return move(value);
  Type integer = b.getIntegerType(bits);
  Value word = isa<FloatType>(type) ? Value(arith::BitcastOp::create(b, loc, integer, value)) : value;
  if (bits < 32) {
    Value moved = move(arith::ExtUIOp::create(b, loc, b.getI32Type(), word));
    word = arith::TruncIOp::create(b, loc, integer, moved);
  } else {
    Value low = move(arith::TruncIOp::create(b, loc, b.getI32Type(), word));
    Value high =
        move(arith::TruncIOp::create(b, loc, b.getI32Type(), arith::ShRUIOp::create(b, loc, word, i64(32))));
    low = arith::ExtUIOp::create(b, loc, integer, low);
    high = arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, integer, high), i64(32));
    word = arith::OrIOp::create(b, loc, low, high);
  }
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(b, loc, type, word)) : word;
}

Value ThreadBuilder::shuffleXor(Value value, int64_t mask) {
  return shuffle(value, int(ptx::ShuffleKind::Xor), i32(mask));
}

} // namespace tilegym::nvidia
