// SPDX-License-Identifier: MIT
// Inclusive scans: each thread over its stretch, then lanes by doubling steps, then warps through shared memory, then blocks of a cluster. A reverse scan is the same walk
// from the other end: never a total minus a prefix, which would lose small suffixes.
#include "compiler/ir/Combine.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

/// Scans one axis of a tuple that is in the layout of orderedAlong.
class Scanner {
public:
  Scanner(ThreadBuilder &t, TileTuple &tuple, int64_t axis, bool reverse, Combine combine)
      : t(t), tuple(tuple), axis(axis), reverse(reverse), combine(combine), layout(tuple.layout) {}

  LogicalResult run() {
    for (auto [i, base] : llvm::enumerate(layout.bases(layout::Dim::Lane)))
      if (layout.unitCoords(base)[axis])
        laneMask |= int64_t(1) << i;
    for (auto [i, base] : llvm::enumerate(layout.bases(layout::Dim::Warp)))
      if (layout.unitCoords(base)[axis])
        warpMask |= int64_t(1) << i;
    for (auto [i, base] : llvm::enumerate(layout.bases(layout::Dim::Block)))
      if (layout.unitCoords(base)[axis])
        blockMask |= int64_t(1) << i;
    // Registers by what else they index, each list along the axis; a list has a part for each repetition of the unit tile.
    std::map<layout::Coords, std::vector<std::pair<int64_t, int64_t>>> lines;
    for (int64_t r = 0; r < layout.numRegisters(); ++r) {
      layout::Coords coords = layout.apply({r, 0, 0, 0});
      int64_t position = coords[axis];
      coords[axis] = 0;
      lines[coords].emplace_back(position, r);
    }
    for (auto &[coords, line] : lines) {
      llvm::sort(line);
      if (reverse)
        std::reverse(line.begin(), line.end());
      if (failed(scanLine(line)))
        return failure();
    }
    return success();
  }

private:
  Registers column(int64_t r) {
    Registers result;
    for (const Registers &part : tuple.parts)
      result.push_back(part[r]);
    return result;
  }
  void setColumn(int64_t r, const Registers &values) {
    for (auto [part, value] : llvm::zip(tuple.parts, values))
      part[r] = value;
  }
  Registers select(Value condition, const Registers &yes, const Registers &no) {
    Registers result;
    for (auto [y, n] : llvm::zip(yes, no))
      result.push_back(arith::SelectOp::create(t.b, t.loc, condition, y, n));
    return result;
  }
  /// Where this thread stands along the axis among the lanes (warps) that share a line, counted in the direction of the scan.
  Value rank(Value index, int64_t mask) {
    int shift = llvm::countr_zero(uint64_t(mask));
    Value position = arith::ShRUIOp::create(t.b, t.loc, arith::AndIOp::create(t.b, t.loc, index, t.i32(mask)),
                                            t.i32(shift));
    return reverse ? Value(arith::SubIOp::create(t.b, t.loc, t.i32(mask >> shift), position)) : position;
  }
  Value atLeast(Value x, int64_t n) {
    return arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::uge, x, t.i32(n));
  }

  LogicalResult scanLine(ArrayRef<std::pair<int64_t, int64_t>> line) {
    int64_t unit = layout.unit()[axis];
    std::optional<Registers> carry; // of the repetitions before
    for (size_t begin = 0; begin < line.size();) {
      size_t end = begin;
      while (end < line.size() && line[end].first / unit == line[begin].first / unit)
        ++end;
      if (failed(scanStretch(line.slice(begin, end - begin), carry, end < line.size())))
        return failure();
      begin = end;
    }
    return success();
  }

  LogicalResult scanStretch(ArrayRef<std::pair<int64_t, int64_t>> stretch, std::optional<Registers> &carry,
                            bool more) {
    for (size_t i = 1; i < stretch.size(); ++i)
      setColumn(stretch[i].second, combine(column(stretch[i - 1].second), column(stretch[i].second)));
    Registers total = column(stretch.back().second); // of this thread, then of the lanes up to it
    std::optional<Registers> before;                 // what comes before this thread's stretch
    Value hasBefore;
    if (laneMask)
      scanLanes(total, before, hasBefore);
    if (warpMask && failed(scanWarps(total, before, hasBefore)))
      return failure();
    if (carry && !blockMask) {
      Registers joined = before ? select(hasBefore, combine(*carry, *before), *carry) : *carry;
      before = joined;
      hasBefore = Value();
    }
    if (before)
      for (const auto &[position, r] : stretch) {
        Registers mine = column(r), joined = combine(*before, mine);
        setColumn(r, hasBefore ? select(hasBefore, joined, mine) : joined);
      }
    if (blockMask)
      scanBlocks(stretch, carry, more);
    else if (more)
      carry = lineTotal(column(stretch.back().second));
    return success();
  }

  void scanLanes(Registers &total, std::optional<Registers> &before, Value &hasBefore) {
    int shift = llvm::countr_zero(uint64_t(laneMask));
    int64_t lanes = (laneMask >> shift) + 1;
    Value position = rank(t.laneId(), laneMask);
    int kind = int(reverse ? ptx::ShuffleKind::Down : ptx::ShuffleKind::Up);
    auto fromLanesBefore = [&](const Registers &values, int64_t distance) {
      Registers result;
      for (Value value : values)
        result.push_back(t.shuffle(value, kind, t.i32(distance << shift)));
      return result;
    };
    for (int64_t step = 1; step < lanes; step *= 2) {
      Registers other = fromLanesBefore(total, step);
      total = select(atLeast(position, step), combine(other, total), total);
    }
    before = fromLanesBefore(total, 1);
    hasBefore = atLeast(position, 1);
  }

  /// The last lane of each warp writes the warp's total; each thread combines those of the warps before its own.
  LogicalResult scanWarps(const Registers &total, std::optional<Registers> &before, Value &hasBefore) {
    int shift = llvm::countr_zero(uint64_t(warpMask));
    int64_t warps = (warpMask >> shift) + 1;
    Value position = rank(t.warpId(), warpMask);
    // Lines that differ in the other lanes and warps have rows of their own.
    Value otherLane = arith::AndIOp::create(t.b, t.loc, t.laneId(), t.i32(31 & ~laneMask));
    Value otherWarp =
        arith::AndIOp::create(t.b, t.loc, t.warpId(), t.i32((t.kernel.getWarps() - 1) & ~warpMask));
    Value row = t.add(t.mul(otherWarp, t.i32(32)), otherLane);
    int64_t rows = t.kernel.getWarps() * 32;
    SmallVector<int64_t> start;
    int64_t bytes = 0;
    for (Value value : total) {
      start.push_back(bytes);
      bytes += rows * warps * 8;
    }
    Value base = t.acquireShared(bytes);
    auto offset = [&](size_t part, Value warp) {
      return t.add(t.mul(t.add(t.mul(row, t.i32(warps)), warp), t.i32(8)), t.i32(start[part]));
    };
    Value last = laneMask
                     ? arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, rank(t.laneId(), laneMask),
                                             t.i32(laneMask >> llvm::countr_zero(uint64_t(laneMask))))
                     : Value();
    t.ifTrue(last, [&] {
      for (auto [part, value] : llvm::enumerate(total))
        t.storeShared(base, offset(part, position), value);
    });
    t.publishShared();
    Registers sum;
    for (int64_t w = 0; w + 1 < warps; ++w) {
      Registers value;
      for (auto [part, mine] : llvm::enumerate(total))
        value.push_back(t.loadShared(base, offset(part, t.i32(w)), mine.getType(), 1).front());
      sum = sum.empty() ? value : select(atLeast(position, w + 1), combine(sum, value), sum);
    }
    Value inLaterWarp = atLeast(position, 1);
    if (before) {
      Registers joined = select(hasBefore, combine(sum, *before), sum);
      before = select(inLaterWarp, joined, *before);
      hasBefore = arith::OrIOp::create(t.b, t.loc, hasBefore, inLaterWarp);
    } else {
      before = sum;
      hasBefore = inLaterWarp;
    }
    return success();
  }

  /// Every block writes its total to all that share the line; each adds the carry and the totals before its own to its elements.
  void scanBlocks(ArrayRef<std::pair<int64_t, int64_t>> stretch, std::optional<Registers> &carry, bool more) {
    Registers mine = lineTotal(column(stretch.back().second));
    int shift = llvm::countr_zero(uint64_t(blockMask));
    int64_t blocks = (blockMask >> shift) + 1;
    Value position = rank(t.clusterRank(), blockMask);
    Value row = t.add(t.mul(t.warpId(), t.i32(32)), t.laneId());
    int64_t rows = t.kernel.getWarps() * 32;
    Value base = t.acquireCluster(rows * blocks * 8 * mine.size());
    auto offset = [&](size_t part, Value block) {
      return t.add(t.mul(t.add(t.mul(row, t.i32(blocks)), block), t.i32(8)), t.i32(rows * blocks * 8 * part));
    };
    int64_t others = (t.kernel.getCtas() - 1) & ~blockMask;
    Value sameLine = arith::AndIOp::create(t.b, t.loc, t.clusterRank(), t.i32(others));
    for (int64_t block = 0; block < blocks; ++block) {
      Value peer = t.inPeer(base, arith::OrIOp::create(t.b, t.loc, sameLine, t.i32(block << shift)));
      for (auto [part, value] : llvm::enumerate(mine))
        t.storeShared(peer, offset(part, position), value);
    }
    t.clusterBarrier();
    Registers before, all;
    for (int64_t block = 0; block < blocks; ++block) {
      Registers value;
      for (auto [part, held] : llvm::enumerate(mine))
        value.push_back(t.loadShared(base, offset(part, t.i32(block)), held.getType(), 1).front());
      if (block + 1 < blocks)
        before = block ? select(atLeast(position, block + 1), combine(before, value), before) : value;
      all = block ? combine(all, value) : value;
    }
    Value hasBefore = atLeast(position, 1);
    if (carry) {
      before = select(hasBefore, combine(*carry, before), *carry);
      hasBefore = Value();
    }
    for (const auto &[at, r] : stretch) {
      Registers own = column(r), joined = combine(before, own);
      setColumn(r, hasBefore ? select(hasBefore, joined, own) : joined);
    }
    if (more)
      carry = carry ? combine(*carry, all) : all;
  }

  /// What the last thread along the line has, in all of them.
  Registers lineTotal(const Registers &last) {
    Registers result = last;
    if (laneMask) {
      int64_t mask = reverse ? 0 : laneMask;
      Value source = arith::OrIOp::create(
          t.b, t.loc, arith::AndIOp::create(t.b, t.loc, t.laneId(), t.i32(31 & ~laneMask)), t.i32(mask));
      for (Value &value : result)
        value = t.shuffle(value, int(ptx::ShuffleKind::Index), source);
    }
    if (!warpMask)
      return result;
    Value otherWarp =
        arith::AndIOp::create(t.b, t.loc, t.warpId(), t.i32((t.kernel.getWarps() - 1) & ~warpMask));
    Value row = t.add(t.mul(otherWarp, t.i32(32)), t.laneId());
    int64_t rows = t.kernel.getWarps() * 32;
    Value base = t.acquireShared(rows * 8 * result.size());
    auto offset = [&](size_t part) { return t.add(t.mul(row, t.i32(8)), t.i32(rows * 8 * part)); };
    int64_t lastRank = warpMask >> llvm::countr_zero(uint64_t(warpMask));
    Value isLast = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, rank(t.warpId(), warpMask),
                                         t.i32(lastRank));
    t.ifTrue(isLast, [&] {
      for (auto [part, value] : llvm::enumerate(result))
        t.storeShared(base, offset(part), value);
    });
    t.publishShared();
    for (auto [part, value] : llvm::enumerate(result))
      value = t.loadShared(base, offset(part), value.getType(), 1).front();
    return result;
  }

  ThreadBuilder &t;
  TileTuple &tuple;
  int64_t axis;
  bool reverse;
  Combine combine;
  layout::Layout layout;
  int64_t laneMask = 0, warpMask = 0,
          blockMask = 0; ///< thread bits along the axis; contiguous by construction
};

