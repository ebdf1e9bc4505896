// SPDX-License-Identifier: MIT
// The reduction engine. The order in which elements meet depends on the layout alone, so the same inputs give the same bits in every run.
#include "compiler/targets/nvidia/threads/Reduction.h"
#include "compiler/layout/Reduce.h"
#include "compiler/layout/Transform.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

Registers column(const TileTuple &tuple, int64_t reg) {
  Registers result;
  for (const Registers &part : tuple.parts)
    result.push_back(part[reg]);
  return result;
}

void setColumn(TileTuple &tuple, int64_t reg, const Registers &values) {
  for (auto [part, value] : llvm::zip(tuple.parts, values))
    part[reg] = value;
}

/// Neighbours first: half the depth of a chain, and the order kept.
Registers combineTree(ArrayRef<Registers> columns, Combine combine) {
  SmallVector<Registers> level(columns);
  while (level.size() > 1) {
    SmallVector<Registers> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(combine(level[i], level[i + 1]));
    if (level.size() % 2)
      next.push_back(level.back());
    level = std::move(next);
  }
  return level.front();
}

TileTuple withRegisters(const TileTuple &tuple, layout::Layout layout) {
  TileTuple result{std::move(layout), {}};
  result.parts.assign(tuple.parts.size(), Registers(result.layout.numRegisters()));
  return result;
}

/// Where `bit` of `index` is set, (b, a), else (a, b): so that two partners do the same.
Registers combineInOrder(ThreadBuilder &t, Value index, int64_t bit, const Registers &mine,
                         const Registers &theirs, Combine combine) {
  Value masked = arith::AndIOp::create(t.b, t.loc, index, t.i32(bit));
  Value iAmUpper = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ne, masked, t.i32(0));
  Registers first, second;
  for (auto [m, o] : llvm::zip(mine, theirs)) {
    first.push_back(arith::SelectOp::create(t.b, t.loc, iAmUpper, o, m));
    second.push_back(arith::SelectOp::create(t.b, t.loc, iAmUpper, m, o));
  }
  return combine(first, second);
}

void acrossLanes(ThreadBuilder &t, TileTuple &tuple, ArrayRef<int64_t> masks, Combine combine,
                 bool commutes) {
  for (int64_t mask : masks)
    for (int64_t r = 0, n = tuple.layout.numRegisters(); r < n; ++r) {
      Registers mine = column(tuple, r), theirs;
      for (Value value : mine)
        theirs.push_back(t.shuffleXor(value, mask));
      setColumn(tuple, r,
                commutes ? combine(mine, theirs)
                         : combineInOrder(t, t.laneId(), mask & -mask, mine, theirs, combine));
    }
}

/// By index bit of warps (blocks): the weight in the order of partials. `masks` are the directions in which they meet.
FailureOr<SmallVector<int64_t>> positionsOf(ThreadBuilder &t, ArrayRef<int64_t> masks) {
  SmallVector<int64_t> positions(64, 0);
  for (auto [i, mask] : llvm::enumerate(masks)) {
    if (!llvm::isPowerOf2_64(mask))
      return emitError(t.loc,
                       "internal error: a reduction meets warps or blocks that no single bit tells apart");
    positions[llvm::Log2_64(mask)] = int64_t(1) << i;
  }
  return positions;
}

