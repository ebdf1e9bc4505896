// SPDX-License-Identifier: MIT
// Views: `.tile`, `.permute`, `.T`, indexing of tensors, and where a view's elements live.
#include "compiler/semantics/BodyChecker.h"
#include <algorithm>

namespace tilegym::sem {

std::optional<ViewRoot> BodyChecker::rootOf(const Expr *view) const {
  while (view) {
    switch (view->op) {
    case Op::Tensor:
    case Op::ListElement:
      return ViewRoot{view->isKernelParam, view->index};
    case Op::ViewIndex:
    case Op::ViewTile:
    case Op::ViewPermute:
      view = view->operands[0].get();
      break;
    case Op::Local: {
      auto it = letValues.find(view->index);
      view = it == letValues.end() ? nullptr : it->second.get();
      break;
    }
    default:
      return std::nullopt;
    }
  }
  return std::nullopt;
}

Value BodyChecker::checkIndex(const ast::Index &e) {
  Value base = check(e.base.get());
  auto onlyItem = [&](const char *what) -> const ast::Expr * {
    if (e.items.size() == 1 && e.items[0].kind == ast::IndexItem::Value && e.items[0].first)
      return e.items[0].first.get();
    error(e.range, std::string(what) + " takes one integer in brackets");
    return nullptr;
  };
  switch (base.kind) {
  case Value::ElementDim: {
    const ast::Expr *item = onlyItem("a dim of list elements");
    Operand element = item ? ops.requireIndex(checkValue(item, "the number of a list element"),
                                              "the number of a list element")
                           : Operand();
    if (!element)
      return {};
    auto expr = make(Op::ListDim, scalarType(DType::Index), {element.expr}, e.range);
    expr->index = base.id;
    return Operand{expr};
  }
  case Value::ListTensor: {
    const ast::Expr *item = onlyItem("a list");
    Operand element = item ? ops.requireIndex(checkValue(item, "the number of a list element"),
                                              "the number of a list element")
                           : Operand();
    if (!element)
      return {};
    Type type = tensorType(base.id);
    type.kind = Type::View;
    auto expr = make(Op::ListElement, type, {element.expr}, e.range);
    expr->index = base.id;
    return Operand{expr};
  }
  case Value::Tuple: {
    const ast::Expr *item = onlyItem("a tuple");
    auto number = item ? checkConstInt(item, "the number of a tuple's element") : std::nullopt;
    if (!number)
      return {};
    if (*number < 0 || *number >= int64_t(base.elements.size())) {
      error(item->range, "a tuple of " + std::to_string(base.elements.size()) + " has no element " +
                             std::to_string(*number));
      return {};
    }
    return base.elements[size_t(*number)];
  }
  case Value::Data:
    break;
  default:
    asValue(base, e.base->range, "an index");
    return {};
  }
  auto isNone = [&](const ast::IndexItem &item) {
    const auto *name =
        item.kind == ast::IndexItem::Value ? ast::dynCast<ast::Name>(item.first.get()) : nullptr;
    return name && name->name == "None";
  };
  if (base.data.type().kind == Type::View) {
    if (!base.data.type().tileSizes.empty())
      return indexTiled(base.data, e);
    bool addsAxis = std::any_of(e.items.begin(), e.items.end(), isNone);
    if (!addsAxis)
      return indexView(base.data, e);
    if (!inReference()) {
      error(e.range, "`None` adds an axis to a value, not to a tensor",
            "load first, then index the tile: load(...)[:, None]");
      return {};
    }
    return indexValue(readView(base.data, e.base->range), e);
  }
  if (!base.data.type().isTile()) {
    asValue(base, e.base->range, "an index");
    return {};
  }
  return inReference() ? indexValue(base.data, e) : indexKernelValue(base.data, e);
}

Value BodyChecker::indexTiled(Operand view, const ast::Index &e) {
  const Type &base = view.type();
  if (e.items.size() != base.shape.size()) {
    error(e.range, "a view of rank " + std::to_string(base.rank()) +
                       " cut into tiles takes as many integers, found " + std::to_string(e.items.size()));
    return {};
  }
  auto expr = make(Op::ViewIndex, base, {view.expr}, e.range);
  expr->type.shape = base.tileSizes;
  expr->type.tileSizes.clear();
  for (const ast::IndexItem &item : e.items) {
    if (item.kind != ast::IndexItem::Value) {
      error(item.range, "a view cut into tiles is indexed by whole tiles",
            "give an integer an axis: x.tile(BM, BN)[i, k]");
      return {};
    }
    Operand index =
        ops.requireIndex(checkValue(item.first.get(), "the number of a tile"), "the number of a tile");
    if (!index)
      return {};
    if (index.constant() && index.constant()->asInt() < 0) {
      error(item.range, "tile " + std::to_string(index.constant()->asInt()) + " does not exist",
            "tiles count from 0");
      return {};
    }
    IndexItem made;
    made.kind = IndexItem::Point;
    made.first = index.expr;
    made.range = item.range;
    expr->items.push_back(made);
  }
  return Operand{expr};
}

Value BodyChecker::indexView(Operand view, const ast::Index &e) {
  std::vector<IndexItem> items;
  auto type = indexedType(view.type(), e, true, items);
  if (!type)
    return {};
  auto expr = make(Op::ViewIndex, *type, {view.expr}, e.range);
  expr->items = std::move(items);
  return Operand{expr};
}

Value BodyChecker::tileView(Operand view, const ast::Call &e) {
  const Type &base = view.type();
  if (!base.tileSizes.empty()) {
    error(e.range, "this view is cut into tiles already", "index it first: x.tile(BM, BN)[i, k]");
    return {};
  }
  if (int64_t(e.args.size()) != base.rank()) {
    error(e.range,
          "`.tile` takes a size for each of " + std::to_string(base.rank()) + " axes, found " +
              std::to_string(e.args.size()),
          base.rank() > 0
              ? "a size of 1 keeps an axis of extent 1; index before to drop axes: x[b, h].tile(BM, D)"
              : "");
    return {};
  }
  auto expr = make(Op::ViewTile, base, {view.expr}, e.range);
  for (const ast::Arg &arg : e.args) {
    if (!arg.name.empty()) {
      error(arg.nameRange, "`.tile` takes its sizes by position");
      return {};
    }
    auto size = checkConstInt(arg.value.get(), "a tile size");
    if (!size)
      return {};
    if (ShapeFault fault = checkTileShape({*size}); !fault.message.empty()) {
      shapeError(arg.value->range, fault);
      return {};
    }
    expr->ints.push_back(*size);
  }
  expr->type.tileSizes = expr->ints;
  return Operand{expr};
}

std::optional<std::vector<int64_t>> BodyChecker::permutation(const std::vector<const ast::Expr *> &axes,
                                                             int64_t rank, SourceRange range) {
  std::vector<int64_t> order;
  for (const ast::Expr *axis : axes) {
    auto ints = checkConstInts(axis, "an axis of `permute`");
    if (!ints)
      return std::nullopt;
    order.insert(order.end(), ints->begin(), ints->end());
  }
  std::vector<bool> seen(size_t(rank), false);
  bool good = int64_t(order.size()) == rank;
  for (int64_t &axis : order) {
    axis = axis < 0 ? axis + rank : axis;
    good = good && axis >= 0 && axis < rank && !seen[size_t(axis)];
    if (good)
      seen[size_t(axis)] = true;
  }
  if (good)
    return order;
  error(range, "`permute` takes each of the " + std::to_string(rank) + " axes once");
  return std::nullopt;
}

Value BodyChecker::permuteMember(const Value &base, const ast::Call &e) {
  std::vector<const ast::Expr *> axes;
  for (const ast::Arg &arg : e.args) {
    if (!arg.name.empty()) {
      error(arg.nameRange, "`.permute` takes its axes by position");
      return {};
    }
    axes.push_back(arg.value.get());
  }
  if (base.kind != Value::Data) {
    asValue(base, e.callee->range, "`.permute`");
    return {};
  }
  auto order = permutation(axes, base.data.type().rank(), e.range);
  if (!order)
    return {};
  if (base.data.type().kind == Type::View)
    return permuteView(base.data, *order, e.range);
  return permuteValue(base.data, *order, e.range);
}

Operand BodyChecker::permuteView(Operand view, std::vector<int64_t> axes, SourceRange range) {
  if (!view.type().tileSizes.empty()) {
    error(range, "a view cut into tiles does not permute", "permute before .tile(...), or after the index");
    return {};
  }
  auto expr = make(Op::ViewPermute, view.type(), {view.expr}, range);
  for (size_t i = 0; i < axes.size(); ++i)
    expr->type.shape[i] = view.type().shape[size_t(axes[i])];
  expr->ints = std::move(axes);
  return {expr};
}

/// In a reference a tensor, or a part of one, is read where a value is needed.
Operand BodyChecker::readView(Operand view, SourceRange range) {
  const Type &type = view.type();
  if (!type.tileSizes.empty()) {
    error(range, "this view is cut into tiles but not indexed", "take one tile: x.tile(BM, BN)[i, k]");
    return {};
  }
  auto root = rootOf(view.expr.get());
  if (root && !root->isKernelParam && size_t(root->id) < spec.present.size() &&
      !spec.present[size_t(root->id)]) {
    error(range,
          "the optional output " + quoted(op.tensors[size_t(root->id)].name) +
              " is read where it may be absent",
          "keep what is read in a let");
    return {};
  }
  DType dtype = type.dtype;
  Constant zero = isFloat(dtype) ? Constant{0.0} : isBool(dtype) ? Constant{false} : Constant{int64_t(0)};
  Operand value{
      make(Op::Load, tileType(dtype, type.shape), {view.expr, makeConst(dtype, zero, range)}, range)};
  // What the body writes must be read now, not where the value is used.
  bool readOnly = root && !root->isKernelParam && op.tensors[size_t(root->id)].role == Role::Input;
  return readOnly ? value : bind(value, "read", range, true);
}

} // namespace tilegym::sem
