// SPDX-License-Identifier: MIT
// Loads, stores and atomics: a view becomes the region of a memory op. A region has the tensor's order of axes, the view may have another, so
// tiles are permuted between them.
#include "compiler/lowering/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;
using Code = sem::Op;
using tile::AxisKind;
using tile::ParamKind;

struct Lowerer::Access {
  Value base;
  SmallVector<int32_t> kinds, checks;
  SmallVector<int64_t> lengths;
  SmallVector<Value> indices, strides, lowers, uppers, group;
};

Value Lowerer::toMemory(Value x, DType dtype) {
  if (!isBool(dtype))
    return x;
  auto tile = dyn_cast<RankedTensorType>(x.getType());
  return create<arith::ExtUIOp>(tile ? Type(tile.clone(builder.getI8Type())) : builder.getI8Type(), x);
}

Value Lowerer::fromMemory(Value x, DType dtype) {
  return isBool(dtype) ? create<arith::CmpIOp>(arith::CmpIPredicate::ne, x, zero(x.getType())) : x;
}

Lowerer::Access Lowerer::regionOf(const ViewValue &view) {
  Access region;
  const sem::TensorParam &tensor = op.tensors[view.tensor];
  const tile::TensorFacts &facts = params.tensorFacts()[view.tensor];
  region.base = params.get(builder, ParamKind::Base, view.tensor, 0, view.element);
  for (size_t axis = 0; axis < view.tensorAxes.size(); ++axis) {
    const TensorAxis &source = view.tensorAxes[axis];
    AxisKind kind = source.point ? AxisKind::Point : source.gather ? AxisKind::Gather : AxisKind::Span;
    int64_t length = 0;
    Value at = source.point ? source.point : source.gather;
    if (kind == AxisKind::Span)
      for (const ViewAxis &range : view.axes)
        if (range.kind == ViewAxis::Range && range.source == int64_t(axis)) {
          length = range.extent;
          at = range.start ? range.start : index(0);
        }
    bool isInner = axis + (facts.transposed ? 2 : 1) == view.tensorAxes.size();
    bool isGroup = params.isGroup(view.tensor, int64_t(axis));
    Value stride;
    if (isInner && facts.unitInner)
      stride = index(1);
    else if (!isGroup)
      stride = params.get(builder, ParamKind::Stride, view.tensor, int64_t(axis), view.element);
    else if (params.isFast())
      stride = params.get(builder, ParamKind::GroupStride, view.tensor, 0);
    else
      stride = index(1); // unused: the group has a stride for each of its dims
    if (isGroup && !params.isFast()) {
      int64_t dim = tensor.dims[axis].dim;
      region.group.push_back(params.get(builder, ParamKind::GroupRank, dim));
      for (int64_t k = 0; k < tile::maxGroupRank; ++k)
        region.group.push_back(params.get(builder, ParamKind::GroupExtent, dim, k));
      for (int64_t k = 0; k < tile::maxGroupRank; ++k)
        region.group.push_back(params.get(builder, ParamKind::GroupStride, view.tensor, k));
    }
    region.kinds.push_back(int32_t(kind));
    region.indices.push_back(at);
    region.lengths.push_back(length);
    region.strides.push_back(stride);
    region.lowers.push_back(source.lower ? source.lower : index(0));
    region.uppers.push_back(source.upper);
    region.checks.push_back(tile::CheckBoth);
  }
  return region;
}

namespace {
/// Region axes in the region's order, then how the view orders them; new axes have no place in the region.
struct AxisOrder {
  SmallVector<int64_t> regionShape;  ///< extents, in the tensor's order of axes
  SmallVector<int64_t> order;        ///< for each old axis of the view, the region's axis
  SmallVector<int64_t> orderedShape; ///< regionShape permuted by `order`
  bool isIdentity = true;
};
} // namespace

static AxisOrder axisOrderOf(const ViewValue &view) {
  AxisOrder result;
  SmallVector<int64_t> firstOf(view.tensorAxes.size(), -1), gatherExtents;
  int64_t gatherFirst = -1;
  for (const ViewAxis &axis : view.axes)
    if (axis.kind == ViewAxis::GatherAxis)
      gatherExtents.push_back(0);
  for (const ViewAxis &axis : view.axes)
    if (axis.kind == ViewAxis::GatherAxis)
      gatherExtents[axis.source] = axis.extent;
  for (size_t i = 0; i < view.tensorAxes.size(); ++i) {
    if (view.tensorAxes[i].point)
      continue;
    if (view.tensorAxes[i].gather) {
      if (gatherFirst < 0) {
        gatherFirst = int64_t(result.regionShape.size());
        llvm::append_range(result.regionShape, gatherExtents);
      }
      continue;
    }
    firstOf[i] = int64_t(result.regionShape.size());
    for (const ViewAxis &axis : view.axes)
      if (axis.kind == ViewAxis::Range && axis.source == int64_t(i))
        result.regionShape.push_back(axis.extent);
  }
  for (const ViewAxis &axis : view.axes) {
    if (axis.kind == ViewAxis::NewAxis)
      continue;
    int64_t place = axis.kind == ViewAxis::Range ? firstOf[axis.source] : gatherFirst + axis.source;
    result.isIdentity &= place == int64_t(result.order.size());
    result.order.push_back(place);
    result.orderedShape.push_back(axis.extent);
  }
  return result;
}

