// SPDX-License-Identifier: MIT
// Reductions, scans and ops with a scalar function: verification and folding.
#include "compiler/ir/Tile.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilegym::tile;

/// The result keeps reduced axes with extent 1, or is a scalar if all are reduced.
static LogicalResult verifyReduced(Operation *op, RankedTensorType from, Type to, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> shape(from.getShape());
  int64_t last = -1;
  for (int64_t axis : axes) {
    if (axis <= last || axis >= from.getRank())
      return op->emitOpError("axes must ascend and be below ") << from.getRank();
    last = axis;
    shape[axis] = 1;
  }
  if (axes.empty())
    return op->emitOpError("needs an axis");
  auto tile = dyn_cast<RankedTensorType>(to);
  if (tile ? llvm::equal(tile.getShape(), shape) : int64_t(axes.size()) == from.getRank())
    return success();
  return op->emitOpError("of ") << from << " over axes [" << axes << "] cannot be " << to;
}

static LogicalResult verifyNamed(Operation *op, ReduceKind kind, Type tile) {
  Type element = getElementTypeOrSelf(tile);
  bool logical = kind == ReduceKind::Any || kind == ReduceKind::All;
  bool isUnsigned = kind == ReduceKind::UMax || kind == ReduceKind::UMin;
  if (logical != element.isInteger(1) || (isUnsigned && !isa<IntegerType>(element)))
    return op->emitOpError("'") << stringifyReduceKind(kind) << "' is not defined on " << element;
  return success();
}

/// (accumulators..., elements...) -> accumulators, all scalars of the given types.
static LogicalResult verifyCombiner(Operation *op, Region &region, TypeRange tiles, TypeRange inits) {
  SmallVector<Type> scalars;
  for (auto [tile, init] : llvm::zip_equal(tiles, inits)) {
    if (getElementTypeOrSelf(tile) != init)
      return op->emitOpError("init of type ") << init << " for a tile of " << getElementTypeOrSelf(tile);
    if (cast<RankedTensorType>(tile).getShape() != cast<RankedTensorType>(tiles[0]).getShape())
      return op->emitOpError("tiles must have one shape");
    scalars.push_back(init);
  }
  SmallVector<Type> args(scalars);
  args.append(scalars);
  if (region.getArgumentTypes() != TypeRange(args))
    return op->emitOpError("combiner must take an accumulator and an element for each tile");
  if (!isa<YieldOp>(region.front().back()) || region.front().back().getOperandTypes() != TypeRange(scalars))
    return op->emitOpError("combiner must yield the accumulators");
  return success();
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  // Over axes of extent 1 nothing happens.
  return getValue().getType() == getType() ? OpFoldResult(getValue()) : OpFoldResult();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyNamed(*this, getKind(), getValue().getType())))
    return failure();
  return verifyReduced(*this, getValue().getType(), getType(), getAxes());
}

LogicalResult ArgReduceOp::verify() {
  ReduceKind kind = getKind();
  if (kind == ReduceKind::Sum || kind == ReduceKind::Prod || kind == ReduceKind::Any ||
      kind == ReduceKind::All)
    return emitOpError("'") << stringifyReduceKind(kind) << "' has no place";
  int64_t rank = getValue().getType().getRank();
  if (getAxes().size() != 1 && int64_t(getAxes().size()) != rank)
    return emitOpError("goes over one axis or all");
  return verifyReduced(*this, getValue().getType(), getType(), getAxes());
}

LogicalResult ReduceWithOp::verify() {
  if (getValues().empty() || getNumResults() != getValues().size())
    return emitOpError("needs a tile, and a result for each");
  if (failed(verifyCombiner(*this, getCombiner(), getValues().getTypes(), getInits().getTypes())))
    return failure();
  for (auto [value, result] : llvm::zip_equal(getValues(), getResults())) {
    if (getElementTypeOrSelf(value.getType()) != getElementTypeOrSelf(result.getType()))
      return emitOpError("result of type ") << result.getType() << " for " << value.getType();
    if (failed(verifyReduced(*this, cast<RankedTensorType>(value.getType()), result.getType(), getAxes())))
      return failure();
  }
  return success();
}

LogicalResult ScanOp::verify() {
  switch (getKind()) {
  case ReduceKind::Any:
  case ReduceKind::All:
    return emitOpError("'") << stringifyReduceKind(getKind()) << "' is not a scan";
  default:
    break;
  }
  if (getAxis() < 0 || getAxis() >= getType().getRank())
    return emitOpError("axis ") << getAxis() << " of a tile of rank " << getType().getRank();
  return verifyNamed(*this, getKind(), getType());
}

LogicalResult ScanWithOp::verify() {
  if (getValues().empty() || getValues().getTypes() != getResultTypes())
    return emitOpError("needs a tile, and results of the tiles' types");
  if (getAxis() < 0 || getAxis() >= cast<RankedTensorType>(getResultTypes()[0]).getRank())
    return emitOpError("axis ") << getAxis() << " of " << getResultTypes()[0];
  return verifyCombiner(*this, getCombiner(), getValues().getTypes(), getInits().getTypes());
}

LogicalResult InlinePtxOp::verify() {
  SmallVector<Type> args;
  for (Value value : getValues()) {
    auto tile = dyn_cast<RankedTensorType>(value.getType()), result = dyn_cast<RankedTensorType>(getType());
    if (bool(tile) != bool(result) || (tile && tile.getShape() != result.getShape()))
      return emitOpError("operands and result must have one shape");
    args.push_back(getElementTypeOrSelf(value.getType()));
  }
  Block &body = getMeaning().front();
  if (body.getArgumentTypes() != TypeRange(args))
    return emitOpError("meaning must take a scalar for each operand");
  if (body.empty() || !isa<YieldOp>(body.back()) ||
      body.back().getOperandTypes() != TypeRange(getElementTypeOrSelf(getType())))
    return emitOpError("meaning must yield the result's element");
  return success();
}