/// Room in shared memory for `count` partial results of each element: those of one element side by side. Parts lie one after another, the widest
/// first, so that each is aligned to its size.
class Partials {
public:
  Partials(ThreadBuilder &t, TileTuple &tuple, int64_t count)
      : t(t), tuple(tuple), layout(tuple.layout), count(count), starts(tuple.parts.size()) {
    SmallVector<size_t> order(tuple.parts.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(order, [&](size_t x, size_t y) { return bytesOf(x) > bytesOf(y); });
    for (size_t part : order) {
      starts[part] = bytes;
      bytes += llvm::alignTo(layout.numElements() * count * bytesOf(part), 16);
    }
  }

  int64_t sizeInBytes() const { return bytes; }

  /// Writes this thread's registers at `position` among the partial results.
  void store(Value base, Value position) {
    eachAt(position, [&](Value offset, Value value) { t.storeShared(base, offset, value); });
  }

  /// The same, to another block, whose mbarrier counts the bytes. Possible where every part has words of its own.
  bool canSend() const {
    return llvm::all_of(
        tuple.parts, [&](const Registers &part) { return part[0].getType().getIntOrFloatBitWidth() >= 32; });
  }
  void send(Value base, Value barrier, Value position) {
    eachAt(position, [&](Value offset, Value value) {
      Type type = value.getType();
      if (type.isF64())
        value = arith::BitcastOp::create(t.b, t.loc, t.b.getI64Type(), value);
      ptx::StoreAsyncOp::create(t.b, t.loc, value, t.sharedAddress(base, offset), barrier, Value());
    });
  }
  /// How many bytes a block is sent.
  int64_t bytesSent() const {
    int64_t elements = layout.numElements(), result = 0;
    for (layout::Vec basis : layout.bases(layout::Dim::Block))
      elements /= basis ? 2 : 1;
    for (size_t part = 0; part < tuple.parts.size(); ++part)
      result += elements * count * bytesOf(part);
    return result;
  }

  /// Each register becomes the combination of its element's partial results, in order.
  void combineAll(Value base, Combine combine) {
    for (int64_t r = 0; r < layout.numRegisters(); ++r) {
      Value slot = t.mul(element(r), t.i32(count));
      SmallVector<Registers> columns(count);
      for (size_t part = 0; part < tuple.parts.size(); ++part) {
        int64_t size = bytesOf(part), width = std::min<int64_t>(count, 16 / size);
        Type type = tuple.parts[part][r].getType();
        for (int64_t i = 0; i < count; i += width) {
          Value offset = t.add(t.mul(slot, t.i32(size)), t.i32(starts[part] + i * size));
          for (auto [k, value] : llvm::enumerate(t.loadShared(base, offset, type, width)))
            columns[i + k].push_back(value);
        }
      }
      setColumn(tuple, r, combineTree(columns, combine));
    }
  }

private:
  int64_t bytesOf(size_t part) const {
    return std::max<int64_t>(1, tuple.parts[part][0].getType().getIntOrFloatBitWidth() / 8);
  }
  void eachAt(Value position, llvm::function_ref<void(Value offset, Value value)> write) {
    for (int64_t r = 0; r < layout.numRegisters(); ++r) {
      if (t.isCopy(layout, r))
        continue;
      Value slot = t.add(t.mul(element(r), t.i32(count)), position);
      for (size_t part = 0; part < tuple.parts.size(); ++part)
        write(t.add(t.mul(slot, t.i32(bytesOf(part))), t.i32(starts[part])), tuple.parts[part][r]);
    }
  }
  Value element(int64_t r) {
    SmallVector<int64_t> shape(layout.shape().begin(), layout.shape().end());
    return t.rowMajorIndex(layout, r, shape, {});
  }

  ThreadBuilder &t;
  TileTuple &tuple;
  const layout::Layout &layout;
  int64_t count, bytes = 0;
  SmallVector<int64_t> starts;
};

/// True where no bit of `bits` is set in the index; null: everywhere.
Value areClear(ThreadBuilder &t, Value index, layout::Vec bits) {
  if (!bits)
    return Value();
  Value masked = arith::AndIOp::create(t.b, t.loc, index, t.i32(int64_t(bits)));
  return arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, masked, t.i32(0));
}

