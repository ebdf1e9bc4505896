// SPDX-License-Identifier: MIT
// Philox4x32-10 (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): integer arithmetic of each
// thread on its own counters; where neighbours share calls that no thread has to itself, on all of the block's by way of shared memory.
#include "compiler/ir/VectorAccess.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

using Block = std::array<Value, 4>;

struct Philox {
  ThreadBuilder &t;
  std::array<std::array<Value, 2>, 10> keys;

  Philox(ThreadBuilder &t, Value seed) : t(t) {
    Value low = truncate(seed), high = truncate(shiftRight(seed, 32));
    for (int round = 0; round < 10; ++round)
      keys[round] = {t.add(low, t.i32(int32_t(0x9E3779B9u * uint32_t(round)))),
                     t.add(high, t.i32(int32_t(0xBB67AE85u * uint32_t(round))))};
  }

  Value truncate(Value wide) { return arith::TruncIOp::create(t.b, t.loc, t.b.getI32Type(), wide); }
  Value shiftRight(Value wide, int64_t by) { return arith::ShRUIOp::create(t.b, t.loc, wide, t.i64(by)); }
  Value exclusiveOr(Value a, Value b) { return arith::XOrIOp::create(t.b, t.loc, a, b); }

  Block run(Value counter) {
    Block c = {truncate(counter), truncate(shiftRight(counter, 32)), t.i32(0), t.i32(0)};
    for (const auto &key : keys) {
      Value even = product(c[0], 0xD2511F53), odd = product(c[2], 0xCD9E8D57);
      c = {exclusiveOr(exclusiveOr(truncate(shiftRight(odd, 32)), c[1]), key[0]), truncate(odd),
           exclusiveOr(exclusiveOr(truncate(shiftRight(even, 32)), c[3]), key[1]), truncate(even)};
    }
    return c;
  }

  Value product(Value word, uint32_t factor) {
    return t.mul(arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), word), t.i64(factor));
  }
};

/// The fields of one call that a thread needs: `width` of them from a multiple of `width` on.
struct Fields {
  ThreadBuilder &t;
  Type element;
  Block block;
  Value first; ///< number of the first, i32; needed only where there are more fields than `width`
  int64_t width;

  Value operator()(int64_t i) {
    int64_t bits = element.getIntOrFloatBitWidth(), perWord = 32 / bits;
    // Words that may hold it: every `step`-th, as the first field's word is a multiple of `step`.
    int64_t step = std::max<int64_t>(1, width / perWord);
    Value word = block[i / perWord];
    for (int64_t w = step; w < 4; w += step)
      word = arith::SelectOp::create(t.b, t.loc,
                                     arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq,
                                                           shiftRight(llvm::Log2_64(perWord)), t.i32(w)),
                                     block[w + i / perWord], word);
    if (perWord == 1)
      return word;
    Value shift = t.i32(i % perWord * bits);
    if (width < perWord) {
      Value within = arith::AndIOp::create(t.b, t.loc, first, t.i32(perWord - 1));
      shift = t.mul(t.add(within, t.i32(i)), t.i32(bits));
    }
    return arith::TruncIOp::create(t.b, t.loc, element, arith::ShRUIOp::create(t.b, t.loc, word, shift));
  }

  Value shiftRight(int64_t by) { return arith::ShRUIOp::create(t.b, t.loc, first, t.i32(by)); }
};

/// Numbers that are consecutive along the last axis, from anywhere on: the threads that hold a row make its calls, each a part of them, and all take
/// their fields from shared memory.
class SharedCalls {
public:
  SharedCalls(ThreadBuilder &t, const layout::Layout &layout, int64_t fields)
      : t(t), layout(layout), fields(fields), last(layout.rank() - 1) {
    rowBytes = (layout.shape()[last] / fields + 1) * callBytes;
    for (int64_t axis = 0; axis < last; ++axis)
      rows *= layout.shape()[axis];
    isPossible = layout.bases(layout::Dim::Block).empty() && layout.shape()[last] >= fields &&
                 addMasks(layout::Dim::Lane, laneMasks) && addMasks(layout::Dim::Warp, warpMasks);
    for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
      layout::Coords row = layout.apply({reg, 0, 0, 0});
      row.pop_back();
      firstOf.try_emplace(row, reg);
    }
  }

  /// Calls that a thread makes; nothing where the layout is too odd.
  std::optional<int64_t> callsAThread() const {
    return isPossible ? std::optional(int64_t(firstOf.size()) * turns()) : std::nullopt;
  }

  Registers fieldsOf(Philox &generator, const Registers &counters, Type element) {
    Value base = t.acquireShared(rows * rowBytes);
    for (auto &[row, reg] : firstOf)
      makeRow(generator, base, counters[reg], reg);
    t.publishShared();
    Registers result;
    for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
      layout::Coords row = layout.apply({reg, 0, 0, 0});
      row.pop_back();
      ThreadBuilder::SplitCoordinate at = t.splitCoordinate(layout, last, reg);
      Value place = at.thread ? t.add(starts[row], at.thread) : starts[row];
      int64_t bytes = element.getIntOrFloatBitWidth() / 8;
      Value offset = t.add(t.mul(place, t.i32(bytes)), t.i32(at.fixed * bytes));
      result.push_back(t.loadShared(base, offset, element, 1).front());
    }
    return result;
  }

