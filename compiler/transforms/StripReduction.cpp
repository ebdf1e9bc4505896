// SPDX-License-Identifier: MIT
// tile.reduce and tile.reduce_with: [rows, width] as [rows, width / vector, vector], the last axis reduced in each strip, the others at the end.
#include "compiler/transforms/StripReduction.h"
#include "compiler/ir/Combine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tilegym::transforms {

static OperandRange tilesOf(Operation *op) {
  if (auto reduce = dyn_cast<tile::ReduceWithOp>(op))
    return reduce.getValues();
  return op->getOperands();
}

static ArrayRef<int64_t> axesOf(Operation *op) {
  return isa<tile::ReduceOp>(op) ? cast<tile::ReduceOp>(op).getAxes()
                                 : cast<tile::ReduceWithOp>(op).getAxes();
}

RankedTensorType StripReduction::partialType(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = width / vector;
  shape.push_back(1);
  return RankedTensorType::get(shape, type.getElementType());
}

SmallVector<Value> StripReduction::start(OpBuilder &b) {
  SmallVector<Value> accumulators;
  for (auto [i, tile] : llvm::enumerate(tilesOf(op))) {
    RankedTensorType type = partialType(tile);
    if (auto reduce = dyn_cast<tile::ReduceWithOp>(op)) {
      accumulators.push_back(tile::SplatOp::create(b, op->getLoc(), type, reduce.getInits()[i]));
      continue;
    }
    TypedAttr identity = tile::identityOf(cast<tile::ReduceOp>(op).getKind(), type.getElementType());
    accumulators.push_back(
        arith::ConstantOp::create(b, op->getLoc(), SplatElementsAttr::get(type, Attribute(identity))));
  }
  return accumulators;
}

/// The function of a reduce_with on whole tiles: its ops are elementwise.
SmallVector<Value> StripReduction::combineTiles(OpBuilder &b, ValueRange accumulators, ValueRange elements) {
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return {tile::combine(b, op->getLoc(), reduce.getKind(), accumulators[0], elements[0])};
  Block &body = cast<tile::ReduceWithOp>(op).getCombiner().front();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(accumulators[0].getType()).getShape();
  IRMapping mapping;
  SmallVector<Value> arguments(accumulators);
  arguments.append(elements.begin(), elements.end());
  mapping.map(body.getArguments(), arguments);
  auto tiled = [&](Value value) -> Value {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Value splat =
        tile::SplatOp::create(b, op->getLoc(), RankedTensorType::get(shape, value.getType()), value);
    mapping.map(value, splat);
    return splat;
  };
  for (Operation &inner : body.without_terminator()) {
    if (isa<arith::ConstantOp>(inner)) {
      Operation *copy = b.clone(inner);
      mapping.map(inner.getResult(0), tiled(copy->getResult(0)));
      continue;
    }
    for (Value operand : inner.getOperands())
      tiled(operand);
    Operation *copy = b.clone(inner, mapping);
    for (OpResult result : copy->getResults())
      result.setType(RankedTensorType::get(shape, result.getType()));
  }
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(tiled(value));
  return results;
}

SmallVector<Value> StripReduction::add(OpBuilder &b, ValueRange accumulators, Strip &strip) {
  SmallVector<Value> vectors;
  SmallVector<Type> types;
  for (Value tile : tilesOf(op)) {
    Value part = strip.of(tile);
    RankedTensorType partial = partialType(tile);
    SmallVector<int64_t> shape(partial.getShape());
    shape.back() = vector;
    vectors.push_back(tile::ReshapeOp::create(b, op->getLoc(),
                                              RankedTensorType::get(shape, partial.getElementType()), part));
    types.push_back(partial);
  }
  int64_t last = cast<RankedTensorType>(types[0]).getRank() - 1;
  SmallVector<Value> partial;
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    partial.push_back(
        tile::ReduceOp::create(b, op->getLoc(), types[0], reduce.getKind(), vectors[0], ArrayRef(last)));
  } else {
    auto with = cast<tile::ReduceWithOp>(op);
    auto inner = tile::ReduceWithOp::create(b, op->getLoc(), types, vectors, with.getInits(), ArrayRef(last));
    IRMapping mapping;
    with.getCombiner().cloneInto(&inner.getCombiner(), mapping);
    partial.append(inner.result_begin(), inner.result_end());
  }
  return combineTiles(b, accumulators, partial);
}

Value StripReduction::shaped(OpBuilder &b, Value tile, Type type) {
  return tile.getType() == type ? tile : Value(tile::ReshapeOp::create(b, op->getLoc(), type, tile));
}

