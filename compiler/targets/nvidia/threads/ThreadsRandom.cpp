// SPDX-License-Identifier: MIT
// Philox4x32-10 (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): integer arithmetic of each thread on its own counters.
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

LogicalResult lowerPhilox(ThreadBuilder &t, Operation *op) {
  auto philox = cast<tile::PhiloxOp>(op);
  Type element = t.elementType(philox.getType());
  int64_t bits = element.getIntOrFloatBitWidth(), fields = 128 / bits;
  Philox generator(t, t.scalar(philox.getSeed()));
  Registers result;
  for (Value c : t.get(philox.getCounter())) {
    Block block = generator.run(generator.shiftRight(c, llvm::Log2_64(fields)));
    Value field = generator.truncate(arith::AndIOp::create(t.b, t.loc, c, t.i64(fields - 1)));
    int64_t perWord = 32 / bits;
    Value which = arith::ShRUIOp::create(t.b, t.loc, field, t.i32(llvm::Log2_64(perWord)));
    Value word = block[0];
    for (int64_t w = 1; w < 4; ++w)
      word = arith::SelectOp::create(
          t.b, t.loc, arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, which, t.i32(w)), block[w],
          word);
    if (perWord > 1) {
      Value position = arith::AndIOp::create(t.b, t.loc, field, t.i32(perWord - 1));
      word = arith::ShRUIOp::create(t.b, t.loc, word, t.mul(position, t.i32(bits)));
      word = arith::TruncIOp::create(t.b, t.loc, element, word);
    }
    result.push_back(word);
  }
  t.set(philox, std::move(result));
  return success();
}

} // namespace

void addRandomHandlers(HandlerTable &table) { table["tile.philox"] = lowerPhilox; }

} // namespace tilegym::nvidia
