// SPDX-License-Identifier: MIT
// Shape ops and conversions: verification and folding.
#include "compiler/ir/Tile.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilegym::tile;

static ArrayRef<int64_t> shapeOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? tile.getShape() : ArrayRef<int64_t>();
}
static int64_t elementsOf(Type type) { return ShapedType::getNumElements(shapeOf(type)); }

/// A splat keeps its one value in every shape; anything else would have to be rearranged here.
static OpFoldResult foldSplat(Attribute operand, Type type) {
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(operand))
    if (auto tile = dyn_cast<RankedTensorType>(type))
      return SplatElementsAttr::get(tile, splat.getSplatValue<Attribute>());
  return {};
}

LogicalResult IotaOp::verify() {
  if (getAxis() < 0 || getAxis() >= getType().getRank())
    return emitOpError("axis ") << getAxis() << " of a tile of rank " << getType().getRank();
  return success();
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  return adaptor.getValue() ? SplatElementsAttr::get(getType(), adaptor.getValue()) : OpFoldResult();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  return getValue().getType() == getType() ? OpFoldResult(getValue())
                                           : foldSplat(adaptor.getValue(), getType());
}

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = getValue().getType().getShape(), to = getType().getShape();
  bool fits = from.size() == to.size();
  for (size_t i = 0; fits && i < from.size(); ++i)
    fits = from[i] == to[i] || from[i] == 1;
  return fits ? success() : emitOpError("cannot repeat ") << getValue().getType() << " to " << getType();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getValue().getType() == getType())
    return getValue();
  if (isa<RankedTensorType>(getType()))
    return foldSplat(adaptor.getValue(), getType());
  auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getValue());
  return splat ? splat.getSplatValue<Attribute>() : OpFoldResult();
}

LogicalResult ReshapeOp::verify() {
  if (elementsOf(getValue().getType()) != elementsOf(getType()))
    return emitOpError("cannot make ") << getType() << " of " << getValue().getType();
  return success();
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  // reshape(reshape(x)) is one reshape; reshape(splat(s)) is a splat.
  patterns.add(+[](ReshapeOp op, PatternRewriter &rewriter) -> LogicalResult {
    if (auto inner = op.getValue().getDefiningOp<ReshapeOp>()) {
      rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getValue());
      return success();
    }
    if (auto splat = op.getValue().getDefiningOp<SplatOp>()) {
      if (isa<RankedTensorType>(op.getType()))
        rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getValue());
      else
        rewriter.replaceOp(op, splat.getValue());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "operand is neither a reshape nor a splat");
  });
}

OpFoldResult PermuteOp::fold(FoldAdaptor adaptor) {
  bool identity = llvm::all_of(llvm::enumerate(getOrder()),
                               [](auto axis) { return int64_t(axis.index()) == axis.value(); });
  return identity && getValue().getType() == getType() ? OpFoldResult(getValue())
                                                       : foldSplat(adaptor.getValue(), getType());
}

LogicalResult PermuteOp::verify() {
  ArrayRef<int64_t> from = getValue().getType().getShape(), to = getType().getShape();
  if (getOrder().size() != from.size() || from.size() != to.size())
    return emitOpError("needs one entry of the order for each axis");
  SmallVector<bool> seen(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t axis = getOrder()[i];
    if (axis < 0 || axis >= int64_t(from.size()) || seen[axis])
      return emitOpError("order is no permutation");
    seen[axis] = true;
    if (to[i] != from[axis])
      return emitOpError("result axis ")
             << i << " has extent " << to[i] << ", operand axis " << axis << " has " << from[axis];
  }
  return success();
}

LogicalResult CatOp::verify() {
  int64_t axis = getAxis(), rank = getType().getRank(), sum = 0;
  if (axis < 0 || axis >= rank)
    return emitOpError("axis ") << axis << " of a tile of rank " << rank;
  for (Type type : getValues().getTypes()) {
    SmallVector<int64_t> shape(shapeOf(type));
    if (int64_t(shape.size()) != rank)
      return emitOpError("operand ") << type << " has another rank than " << getType();
    sum += shape[axis];
    shape[axis] = getType().getDimSize(axis);
    if (!llvm::equal(shape, getType().getShape()))
      return emitOpError("operand ") << type << " does not fit into " << getType();
  }
  return sum == getType().getDimSize(axis) ? success()
                                           : emitOpError("operands have ")
                                                 << sum << " along axis " << axis << ", the result has "
                                                 << getType().getDimSize(axis);
}

OpFoldResult ExtractOp::fold(FoldAdaptor adaptor) {
  return getValue().getType() == getType() ? OpFoldResult(getValue())
                                           : foldSplat(adaptor.getValue(), getType());
}

LogicalResult ExtractOp::verify() {
  ArrayRef<int64_t> from = getValue().getType().getShape(), to = getType().getShape();
  if (from.size() != to.size() || getOffsets().size() != from.size())
    return emitOpError("needs an offset for each axis");
  for (size_t i = 0; i < from.size(); ++i)
    if (getOffsets()[i] < 0 || getOffsets()[i] + to[i] > from[i])
      return emitOpError("takes ") << getOffsets()[i] << " .. " << getOffsets()[i] + to[i]
                                   << " of an axis of " << from[i];
  return success();
}

LogicalResult BitcastOp::verify() {
  auto bits = [](RankedTensorType tile) { return tile.getShape().back() * tile.getElementTypeBitWidth(); };
  RankedTensorType from = getValue().getType(), to = getType();
  if (from.getRank() != to.getRank() || from.getRank() == 0 ||
      from.getShape().drop_back() != to.getShape().drop_back() || bits(from) != bits(to))
    return emitOpError("must keep the bits of the last axis and every other axis");
  return success();
}

LogicalResult ConvertOp::verify() {
  Type from = getElementTypeOrSelf(getValue().getType()), to = getElementTypeOrSelf(getType());
  if (isa<IntegerType>(from) && isa<IntegerType>(to))
    return emitOpError("between integers is an arith op");
  if (getIsUnsigned() && isa<FloatType>(from) && isa<FloatType>(to))
    return emitOpError("between floats is not unsigned");
  return success();
}

LogicalResult PhiloxOp::verify() {
  if (shapeOf(getCounter().getType()) != shapeOf(getType()))
    return emitOpError("gives ") << getType() << " for counters " << getCounter().getType();
  return success();
}
