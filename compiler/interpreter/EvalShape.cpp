// SPDX-License-Identifier: MIT
// Shape operations and indexing of values.
#include "compiler/interpreter/Broadcast.h"
#include "compiler/interpreter/Evaluator.h"
#include <numeric>

namespace tilegym::interp {

using sem::Op;

/// The result shape of a node: static, or given by extent operands, one of which may be -1.
Shape Evaluator::shapeOf(const sem::Expr &e, size_t firstExtent, int64_t elements) {
  Shape shape;
  int inferred = -1;
  const bool dynamic = e.operands.size() > firstExtent;
  const size_t rank = dynamic ? e.operands.size() - firstExtent : e.type.shape.size();
  for (size_t a = 0; a < rank; ++a) {
    int64_t extent = dynamic ? indexValue(*this, e.operands[firstExtent + a]) : e.type.shape[a];
    if (extent < -1 || (extent == -1 && inferred >= 0))
      fail(Fault::Arguments, "an extent of " + std::to_string(extent), e.range, "extents are 0 or more");
    if (extent == -1)
      inferred = int(a);
    shape.push(extent);
  }
  if (inferred >= 0) {
    shape[inferred] = 1;
    const int64_t rest = shape.count();
    shape[inferred] = rest == 0 ? 0 : elements / rest;
  }
  return shape;
}

Value Evaluator::iota(const sem::Expr &e) {
  int64_t count = e.operands.empty() ? e.type.shape.at(0) : indexValue(*this, e.operands[0]);
  if (count < 0)
    fail(Fault::Arguments, "iota of " + std::to_string(count) + " elements", e.range);
  Value result(DType::Index, Shape{count});
  std::iota(result.as<int64_t>(), result.as<int64_t>() + count, int64_t(0));
  return result;
}

Value Evaluator::shapeOp(const sem::Expr &e) {
  if (e.op == Op::Cat) {
    std::vector<Value> parts;
    for (const auto &operand : e.operands)
      parts.push_back(value(*operand));
    const int axis = int(e.index);
    Shape shape = parts[0].shape;
    for (size_t p = 1; p < parts.size(); ++p) {
      Shape other = parts[p].shape;
      const bool sameRank = other.rank() == shape.rank();
      const int64_t extent = sameRank ? other[axis] : 0;
      if (sameRank)
        other[axis] = shape[axis];
      if (!(other == shape))
        fail(Fault::Arguments, "cat of " + toString(parts[0].shape) + " and " + toString(parts[p].shape),
             e.range, "all axes but the one joined must agree");
      shape[axis] += extent;
    }
    Value result(parts[0].dtype, shape);
    const int64_t outer = shape.product(0, axis), size = int64_t(result.elementSize());
    const int64_t rowBytes = shape.product(axis, shape.rank()) * size;
    int64_t done = 0;
    for (const Value &part : parts) {
      const int64_t bytes = part.shape.product(axis, part.shape.rank()) * size;
      for (int64_t o = 0; o < outer; ++o)
        std::memcpy(result.data() + o * rowBytes + done, part.data() + o * bytes, size_t(bytes));
      done += bytes;
    }
    return result;
  }
  Value from = value(*e.operands[0]);
  switch (e.op) {
  case Op::Broadcast:
    return broadcastTo(from, shapeOf(e, 1, from.count()), e.range);
  case Op::Reshape: {
    Shape shape = shapeOf(e, 1, from.count());
    if (shape.count() != from.count())
      fail(Fault::Arguments, "reshape of " + toString(from.shape) + " to " + toString(shape), e.range,
           "the number of elements must stay the same");
    return from.reshaped(shape);
  }
  case Op::Permute:
    return permute(from, e.ints);
  default: { // Extract
    Shape shape(e.type.shape);
    int64_t strides[Shape::maxRank], stride = 1, offset = 0;
    for (int a = from.shape.rank(); a-- > 0;) {
      const int64_t at = e.ints[size_t(a)];
      if (at < 0 || at + shape[a] > from.shape[a])
        fail(Fault::OutOfBounds, "extract reaches outside of " + toString(from.shape), e.range);
      strides[a] = stride;
      offset += at * stride;
      stride *= from.shape[a];
    }
    return gatherStrided(from, offset, shape, strides);
  }
  }
}

std::vector<Indexer> Evaluator::indexers(const std::vector<sem::IndexItem> &items) {
  std::vector<Indexer> result(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const sem::IndexItem &item = items[i];
    Indexer &indexer = result[i];
    indexer.range = item.range;
    switch (item.kind) {
    case sem::IndexItem::Point:
      indexer.kind = Indexer::Point;
      indexer.first = indexValue(*this, item.first);
      break;
    case sem::IndexItem::Span:
      indexer.kind = Indexer::Span;
      indexer.first = indexValue(*this, item.first);
      indexer.second = item.length;
      break;
    case sem::IndexItem::Gather:
      indexer.kind = Indexer::Gather;
      indexer.tile = std::make_shared<const Value>(value(*item.first));
      break;
    case sem::IndexItem::Bounds:
      indexer.kind = Indexer::Bounds;
      indexer.first = item.first ? indexValue(*this, item.first) : 0;
      indexer.hasSecond = item.second != nullptr;
      indexer.second = item.second ? indexValue(*this, item.second) : 0;
      indexer.isFixed = item.second && item.second->op == sem::Op::Const &&
                        (!item.first || item.first->op == sem::Op::Const);
      break;
    case sem::IndexItem::Whole:
      indexer.kind = Indexer::Whole;
      break;
    case sem::IndexItem::NewAxis:
      indexer.kind = Indexer::NewAxis;
      break;
    }
  }
  return result;
}

/// A value is indexed as a view on its own array; unlike a region it has no padding.
Value Evaluator::valueIndex(const sem::Expr &e) {
  Value from = value(*e.operands[0]);
  Memory memory;
  memory.name = "value";
  memory.data = from.data();
  memory.dtype = from.dtype;
  View whole;
  whole.memory = &memory;
  int64_t stride = 1;
  whole.axes.resize(size_t(from.shape.rank()));
  for (int a = from.shape.rank(); a-- > 0;) {
    whole.axes[size_t(a)] = {from.shape[a], stride, 0, from.shape[a], 0};
    stride *= from.shape[a];
  }
  std::vector<Indexer> items = indexers(e.items);
  size_t axis = 0;
  for (const Indexer &item : items) {
    if (item.kind == Indexer::NewAxis)
      continue;
    const int64_t extent = axis < whole.axes.size() ? whole.axes[axis].extent : 0;
    ++axis;
    const bool isSpan = item.kind == Indexer::Span;
    if (!isSpan && item.kind != Indexer::Bounds)
      continue;
    if (!isSpan && !item.isFixed)
      continue; // clamped as a view's
    const int64_t high = isSpan ? item.first + item.second : item.second;
    if (item.first < 0 || high > extent)
      fail(Fault::OutOfBounds,
           "range " + std::to_string(item.first) + " : " + std::to_string(high) +
               " is outside of an axis of extent " + std::to_string(extent),
           item.range);
  }
  View indexed = indexView(whole, items, e.range);
  return loadView(indexed, Value(from.dtype, Shape{}), nullptr, access(e));
}

} // namespace tilegym::interp
