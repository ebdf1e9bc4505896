// SPDX-License-Identifier: MIT
// Layout conversions, from the layout library's plans.
#include "compiler/layout/Convert.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

/// registers[base ^ the masks of the set lane bits], by a tree of selects over the lane bits that matter.
Value selectByLane(ThreadBuilder &t, ArrayRef<Value> registers, const layout::LaneValue &which) {
  SmallVector<int> bits;
  for (int i = 0; i < layout::laneBits; ++i)
    if (which.masks[i])
      bits.push_back(i);
  std::function<Value(size_t, int64_t)> choose = [&](size_t n, int64_t index) -> Value {
    if (n == bits.size())
      return registers[index];
    Value unset = choose(n + 1, index), set = choose(n + 1, index ^ which.masks[bits[n]]);
    Value bit = arith::AndIOp::create(t.b, t.loc, t.laneId(), t.i32(int64_t(1) << bits[n]));
    Value isSet = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ne, bit, t.i32(0));
    return arith::SelectOp::create(t.b, t.loc, isSet, set, unset);
  };
  return choose(0, which.base);
}

Registers byShuffles(ThreadBuilder &t, ArrayRef<Value> registers, const layout::ConvertPlan &plan,
                     int64_t count) {
  // A step fills, in each lane, the register that the lane's number says; a register may be filled by several steps, each in other lanes.
  Registers result(count);
  for (const layout::ShuffleStep &step : plan.shuffles) {
    Value sent = selectByLane(t, registers, step.send);
    Value got;
    if (std::optional<int64_t> mask = step.laneXor()) {
      got = *mask ? t.shuffleXor(sent, *mask) : sent;
    } else {
      Value source = t.linear(t.laneId(), step.source.masks);
      source = source ? Value(arith::XOrIOp::create(t.b, t.loc, source, t.i32(step.source.base)))
                      : t.i32(step.source.base);
      got = t.shuffle(sent, int(ptx::ShuffleKind::Index), source);
    }
    if (step.receive.isUniform()) {
      result[step.receive.base] = got;
      continue;
    }
    Value target = t.linear(t.laneId(), step.receive.masks);
    target = arith::XOrIOp::create(t.b, t.loc, target, t.i32(step.receive.base));
    llvm::SmallDenseSet<int64_t> targets;
    for (int64_t lane = 0; lane < 32; ++lane)
      targets.insert(step.receive.at(lane));
    for (int64_t r = 0; r < count; ++r) {
      if (!targets.contains(r))
        continue;
      Value here = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, target, t.i32(r));
      result[r] = result[r] ? Value(arith::SelectOp::create(t.b, t.loc, here, got, result[r])) : got;
    }
  }
  return result;
}

Value threadOffset(ThreadBuilder &t, const layout::SharedSide &side) {
  Value fromLane = t.linear(t.laneId(), side.laneMasks), fromWarp = t.linear(t.warpId(), side.warpMasks);
  return !fromLane   ? fromWarp
         : !fromWarp ? fromLane
                     : Value(arith::XOrIOp::create(t.b, t.loc, fromLane, fromWarp));
}

Value accessOffset(ThreadBuilder &t, Value thread, const layout::SharedAccess &access, int64_t bytes) {
  if (!thread)
    return t.i32(access.offset * bytes);
  Value offset =
      access.offset ? Value(arith::XOrIOp::create(t.b, t.loc, thread, t.i32(access.offset))) : thread;
  return t.mul(offset, t.i32(bytes));
}

Registers byShared(ThreadBuilder &t, ArrayRef<Value> registers, const layout::SharedPlan &plan,
                   int64_t count) {
  Type element = registers[0].getType();
  int64_t bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  Registers result(count);
  Value storeThread = threadOffset(t, plan.store), loadThread = threadOffset(t, plan.load);
  Value owner;
  for (auto [index, copies] : {std::pair(t.laneId(), plan.copyLaneBits), {t.warpId(), plan.copyWarpBits}})
    if (copies) {
      Value bits = arith::AndIOp::create(t.b, t.loc, index, t.i32(int64_t(copies)));
      owner =
          t.conjunction(owner, arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, bits, t.i32(0)));
    }
  for (size_t pass = 0; pass < plan.store.passes.size(); ++pass) {
    Value base = t.acquireShared(plan.numElements * bytes);
    t.ifTrue(owner, [&] {
      for (const layout::SharedAccess &access : plan.store.passes[pass]) {
        SmallVector<Value> elements;
        for (int64_t r : access.registers)
          elements.push_back(registers[r]);
        t.storeShared(base, accessOffset(t, storeThread, access, bytes), elements);
      }
    });
    t.publishShared();
    for (const layout::SharedAccess &access : plan.load.passes[pass]) {
      Registers loaded =
          t.loadShared(base, accessOffset(t, loadThread, access, bytes), element, access.registers.size());
      for (auto [r, value] : llvm::zip(access.registers, loaded))
        result[r] = value;
    }
  }
  return result;
}

LogicalResult lowerConvertLayout(ThreadBuilder &t, Operation *op) {
  auto convert = cast<tile::ConvertLayoutOp>(op);
  FailureOr<Registers> result = t.convert(
      t.get(convert.getValue()), *t.layoutOf(convert.getValue().getType()), *t.layoutOf(convert.getType()));
  if (failed(result))
    return failure();
  t.set(convert, std::move(*result));
  return success();
}

} // namespace

FailureOr<Registers> ThreadBuilder::convert(ArrayRef<Value> registers, const layout::Layout &from,
                                            const layout::Layout &to) {
  int64_t bytes = std::max<int64_t>(1, registers[0].getType().getIntOrFloatBitWidth() / 8);
  if (from.bases(layout::Dim::Block) != to.bases(layout::Dim::Block)) {
    if (!layout::staysInBlocks(from, to))
      return failAcrossBlocks("a tile that is laid out anew");
    SmallVector<int64_t> shape(from.shape().begin(), from.shape().end());
    return throughShared(
        registers, from, to.numRegisters(), from.numElements(),
        [&](int64_t r) { return rowMajorIndex(from, r, shape, {}); },
        [&](int64_t r) { return rowMajorIndex(to, r, shape, {}); });
  }
  layout::Expected<layout::ConvertPlan> plan = layout::planConversion(from, to, int(bytes));
  if (!plan)
    return emitError(loc, "internal error: no conversion between two layouts: ") << plan.error();
  switch (plan->kind) {
  case layout::ConvertKind::Registers: {
    Registers result;
    for (int64_t r : plan->registers)
      result.push_back(registers[r]);
    return result;
  }
  case layout::ConvertKind::Shuffle:
    return byShuffles(*this, registers, *plan, to.numRegisters());
  case layout::ConvertKind::Shared:
    return byShared(*this, registers, plan->shared, to.numRegisters());
  }
  llvm_unreachable("a conversion of no kind");
}

void addConvertHandlers(HandlerTable &table) { table["tile.convert_layout"] = lowerConvertLayout; }

} // namespace tilegym::nvidia