/// Each warp writes its partial results beside those of the warps it meets; then every thread reads them all and combines them in order of the warps.
/// `before` is the layout before any warp bit was sliced away: its free bits are copies, which do not write.
LogicalResult acrossWarps(ThreadBuilder &t, TileTuple &tuple, ArrayRef<int64_t> masks,
                          const layout::Layout &before, Combine combine) {
  if (masks.empty())
    return success();
  FailureOr<SmallVector<int64_t>> positions = positionsOf(t, masks);
  if (failed(positions))
    return failure();
  Value owner = t.conjunction(areClear(t, t.laneId(), tuple.layout.freeBits(layout::Dim::Lane)),
                              areClear(t, t.warpId(), before.freeBits(layout::Dim::Warp)));
  Partials partials(t, tuple, int64_t(1) << masks.size());
  Value base = t.acquireShared(partials.sizeInBytes());
  t.ifTrue(owner, [&] { partials.store(base, t.linear(t.warpId(), *positions)); });
  t.publishShared();
  partials.combineAll(base, combine);
  return success();
}

/// Each block of the cluster writes its partial results to every block that it meets, itself among them; then each combines them in order of the
/// blocks, to the same bits. Lanes that hold copies write to different blocks.
LogicalResult acrossBlocks(ThreadBuilder &t, TileTuple &tuple, ArrayRef<int64_t> masks, Combine combine) {
  if (masks.empty())
    return success();
  FailureOr<SmallVector<int64_t>> positions = positionsOf(t, masks);
  if (failed(positions))
    return failure();
  int64_t met = 0;
  for (int64_t mask : masks)
    met |= mask;
  layout::Vec copies = tuple.layout.freeBits(layout::Dim::Lane), choosing = 0;
  SmallVector<int64_t> peerOfLane(layout::laneBits, 0), peers = {0};
  size_t chosen = 0;
  for (int bit = 0; bit < layout::laneBits && chosen < masks.size(); ++bit)
    if (copies >> bit & 1) {
      choosing |= layout::Vec(1) << bit;
      peerOfLane[bit] = masks[chosen++];
    }
  for (; chosen < masks.size(); ++chosen) // the blocks that are left for one lane, in turn
    for (size_t i = 0, n = peers.size(); i < n; ++i)
      peers.push_back(peers[i] | masks[chosen]);
  Value owner = t.conjunction(areClear(t, t.laneId(), copies & ~choosing),
                              areClear(t, t.warpId(), tuple.layout.freeBits(layout::Dim::Warp)));
  Partials partials(t, tuple, int64_t(1) << masks.size());
  bool sends = t.canExchange() && partials.canSend();
  ThreadBuilder::Exchange exchange;
  if (sends)
    exchange = t.beginExchange(partials.sizeInBytes(), partials.bytesSent());
  else
    exchange.data = t.acquireCluster(partials.sizeInBytes());
  t.ifTrue(owner, [&] {
    Value position = t.linear(t.clusterRank(), *positions);
    Value others = arith::AndIOp::create(t.b, t.loc, t.clusterRank(), t.i32((t.kernel.getCtas() - 1) & ~met));
    Value ofLane = t.linear(t.laneId(), peerOfLane);
    for (int64_t peer : peers) {
      Value target = arith::OrIOp::create(t.b, t.loc, others, t.i32(peer));
      if (ofLane)
        target = arith::OrIOp::create(t.b, t.loc, target, ofLane);
      if (sends)
        partials.send(t.inPeer(exchange.data, target), t.inPeer(exchange.barrier, target), position);
      else
        partials.store(t.inPeer(exchange.data, target), position);
    }
  });
  if (sends)
    t.awaitExchange(exchange);
  else
    t.clusterBarrier();
  partials.combineAll(exchange.data, combine);
  return success();
}

} // namespace