LogicalResult scanTuple(ThreadBuilder &t, Operation *op, ValueRange values, int64_t axis, bool reverse,
                        Combine combine) {
  FailureOr<layout::Layout> ordered = orderedAlong(t, *t.layoutOf(values[0].getType()), axis);
  if (failed(ordered))
    return failure();
  TileTuple tuple{*ordered, {}};
  for (Value value : values) {
    FailureOr<Registers> moved = t.convert(t.get(value), *t.layoutOf(value.getType()), *ordered);
    if (failed(moved))
      return failure();
    tuple.parts.push_back(std::move(*moved));
  }
  if (failed(Scanner(t, tuple, axis, reverse, combine).run()))
    return failure();
  for (auto [result, part] : llvm::zip(op->getResults(), tuple.parts))
    if (failed(setFromTile(t, result, part, tuple.layout)))
      return failure();
  return success();
}

LogicalResult lowerScan(ThreadBuilder &t, Operation *op) {
  auto scan = cast<tile::ScanOp>(op);
  return scanTuple(t, op, scan.getValue(), scan.getAxis(), scan.getReverse(),
                   [&](ValueRange a, ValueRange x) -> Registers {
                     return {tile::combine(t.b, t.loc, scan.getKind(), a[0], x[0])};
                   });
}

LogicalResult lowerScanWith(ThreadBuilder &t, Operation *op) {
  auto scan = cast<tile::ScanWithOp>(op);
  return scanTuple(t, op, scan.getValues(), scan.getAxis(), scan.getReverse(),
                   [&](ValueRange a, ValueRange x) -> Registers {
                     SmallVector<Value> arguments(a);
                     arguments.append(x.begin(), x.end());
                     return inlineScalarRegion(t, scan.getCombiner(), arguments);
                   });
}

} // namespace

void addScanHandlers(HandlerTable &table) {
  table["tile.scan"] = lowerScan;
  table["tile.scan_with"] = lowerScanWith;
}

} // namespace tilegym::nvidia
