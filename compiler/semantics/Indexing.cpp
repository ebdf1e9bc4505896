// SPDX-License-Identifier: MIT
// What the items of an index mean and what shape they leave: the rules that tensors and values share.
#include "compiler/semantics/BodyChecker.h"

namespace tilegym::sem {

/// The shape after an index, as its items come in. Gathers broadcast together and stand where the first of them was.
namespace {
struct ShapeBuilder {
  std::vector<int64_t> shape;
  std::vector<int64_t> gathered;
  int64_t gatherAt = -1;
  bool gatherClosed = false;

  void keep(int64_t extent) {
    shape.push_back(extent);
    gatherClosed = gatherAt >= 0;
  }
  std::vector<int64_t> finish() {
    if (gatherAt >= 0)
      shape.insert(shape.begin() + gatherAt, gathered.begin(), gathered.end());
    return shape;
  }
};
} // namespace

std::optional<Type> BodyChecker::indexedType(const Type &base, const ast::Index &e, bool isView,
                                             std::vector<IndexItem> &items) {
  ShapeBuilder built;
  size_t axis = 0, rank = base.shape.size(), used = 0;
  auto isNone = [](const ast::IndexItem &item) {
    const auto *name =
        item.kind == ast::IndexItem::Value ? ast::dynCast<ast::Name>(item.first.get()) : nullptr;
    return name && name->name == "None";
  };
  for (const ast::IndexItem &item : e.items)
    used += !isNone(item);
  if (used > rank) {
    error(e.range, "an index of " + std::to_string(used) + " axes on " + toString(base) + ", which has " +
                       std::to_string(rank));
    return std::nullopt;
  }
  auto position = [&](const ast::Expr *expr, const char *what) -> Operand {
    Operand x = ops.requireIndex(checkValue(expr, what), what);
    if (x && x.constant() && x.constant()->asInt() < 0) {
      error(expr->range,
            std::string(what) + " is " + std::to_string(x.constant()->asInt()) +
                ", which is outside of the axis",
            "count from the front: write N - 1 for the last of N");
      return {};
    }
    return x;
  };
  for (const ast::IndexItem &item : e.items) {
    IndexItem made;
    made.range = item.range;
    if (isNone(item)) {
      made.kind = IndexItem::NewAxis;
      items.push_back(made);
      built.keep(1);
      continue;
    }
    int64_t extent = base.shape[axis++];
    switch (item.kind) {
    case ast::IndexItem::Whole:
      made.kind = IndexItem::Whole;
      built.keep(extent);
      break;
    case ast::IndexItem::Bounds: {
      made.kind = IndexItem::Bounds;
      Operand lo, hi;
      if (item.first && !(lo = position(item.first.get(), "the start of the range")))
        return std::nullopt;
      if (item.second && !(hi = position(item.second.get(), "the end of the range")))
        return std::nullopt;
      made.first = lo.expr;
      made.second = hi.expr;
      int64_t from = !lo             ? 0
                     : lo.constant() ? lo.constant()->asInt()
                                     : kDynamic,
              to = !hi             ? extent
                   : hi.constant() ? hi.constant()->asInt()
                                   : kDynamic;
      if (from != kDynamic && to != kDynamic && from > to) {
        error(item.range, "the range ends before it begins");
        return std::nullopt;
      }
      if (to != kDynamic && extent != kDynamic && to > extent) {
        error(item.range, "the range ends at " + std::to_string(to) + ", beyond the axis of extent " +
                              std::to_string(extent));
        return std::nullopt;
      }
      built.keep(from == kDynamic || to == kDynamic ? kDynamic : to - from);
      break;
    }
    case ast::IndexItem::Span: {
      Operand start = position(item.first.get(), "the start of the range");
      Operand length = ops.requireIndex(checkValue(item.second.get(), "the length of the range"),
                                        "the length of the range");
      if (!start || !length)
        return std::nullopt;
      if (const Constant *c = length.constant()) {
        if (c->asInt() <= 0) {
          error(item.second->range,
                "the length of the range is " + std::to_string(c->asInt()) + ", expected a positive one");
          return std::nullopt;
        }
        if (inKernel())
          if (ShapeFault fault = checkTileShape({c->asInt()}); !fault.message.empty()) {
            shapeError(item.second->range, fault);
            return std::nullopt;
          }
        made.kind = IndexItem::Span;
        made.first = start.expr;
        made.length = c->asInt();
        built.keep(made.length);
        break;
      }
      if (!inReference()) {
        error(item.second->range, "the length of the range is a run-time value",
              "lengths are compile-time: a tile parameter, or a dim with listed values; a bounded view is "
              "written lo : hi");
        return std::nullopt;
      }
      made.kind = IndexItem::Bounds;
      made.first = start.expr;
      made.second = ops.binary(ast::BinaryOp::Add, start, length, item.range).expr;
      built.keep(kDynamic);
      break;
    }
    case ast::IndexItem::Value: {
      Operand index = checkValue(item.first.get(), "an index");
      if (!index)
        return std::nullopt;
      if (!isInt(index.dtype())) {
        error(item.range, "an index must be an integer, found " + toString(index.type()),
              isBool(index.dtype()) ? "use select(mask, a, b), or mask= of load and store"
                                    : "convert it: index(x)");
        return std::nullopt;
      }
      if (index.type().isScalar()) {
        made.kind = IndexItem::Point;
        made.first = ops.requireIndex(index, "an index").expr;
        if (!made.first)
          return std::nullopt;
        if (made.first->op == Op::Const) {
          int64_t at = made.first->constant.asInt();
          if (at < 0 || (extent != kDynamic && at >= extent)) {
            error(item.range,
                  "index " + std::to_string(at) + " is outside of " +
                      (extent == kDynamic ? "the axis" : "an axis of extent " + std::to_string(extent)),
                  at < 0 ? "count from the front: write N - 1 for the last of N" : "");
            return std::nullopt;
          }
        }
        break;
      }
      made.kind = IndexItem::Gather;
      if (built.gatherClosed) {
        error(item.range, "integer tiles must index adjacent axes",
              "move the axes together first: x.permute(...)");
        return std::nullopt;
      }
      auto joint = built.gatherAt < 0 ? std::optional(index.type().shape)
                                      : Operators::broadcastShapes(built.gathered, index.type().shape);
      if (!joint) {
        error(item.range, "integer tiles of shapes " + shapeText(built.gathered) + " and " +
                              shapeText(index.type().shape) + " do not broadcast");
        return std::nullopt;
      }
      built.gathered = *joint;
      if (built.gatherAt < 0)
        built.gatherAt = int64_t(built.shape.size());
      made.first = ops.convert(index, DType::Index, item.range).expr;
      break;
    }
    }
    items.push_back(made);
  }
  // Trailing axes left out are whole.
  for (; axis < rank; ++axis) {
    IndexItem made;
    made.range = e.range;
    items.push_back(made);
    built.keep(base.shape[axis]);
  }
  Type type = base;
  type.kind = isView ? Type::View : Type::Tile;
  type.shape = built.finish();
  if (type.rank() > kMaxRank) {
    error(e.range,
          "the index leaves " + std::to_string(type.rank()) + " axes, more than " + std::to_string(kMaxRank));
    return std::nullopt;
  }
  return type;
}

Value BodyChecker::indexValue(Operand value, const ast::Index &e) {
  value = ops.settle(value);
  if (!value)
    return {};
  std::vector<IndexItem> items;
  auto type = indexedType(value.type(), e, false, items);
  if (!type)
    return {};
  auto expr = make(Op::ValueIndex, *type, {value.expr}, e.range);
  expr->items = std::move(items);
  return Operand{expr};
}

/// In a kernel a tile lives in registers: it is cut only at compile-time places, and `None` adds axes.
Value BodyChecker::indexKernelValue(Operand value, const ast::Index &e) {
  value = ops.settle(value);
  if (!value)
    return {};
  std::vector<IndexItem> items;
  auto type = indexedType(value.type(), e, false, items);
  if (!type)
    return {};
  std::vector<int64_t> offsets, sizes;
  size_t axis = 0;
  bool cuts = false;
  for (const IndexItem &item : items) {
    if (item.kind == IndexItem::NewAxis)
      continue;
    int64_t extent = value.type().shape[axis++], from = 0, size = extent;
    auto known = [](const ExprPtr &x) { return !x || x->op == Op::Const; };
    if (item.kind == IndexItem::Gather || !known(item.first) || !known(item.second)) {
      error(item.range, "a tile is not indexed by run-time values",
            "load what is needed from memory, or pick with select and a reduction");
      return {};
    }
    if (item.kind != IndexItem::Whole)
      from = item.first ? item.first->constant.asInt() : 0;
    if (item.kind == IndexItem::Point)
      size = 1;
    else if (item.kind == IndexItem::Span)
      size = item.length;
    else if (item.kind == IndexItem::Bounds)
      size = (item.second ? item.second->constant.asInt() : extent) - from;
    if (size <= 0 || from > extent - size) {
      error(item.range, "the index leaves " + toString(value.type()));
      return {};
    }
    cuts = cuts || size != extent;
    offsets.push_back(from);
    sizes.push_back(size);
  }
  if (cuts) {
    // The part is a tile of its own before axes are dropped, so it obeys the rule too.
    if (ShapeFault fault = checkTileShape(sizes); !fault.message.empty()) {
      shapeError(e.range, fault);
      return {};
    }
    auto part = make(Op::Extract, tileType(value.dtype(), sizes), {value.expr}, e.range);
    part->ints = offsets;
    value = {part};
  }
  return reshapeTo(value, type->shape, e.range);
}

} // namespace tilegym::sem
