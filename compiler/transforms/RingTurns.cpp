// SPDX-License-Identifier: MIT
// The arithmetic of turns: slots go round, and the parity changes with each round.
#include "compiler/transforms/RingTurns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilegym::transforms {

Value number(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
}

Turns firstTurns(OpBuilder &b, Location loc, size_t rings, int64_t parity) {
  Turns turns;
  for (size_t i = 0; i < rings; ++i)
    turns.push_back({number(b, loc, 0), number(b, loc, parity)});
  return turns;
}

Turn after(OpBuilder &b, Location loc, Turn turn, int64_t slots) {
  Value next = arith::AddIOp::create(b, loc, turn.slot, number(b, loc, 1));
  Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next, number(b, loc, slots));
  Value other = arith::XOrIOp::create(b, loc, turn.parity, number(b, loc, 1));
  return {arith::SelectOp::create(b, loc, wraps, number(b, loc, 0), next),
          arith::SelectOp::create(b, loc, wraps, other, turn.parity)};
}

Turn afterMany(OpBuilder &b, Location loc, Turn turn, int64_t slots, Value count) {
  Value sum = arith::AddIOp::create(b, loc, turn.slot, count);
  Value rounds = arith::DivUIOp::create(b, loc, sum, number(b, loc, slots));
  Value whole = arith::MulIOp::create(b, loc, rounds, number(b, loc, slots));
  Value odd = arith::AndIOp::create(b, loc, rounds, number(b, loc, 1));
  return {arith::SubIOp::create(b, loc, sum, whole), arith::XOrIOp::create(b, loc, turn.parity, odd)};
}

Value slotBefore(OpBuilder &b, Location loc, Turn turn, int64_t slots) {
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, turn.slot, number(b, loc, 0));
  return arith::SelectOp::create(b, loc, isFirst, number(b, loc, slots - 1),
                                 arith::SubIOp::create(b, loc, turn.slot, number(b, loc, 1)));
}

SmallVector<Value> flat(const Turns &turns, ArrayRef<size_t> within) {
  SmallVector<Value> values;
  for (size_t ring : within)
    llvm::append_values(values, turns[ring].slot, turns[ring].parity);
  return values;
}

void unflat(ValueRange values, ArrayRef<size_t> within, Turns &turns) {
  for (auto [i, ring] : llvm::enumerate(within))
    turns[ring] = {values[2 * i], values[2 * i + 1]};
}

} // namespace tilegym::transforms