private:
  static constexpr int64_t callBytes = 16;

  /// By bit of the index, its part of a thread's number among those of its row. False where a bit is not of the row alone or of the place in it alone.
  bool addMasks(layout::Dim dim, SmallVector<int64_t> &masks) {
    for (layout::Vec basis : layout.bases(dim)) {
      layout::Coords coords = layout.unitCoords(basis);
      bool isAlong = coords[last] != 0;
      coords.pop_back();
      bool isAcross = llvm::any_of(coords, [](int64_t at) { return at != 0; });
      if (isAlong == isAcross)
        return false;
      masks.push_back(isAlong ? team : 0);
      team *= isAlong ? 2 : 1;
    }
    return true;
  }

  int64_t turns() const { return llvm::divideCeil(rowBytes / callBytes, team); }

  Value teamRank() {
    Value lane = t.linear(t.laneId(), laneMasks), warp = t.linear(t.warpId(), warpMasks);
    return lane && warp ? t.add(lane, warp) : lane ? lane : warp ? warp : t.i32(0);
  }

  /// Stores the row's calls, and notes where in shared memory its element 0 has its field, in fields.
  void makeRow(Philox &generator, Value base, Value counter, int64_t reg) {
    Value at = t.coordinate(layout, last, reg);
    Value first =
        arith::SubIOp::create(t.b, t.loc, counter, arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), at));
    Value call = generator.shiftRight(first, llvm::Log2_64(fields));
    Value row;
    for (int64_t axis = 0; axis < last; ++axis) {
      Value coordinate = t.coordinate(layout, axis, reg);
      row = row ? t.add(t.mul(row, t.i32(layout.shape()[axis])), coordinate) : coordinate;
    }
    Value rowStart = row ? t.mul(row, t.i32(rowBytes)) : t.i32(0), rank = teamRank();
    for (int64_t turn = 0; turn < turns(); ++turn) {
      Value number = turn ? t.add(rank, t.i32(turn * team)) : rank, isMine;
      if ((turn + 1) * team > rowBytes / callBytes)
        isMine =
            arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::slt, number, t.i32(rowBytes / callBytes));
      t.ifTrue(isMine, [&] {
        Value wide = arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), number);
        Block block = generator.run(t.add(call, wide));
        t.storeShared(base, t.add(rowStart, t.mul(number, t.i32(callBytes))), block);
      });
    }
    Value skipped = generator.truncate(arith::AndIOp::create(t.b, t.loc, first, t.i64(fields - 1)));
    layout::Coords key = layout.apply({reg, 0, 0, 0});
    key.pop_back();
    starts[key] = row ? t.add(t.mul(row, t.i32(rowBytes / callBytes * fields)), skipped) : skipped;
  }

  ThreadBuilder &t;
  const layout::Layout &layout;
  int64_t fields;
  int last;
  int64_t rowBytes, rows = 1, team = 1;
  bool isPossible = false;
  SmallVector<int64_t> laneMasks, warpMasks;
  std::map<layout::Coords, int64_t> firstOf; ///< by a row in thread 0, its first register
  std::map<layout::Coords, Value> starts;
};

// One call serves the neighbours that a thread holds, where it is known that their counters are consecutive and share a call. Where a thread has too
// few of them, rows share their calls if that saves half or more.
LogicalResult lowerPhilox(ThreadBuilder &t, Operation *op) {
  auto philox = cast<tile::PhiloxOp>(op);
  Type element = t.elementType(philox.getType());
  int64_t fields = 128 / element.getIntOrFloatBitWidth();
  Philox generator(t, t.scalar(philox.getSeed()));
  const Registers &counters = t.get(philox.getCounter());
  layout::Vectors neighbours{1, {}};
  if (const layout::Layout *layout = t.layoutOf(philox.getCounter().getType()); layout && layout->rank() > 0)
    neighbours =
        layout->vectors(layout->rank() - 1, std::min(fields, tile::consecutiveRun(philox.getCounter())));
  else
    for (size_t i = 0; i < counters.size(); ++i)
      neighbours.groups.push_back({int64_t(i)});
  if (const layout::Layout *layout = t.layoutOf(philox.getCounter().getType());
      layout && neighbours.width < fields && tile::isConsecutive(philox.getCounter())) {
    SharedCalls shared(t, *layout, fields);
    std::optional<int64_t> calls = shared.callsAThread();
    if (calls && *calls * 2 <= int64_t(neighbours.groups.size())) {
      t.set(philox, shared.fieldsOf(generator, counters, element));
      return success();
    }
  }
  Registers result(counters.size());
  for (const std::vector<int64_t> &group : neighbours.groups) {
    Value c = counters[group.front()];
    Block block = generator.run(generator.shiftRight(c, llvm::Log2_64(fields)));
    Value first = generator.truncate(arith::AndIOp::create(t.b, t.loc, c, t.i64(fields - 1)));
    Fields pick{t, element, block, first, neighbours.width};
    for (int64_t i = 0; i < neighbours.width; ++i)
      result[group[i]] = pick(i);
  }
  t.set(philox, std::move(result));
  return success();
}

} // namespace

void addRandomHandlers(HandlerTable &table) { table["tile.philox"] = lowerPhilox; }

} // namespace tilegym::nvidia