SmallVector<Value> StripReduction::finish(OpBuilder &b, ValueRange accumulators) {
  SmallVector<int64_t> axes(axesOf(op));
  int64_t rank = cast<RankedTensorType>(accumulators[0].getType()).getRank();
  axes.push_back(rank - 1);
  SmallVector<Type> types;
  for (auto [accumulator, result] : llvm::zip(accumulators, op->getResults())) {
    Type type = result.getType();
    if (auto tile = dyn_cast<RankedTensorType>(type)) {
      SmallVector<int64_t> shape(tile.getShape());
      shape.push_back(1);
      type = RankedTensorType::get(shape, tile.getElementType());
    }
    types.push_back(type);
  }
  SmallVector<Value> results;
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    results.push_back(
        tile::ReduceOp::create(b, op->getLoc(), types[0], reduce.getKind(), accumulators[0], axes));
  } else {
    auto with = cast<tile::ReduceWithOp>(op);
    auto last = tile::ReduceWithOp::create(b, op->getLoc(), types, accumulators, with.getInits(), axes);
    IRMapping mapping;
    with.getCombiner().cloneInto(&last.getCombiner(), mapping);
    results.append(last.result_begin(), last.result_end());
  }
  for (auto [value, result] : llvm::zip(results, op->getResults()))
    value = shaped(b, value, result.getType());
  return results;
}

static bool isZero(Attribute number) {
  if (auto real = dyn_cast<FloatAttr>(number))
    return real.getValue().isZero();
  return cast<IntegerAttr>(number).getValue().isZero();
}

bool StripReduction::canEnd(OpBuilder &b, Strip &beyond) {
  auto reduce = dyn_cast<tile::ReduceOp>(op);
  for (auto [i, tile] : llvm::enumerate(tilesOf(op))) {
    Value element = beyond.of(tile);
    if (!element)
      return false;
    Attribute identity, number;
    if (reduce)
      identity = tile::identityOf(reduce.getKind(), getElementTypeOrSelf(tile.getType()));
    else
      matchPattern(cast<tile::ReduceWithOp>(op).getInits()[i], m_Constant(&identity));
    DenseElementsAttr all;
    if (matchPattern(element, m_Constant(&all)) && all.isSplat())
      number = all.getSplatValue<Attribute>();
    if (number && identity && (number == identity || (isZero(number) && isZero(identity))))
      continue;
    // Of a sum, as often as there are elements; of these others, once.
    Type type = getElementTypeOrSelf(tile.getType());
    bool once =
        reduce && llvm::is_contained({tile::ReduceKind::Max, tile::ReduceKind::Min, tile::ReduceKind::UMax,
                                      tile::ReduceKind::UMin, tile::ReduceKind::Any, tile::ReduceKind::All},
                                     reduce.getKind());
    bool sums = reduce && reduce.getKind() == tile::ReduceKind::Sum &&
                (type.isF32() || type.isF64() || type.isInteger(32) || type.isInteger(64));
    bool isNarrow = cast<RankedTensorType>(element.getType()).getNumElements() == 1 || axesOf(op).size() == 1;
    if (!isNarrow || !(once || sums))
      return false;
    share = element;
  }
  return true;
}

void StripReduction::addBeyond(OpBuilder &b, SmallVectorImpl<Value> &results, Value count) {
  if (!share)
    return;
  Location loc = op->getLoc();
  tile::ReduceKind kind = cast<tile::ReduceOp>(op).getKind();
  Type type = results[0].getType(), element = getElementTypeOrSelf(type);
  auto spread = [&](Value number) -> Value {
    return isa<RankedTensorType>(type) ? Value(tile::SplatOp::create(b, loc, type, number)) : number;
  };
  Value added = shaped(b, share, type);
  if (kind == tile::ReduceKind::Sum) {
    if (isa<FloatType>(element)) {
      Value times = arith::SIToFPOp::create(b, loc, element, count);
      added = arith::MulFOp::create(b, loc, added, spread(times));
    } else {
      Value times = element == count.getType() ? count : b.createOrFold<arith::TruncIOp>(loc, element, count);
      added = arith::MulIOp::create(b, loc, added, spread(times));
    }
  }
  Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, count, zero);
  Value nothing = spread(arith::ConstantOp::create(b, loc, tile::identityOf(kind, element)));
  added = arith::SelectOp::create(b, loc, some, added, nothing);
  results[0] = tile::combine(b, loc, kind, results[0], added);
}

} // namespace tilegym::transforms