FailureOr<layout::Layout> orderedAlong(ThreadBuilder &t, const layout::Layout &from, int64_t axis) {
  const layout::Shape &shape = from.shape();
  // Row-major bit positions of the unit tile, axis by axis.
  SmallVector<int> first(shape.size()), count(shape.size());
  int bits = 0;
  for (int64_t a = shape.size() - 1; a >= 0; --a) {
    first[a] = bits;
    count[a] = layout::log2Exact(layout::powerOfTwoPart(shape[a]));
    bits += count[a];
  }
  int warpBits = layout::log2Exact(t.kernel.getWarps());
  layout::Layout::Bases bases;
  bases[size_t(layout::Dim::Block)] = from.bases(layout::Dim::Block);
  layout::Vec ofBlocks = 0;
  for (layout::Vec base : from.bases(layout::Dim::Block)) {
    if (base & (base - 1) || base < ofBlocks) // one bit each, rising
      return t.failAcrossBlocks("an operation on elements in their order");
    ofBlocks |= base;
  }
  int ownBits = count[axis];
  while (ownBits > 0 && ofBlocks >> (first[axis] + ownBits - 1) & 1)
    --ownBits;
  for (int i = 0; i < ownBits; ++i)
    if (ofBlocks >> (first[axis] + i) & 1)
      return t.failAcrossBlocks("an operation on elements in their order");
  auto &registers = bases[size_t(layout::Dim::Register)], &lanes = bases[size_t(layout::Dim::Lane)],
       &warpBases = bases[size_t(layout::Dim::Warp)];
  int inThread = std::max(0, ownBits - layout::laneBits - warpBits);
  std::vector<layout::Vec> toThreads;
  for (int i = 0; i < ownBits; ++i)
    (i < inThread ? registers : toThreads).push_back(layout::Vec(1) << (first[axis] + i));
  for (int64_t a = shape.size() - 1; a >= 0; --a)
    for (int i = 0; a != axis && i < count[a]; ++i)
      if (!(ofBlocks >> (first[a] + i) & 1))
        toThreads.push_back(layout::Vec(1) << (first[a] + i));
  for (layout::Vec base : toThreads)
    (int(lanes.size()) < layout::laneBits ? lanes
     : int(warpBases.size()) < warpBits   ? warpBases
                                          : registers)
        .push_back(base);
  lanes.resize(layout::laneBits, 0);
  warpBases.resize(warpBits, 0);
  return *layout::Layout::make(shape, bases);
}

FailureOr<TileTuple> reduceTuple(ThreadBuilder &t, TileTuple tuple, ArrayRef<int64_t> axes, Combine combine,
                                 bool commutes) {
  // All axes' registers, then all their lanes, then all their warps at once: one barrier however many axes.
  layout::Layout before = tuple.layout;
  SmallVector<int64_t> laneMasks, warpMasks, blockMasks;
  for (int64_t axis : axes) {
    layout::Expected<layout::ReductionPlan> plan = layout::planReduction(tuple.layout, int(axis));
    if (!plan)
      return emitError(t.loc, "internal error: ") << plan.error();
    TileTuple result = withRegisters(tuple, plan->result);
    for (auto [r, sources] : llvm::enumerate(plan->registers)) {
      SmallVector<Registers> columns;
      for (int64_t source : sources)
        columns.push_back(column(tuple, source));
      setColumn(result, r, combineTree(columns, combine));
    }
    laneMasks.append(plan->laneXors.begin(), plan->laneXors.end());
    warpMasks.append(plan->warpXors.begin(), plan->warpXors.end());
    blockMasks.append(plan->blockXors.begin(), plan->blockXors.end());
    tuple = std::move(result);
  }
  acrossLanes(t, tuple, laneMasks, combine, commutes);
  if (failed(acrossWarps(t, tuple, warpMasks, before, combine)) ||
      failed(acrossBlocks(t, tuple, blockMasks, combine)))
    return failure();
  return tuple;
}

LogicalResult setFromTile(ThreadBuilder &t, Value result, ArrayRef<Value> registers,
                          const layout::Layout &layout) {
  if (const layout::Layout *to = t.layoutOf(result.getType())) {
    FailureOr<Registers> moved = t.convert(registers, layout, *to);
    if (failed(moved))
      return failure();
    t.set(result, std::move(*moved));
    return success();
  }
  // A scalar. After a reduction over all axes every thread holds it.
  t.set(result, {registers[0]});
  return success();
}

} // namespace tilegym::nvidia
