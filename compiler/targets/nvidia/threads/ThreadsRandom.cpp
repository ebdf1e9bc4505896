// SPDX-License-Identifier: MIT
// Philox4x32-10 (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): integer arithmetic of each
// thread on its own counters.
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

// One call serves the neighbours that a thread holds, where it is known that their counters are consecutive and share a call.
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
