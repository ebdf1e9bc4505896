// SPDX-License-Identifier: MIT
// Views compose here and make no IR of their own, only the arithmetic of starts and bounds.
#include "compiler/lowering/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <utility>

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;
using sem::IndexItem;
using Code = sem::Op;

Value Lowerer::extentOf(int64_t tensor, int64_t axis, Value element) {
  const sem::DimUse &use = op.tensors[tensor].dims[axis];
  if (use.dim < 0) {
    // The variables of its sums are numbered as if the kernel had none of its own.
    std::vector<Values> own = std::exchange(locals, {});
    Value extent = value(*use.expr);
    locals = std::move(own);
    return extent;
  }
  int64_t fixed =
      use.dim < int64_t(kernel.spec.constDims.size()) ? kernel.spec.constDims[use.dim] : sem::kDynamic;
  return fixed == sem::kDynamic ? params.get(builder, tile::ParamKind::Extent, use.dim, 0, element)
                                : index(fixed);
}

ViewValue Lowerer::wholeTensor(const sem::Expr &e) {
  ViewValue view;
  view.tensor = e.index;
  if (e.op == Code::ListElement)
    view.element = operand(e, 0);
  for (size_t axis = 0; axis < op.tensors[e.index].dims.size(); ++axis) {
    view.tensorAxes.push_back({{}, extentOf(e.index, int64_t(axis), view.element), {}, {}});
    ViewAxis range;
    range.source = int64_t(axis);
    range.extent = e.type.shape[axis];
    view.axes.push_back(range);
  }
  return view;
}

ViewValue Lowerer::view(const sem::Expr &e) {
  Location outer = location;
  location = locationOf(e.range);
  ViewValue result;
  switch (e.op) {
  case Code::Local:
    result = *views[e.index];
    break;
  case Code::Tensor:
  case Code::ListElement:
    result = wholeTensor(e);
    break;
  case Code::ViewTile:
    result = view(*e.operands[0]);
    for (size_t axis = 0; axis < e.ints.size(); ++axis)
      result.axes[axis].tile = e.ints[axis];
    break;
  case Code::ViewPermute: {
    result = view(*e.operands[0]);
    std::vector<ViewAxis> axes;
    for (int64_t axis : e.ints)
      axes.push_back(result.axes[axis]);
    result.axes = std::move(axes);
    break;
  }
  default: // ViewIndex
    result = view(*e.operands[0]);
    indexView(result, e);
    break;
  }
  location = outer;
  return result;
}

void Lowerer::moveAxis(ViewValue &, ViewAxis &axis, Value by) {
  axis.start = axis.start ? create<arith::AddIOp>(axis.start, by) : by;
}

// A window's own ends become bounds of the tensor's axis when it is indexed again: an index may point beyond the window.
void Lowerer::clampAxis(ViewValue &view, const ViewAxis &axis) {
  if (!axis.window)
    return;
  TensorAxis &tensor = view.tensorAxes[axis.source];
  Value start = axis.start ? axis.start : index(0);
  Value end = create<arith::AddIOp>(start, index(axis.extent));
  tensor.lower = create<arith::MaxSIOp>(tensor.lower ? tensor.lower : index(0), start);
  tensor.upper = create<arith::MinSIOp>(tensor.upper, end);
}

void Lowerer::indexView(ViewValue &view, const sem::Expr &e) {
  std::vector<ViewAxis> old = std::move(view.axes);
  view.axes.clear();
  size_t next = 0;
  int64_t gatherAt = -1;
  SmallVector<int64_t> gatherShape;
  for (const IndexItem &item : e.items) {
    if (item.kind == IndexItem::NewAxis) {
      ViewAxis axis;
      axis.kind = ViewAxis::NewAxis;
      axis.extent = 1;
      view.axes.push_back(axis);
      continue;
    }
    ViewAxis axis = old[next++];
    if (item.kind == IndexItem::Whole && !axis.tile) {
      view.axes.push_back(axis);
      continue;
    }
    if (axis.kind == ViewAxis::NewAxis && item.kind == IndexItem::Point)
      continue; // position 0 of an axis of extent 1
    if (axis.kind != ViewAxis::Range) {
      unsupported(item.range, "an index into an axis that a gather or `None` made");
      continue;
    }
    TensorAxis &tensor = view.tensorAxes[axis.source];
    clampAxis(view, axis);
    switch (item.kind) {
    case IndexItem::Point: {
      Value at = value(*item.first);
      if (!axis.tile) {
        moveAxis(view, axis, at);
        tensor.point = axis.start;
        break;
      }
      moveAxis(view, axis, create<arith::MulIOp>(at, index(axis.tile)));
      axis.extent = axis.tile;
      axis.tile = 0;
      axis.window = true;
      view.axes.push_back(axis);
      break;
    }
    case IndexItem::Span:
      moveAxis(view, axis, value(*item.first));
      axis.extent = item.length;
      axis.window = true;
      view.axes.push_back(axis);
      break;
    case IndexItem::Bounds: {
      Value start = axis.start ? axis.start : index(0);
      if (item.second) {
        Value end = create<arith::AddIOp>(start, value(*item.second));
        tensor.upper = create<arith::MinSIOp>(tensor.upper, end);
      }
      if (item.first) {
        moveAxis(view, axis, value(*item.first));
        tensor.lower = tensor.lower ? create<arith::MaxSIOp>(tensor.lower, axis.start) : axis.start;
      }
      axis.extent = -1;
      axis.window = false;
      view.axes.push_back(axis);
      break;
    }
    default: { // Gather
      Value tile = value(*item.first);
      tile = convertInts(tile, item.first->type.dtype, DType::Index);
      auto shape = item.first->type.shape;
      // Tiles of several gathers broadcast together; the shapes are static, so the common one is known now.
      SmallVector<int64_t> merged(std::max(shape.size(), gatherShape.size()), 1);
      for (size_t i = 0; i < merged.size(); ++i) {
        auto at = [&](ArrayRef<int64_t> s) {
          return i + s.size() < merged.size() ? 1 : s[i + s.size() - merged.size()];
        };
        merged[i] = std::max(at(shape), at(gatherShape));
      }
      gatherShape = merged;
      if (gatherAt < 0)
        gatherAt = int64_t(view.axes.size());
      if (axis.start)
        tile = create<arith::AddIOp>(tile, create<tile::SplatOp>(tile.getType(), axis.start));
      tensor.gather = tile;
      break;
    }
    }
  }
  for (; next < old.size(); ++next)
    view.axes.push_back(old[next]);
  if (gatherAt < 0)
    return;
  for (TensorAxis &tensor : view.tensorAxes)
    if (tensor.gather)
      tensor.gather = broadcastTo(tensor.gather, gatherShape);
  std::vector<ViewAxis> made;
  for (size_t i = 0; i < gatherShape.size(); ++i) {
    ViewAxis axis;
    axis.kind = ViewAxis::GatherAxis;
    axis.source = int64_t(i);
    axis.extent = gatherShape[i];
    made.push_back(axis);
  }
  view.axes.insert(view.axes.begin() + gatherAt, made.begin(), made.end());
}