static SmallVector<int64_t> viewShape(const ViewValue &view) {
  SmallVector<int64_t> shape;
  for (const ViewAxis &axis : view.axes)
    shape.push_back(axis.extent);
  return shape;
}

Value Lowerer::fromRegion(const ViewValue &view, Value tile) {
  AxisOrder axes = axisOrderOf(view);
  if (!axes.isIdentity) {
    Type type = RankedTensorType::get(axes.orderedShape, getElementTypeOrSelf(tile.getType()));
    tile = create<tile::PermuteOp>(type, tile, axes.order);
  }
  return reshapeTo(tile, viewShape(view));
}

Value Lowerer::toRegion(const ViewValue &view, Value tile) {
  AxisOrder axes = axisOrderOf(view);
  tile = reshapeTo(broadcastTo(tile, viewShape(view)), axes.orderedShape);
  if (axes.isIdentity)
    return tile;
  SmallVector<int64_t> inverse(axes.order.size());
  for (size_t i = 0; i < inverse.size(); ++i)
    inverse[axes.order[i]] = int64_t(i);
  Type type = RankedTensorType::get(axes.regionShape, getElementTypeOrSelf(tile.getType()));
  return create<tile::PermuteOp>(type, tile, inverse);
}

Value Lowerer::maskOf(const sem::Expr &e, const ViewValue &view) {
  if (!e.hasMask)
    return {};
  Value mask = value(*e.operands.back());
  return isa<RankedTensorType>(mask.getType()) ? toRegion(view, mask) : mask;
}

Value Lowerer::memory(const sem::Expr &e) { return e.op == Code::Load ? load(e) : atomic(e); }

Value Lowerer::load(const sem::Expr &e) {
  DType dtype = e.type.dtype;
  ViewValue from = view(*e.operands[0]);
  Value pad = toMemory(operand(e, 1), dtype), mask = maskOf(e, from);
  Access region = regionOf(from);
  AxisOrder axes = axisOrderOf(from);
  Type element = memoryType(dtype);
  Type type = axes.regionShape.empty() ? element : RankedTensorType::get(axes.regionShape, element);
  Value tile =
      create<tile::LoadOp>(type, region.base, region.kinds, region.indices, region.lengths, region.strides,
                           region.lowers, region.uppers, region.checks, region.group, pad, mask,
                           /*held=*/Value());
  return fromMemory(fromRegion(from, tile), dtype);
}

void Lowerer::store(const sem::Expr &e) {
  DType dtype = e.operands[1]->type.dtype;
  ViewValue to = view(*e.operands[0]);
  Value tile = toRegion(to, toMemory(operand(e, 1), dtype)), mask = maskOf(e, to);
  Access region = regionOf(to);
  tile::StoreOp::create(builder, location, tile, region.base, region.kinds, region.indices, region.lengths,
                        region.strides, region.lowers, region.uppers, region.checks, region.group, mask);
}

static tile::AtomicKind atomicKindOf(Code op, DType dtype) {
  using tile::AtomicKind;
  switch (op) {
  case Code::AtomicAdd:
    return AtomicKind::Add;
  case Code::AtomicMin:
    return isUnsigned(dtype) ? AtomicKind::UMin : AtomicKind::Min;
  case Code::AtomicMax:
    return isUnsigned(dtype) ? AtomicKind::UMax : AtomicKind::Max;
  case Code::AtomicAnd:
    return AtomicKind::And;
  case Code::AtomicOr:
    return AtomicKind::Or;
  case Code::AtomicXor:
    return AtomicKind::Xor;
  default:
    return AtomicKind::Exchange;
  }
}

Value Lowerer::atomic(const sem::Expr &e) {
  DType dtype = e.type.dtype;
  ViewValue to = view(*e.operands[0]);
  Value tile = toRegion(to, toMemory(operand(e, 1), dtype)), mask = maskOf(e, to), old;
  if (e.op == Code::AtomicCas) {
    Value next = toRegion(to, toMemory(operand(e, 2), dtype));
    Access region = regionOf(to);
    old = create<tile::AtomicCasOp>(tile.getType(), tile, next, region.base, region.kinds, region.indices,
                                    region.lengths, region.strides, region.lowers, region.uppers,
                                    region.checks, region.group, mask);
  } else {
    Access region = regionOf(to);
    old = create<tile::AtomicRMWOp>(tile.getType(), atomicKindOf(e.op, dtype), tile, region.base,
                                    region.kinds, region.indices, region.lengths, region.strides,
                                    region.lowers, region.uppers, region.checks, region.group, mask);
  }
  return fromMemory(fromRegion(to, old), dtype);
}
