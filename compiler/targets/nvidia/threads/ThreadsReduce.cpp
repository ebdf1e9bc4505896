// SPDX-License-Identifier: MIT
// The reductions of the tile dialect on the engine of Reduction.h.
#include "compiler/ir/Combine.h"
#include "compiler/targets/nvidia/threads/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

LogicalResult lowerReduce(ThreadBuilder &t, Operation *op) {
  auto reduce = cast<tile::ReduceOp>(op);
  TileTuple tuple{*t.layoutOf(reduce.getValue().getType()), {t.get(reduce.getValue())}};
  auto combine = [&](ValueRange a, ValueRange x) -> Registers {
    return {tile::combine(t.b, t.loc, reduce.getKind(), a[0], x[0])};
  };
  FailureOr<TileTuple> result =
      reduceTuple(t, std::move(tuple), reduce.getAxes(), combine, /*commutes=*/true);
  if (failed(result))
    return failure();
  return setFromTile(t, reduce, result->parts[0], result->layout);
}

/// True where (x, i) beats (a, j): larger (smaller), or NaN against a number, or as good and earlier.
Value beats(ThreadBuilder &t, tile::ReduceKind kind, Value x, Value i, Value a, Value j) {
  auto integer = [&](arith::CmpIPredicate p, Value l, Value r) -> Value {
    return arith::CmpIOp::create(t.b, t.loc, p, l, r);
  };
  auto floating = [&](arith::CmpFPredicate p, Value l, Value r) -> Value {
    return arith::CmpFOp::create(t.b, t.loc, p, l, r);
  };
  auto both = [&](Value l, Value r) -> Value { return arith::AndIOp::create(t.b, t.loc, l, r); };
  auto either = [&](Value l, Value r) -> Value { return arith::OrIOp::create(t.b, t.loc, l, r); };
  Value earlier = integer(arith::CmpIPredicate::slt, i, j);
  if (isa<FloatType>(x.getType())) {
    bool max = kind == tile::ReduceKind::Max;
    Value better = floating(max ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, x, a);
    Value equal = floating(arith::CmpFPredicate::OEQ, x, a);
    Value xNan = floating(arith::CmpFPredicate::UNO, x, x), aNan = floating(arith::CmpFPredicate::UNO, a, a);
    Value aNumber = floating(arith::CmpFPredicate::ORD, a, a);
    Value wins = either(better, both(xNan, aNumber));
    return either(wins, both(either(equal, both(xNan, aNan)), earlier));
  }
  arith::CmpIPredicate better = kind == tile::ReduceKind::Max    ? arith::CmpIPredicate::sgt
                                : kind == tile::ReduceKind::Min  ? arith::CmpIPredicate::slt
                                : kind == tile::ReduceKind::UMax ? arith::CmpIPredicate::ugt
                                                                 : arith::CmpIPredicate::ult;
  return either(integer(better, x, a), both(integer(arith::CmpIPredicate::eq, x, a), earlier));
}

LogicalResult lowerArgReduce(ThreadBuilder &t, Operation *op) {
  auto reduce = cast<tile::ArgReduceOp>(op);
  auto type = cast<RankedTensorType>(reduce.getValue().getType());
  const layout::Layout &layout = *t.layoutOf(type);
  // Small indices travel in 32 bits; the result is widened.
  Registers indices;
  for (int64_t r = 0; r < layout.numRegisters(); ++r)
    indices.push_back(reduce.getAxes().size() == 1 ? t.coordinate(layout, reduce.getAxes()[0], r)
                                                   : t.rowMajorIndex(layout, r, type.getShape(), {}));
  TileTuple tuple{layout, {t.get(reduce.getValue()), indices}};
  auto combine = [&](ValueRange a, ValueRange x) -> Registers {
    Value wins = beats(t, reduce.getKind(), x[0], x[1], a[0], a[1]);
    return {arith::SelectOp::create(t.b, t.loc, wins, x[0], a[0]),
            arith::SelectOp::create(t.b, t.loc, wins, x[1], a[1])};
  };
  FailureOr<TileTuple> result =
      reduceTuple(t, std::move(tuple), reduce.getAxes(), combine, /*commutes=*/true);
  if (failed(result))
    return failure();
  Registers wide;
  for (Value index : result->parts[1])
    wide.push_back(arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), index));
  return setFromTile(t, reduce, wide, result->layout);
}

LogicalResult lowerReduceWith(ThreadBuilder &t, Operation *op) {
  auto reduce = cast<tile::ReduceWithOp>(op);
  TileTuple tuple{*t.layoutOf(reduce.getValues()[0].getType()), {}};
  for (Value value : reduce.getValues()) {
    FailureOr<Registers> moved = t.convert(t.get(value), *t.layoutOf(value.getType()), tuple.layout);
    if (failed(moved))
      return failure();
    tuple.parts.push_back(std::move(*moved));
  }
  auto combine = [&](ValueRange a, ValueRange x) -> Registers {
    SmallVector<Value> arguments(a);
    arguments.append(x.begin(), x.end());
    return inlineScalarRegion(t, reduce.getCombiner(), arguments);
  };
  FailureOr<TileTuple> result =
      reduceTuple(t, std::move(tuple), reduce.getAxes(), combine, /*commutes=*/false);
  if (failed(result))
    return failure();
  for (auto [value, part] : llvm::zip(reduce.getResults(), result->parts))
    if (failed(setFromTile(t, value, part, result->layout)))
      return failure();
  return success();
}

} // namespace

void addReduceHandlers(HandlerTable &table) {
  table["tile.reduce"] = lowerReduce;
  table["tile.arg_reduce"] = lowerArgReduce;
  table["tile.reduce_with"] = lowerReduceWith;
}

} // namespace tilegym::nvidia
