// SPDX-License-Identifier: MIT
// Builtins that make, reshape, join and cut tiles. In a reference extents may be run-time values, which then travel as operands.
#include "compiler/semantics/BodyChecker.h"
#include <numeric>

namespace tilegym::sem {

/// The product of the extents; kDynamic where one is, or where it leaves 64 bits.
static int64_t elementsOf(const std::vector<int64_t> &shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    if (extent == kDynamic || __builtin_mul_overflow(elements, extent, &elements))
      return kDynamic;
  return elements;
}

Value BodyChecker::shapeOp(Builtin id, const BoundArguments &args, SourceRange range) {
  switch (id) {
  case Builtin::full_: {
    Operand value = checkScalar(args.values[0], "the value of `full`");
    auto dtype = checkDType(args.values[1], "the dtype of `full`");
    auto shape = checkShape(args.values[2], "the shape of `full`");
    if (!value || !dtype || !shape)
      return {};
    return filled(ops.require(value, *dtype, "the value of `full`"), *shape, range);
  }
  case Builtin::zeros_: {
    auto dtype = checkDType(args.values[0], "the dtype of `zeros`");
    auto shape = checkShape(args.values[1], "the shape of `zeros`");
    if (!dtype || !shape)
      return {};
    Constant zero = isFloat(*dtype) ? Constant{0.0} : isBool(*dtype) ? Constant{false} : Constant{int64_t(0)};
    return filled({makeConst(*dtype, zero, range)}, *shape, range);
  }
  case Builtin::iota_: {
    auto shape = checkShape(args.values[0], "the extent of `iota`");
    if (!shape)
      return {};
    if (shape->extents.size() != 1) {
      error(args.values[0]->range, "`iota` takes one extent", "add axes by indexing: iota(n)[:, None]");
      return {};
    }
    return Operand{make(Op::Iota, tileType(DType::Index, shape->extents), shape->operands, range)};
  }
  case Builtin::reshape_:
    return reshapeOp(ops.settle(checkValue(args.values[0], "`reshape`")), args.values[1], range);
  case Builtin::permute_: {
    Value base = check(args.values[0]);
    if (base.kind == Value::Data && base.data.type().kind == Type::View && !inReference()) {
      auto axes = permutation(args.variadic, base.data.type().rank(), range);
      return axes ? Value(permuteView(base.data, *axes, range)) : Value();
    }
    Operand x = base ? asValue(base, args.values[0]->range, "`permute`") : Operand();
    auto axes = x ? permutation(args.variadic, x.type().rank(), range) : std::nullopt;
    return axes ? permuteValue(x, *axes, range) : Value();
  }
  case Builtin::broadcast_: {
    Operand x = ops.settle(checkValue(args.values[0], "`broadcast`"));
    auto shape = checkShape(args.values[1], "the shape of `broadcast`");
    if (!x || !shape)
      return {};
    auto joint = Operators::broadcastShapes(x.type().shape, shape->extents);
    if (!joint || joint->size() != shape->extents.size() || (!inReference() && *joint != shape->extents)) {
      error(range, toString(x.type()) + " does not broadcast to " + shapeText(shape->extents),
            "extents must be equal or 1, counted from the last axis");
      return {};
    }
    return filled(x, *shape, range);
  }
  case Builtin::cat_:
    return catOp(args, range);
  case Builtin::split_:
    return splitOp(args, range);
  default:
    return extractOp(args, range);
  }
}

/// A value repeated up to a shape.
Value BodyChecker::filled(Operand value, const ShapeArgument &shape, SourceRange range) {
  if (!value)
    return {};
  if (value.type().shape == shape.extents && shape.operands.empty())
    return value;
  std::vector<ExprPtr> operands = {value.expr};
  operands.insert(operands.end(), shape.operands.begin(), shape.operands.end());
  return Operand{make(Op::Broadcast, tileType(value.dtype(), shape.extents), std::move(operands), range)};
}

Operand BodyChecker::reshapeTo(Operand x, std::vector<int64_t> shape, SourceRange range) {
  if (!x || x.type().shape == shape)
    return x;
  return {make(Op::Reshape, tileType(x.dtype(), std::move(shape)), {x.expr}, range)};
}

Value BodyChecker::reshapeOp(Operand x, const ast::Expr *shapeExpr, SourceRange range) {
  auto shape = checkShape(shapeExpr, "the shape of `reshape`", true);
  if (!x || !shape)
    return {};
  int64_t elements = elementsOf(x.type().shape), known = 1;
  int64_t *open = nullptr;
  // A dynamic extent and an inferred one look alike in the type, so -1 is counted on what was written.
  for (size_t i = 0; i < shape->extents.size(); ++i) {
    int64_t &extent = shape->extents[i];
    bool inferred = extent == -1 && (shape->operands.empty() || shape->operands[i]->op == Op::Const);
    if (inferred) {
      if (open) {
        error(shapeExpr->range, "`reshape` infers at most one extent (-1)");
        return {};
      }
      open = &extent;
    } else if (extent == kDynamic) {
      known = kDynamic;
    } else if (known != kDynamic && __builtin_mul_overflow(known, extent, &known)) {
      error(shapeExpr->range, "the shape has too many elements");
      return {};
    }
  }
  std::string from = toString(x.type());
  if (open && known != kDynamic && elements != kDynamic) {
    if (known == 0 || elements % known != 0) {
      error(range, "`reshape` of " + from + ": its " + std::to_string(elements) +
                       " elements are no multiple of " + std::to_string(known));
      return {};
    }
    *open = elements / known;
  } else if (open) {
    // Only the interpreter knows what is left.
    if (shape->operands.empty())
      for (int64_t extent : shape->extents)
        shape->operands.push_back(makeConst(DType::Index, Constant{extent}, shapeExpr->range));
  } else if (known != kDynamic && elements != kDynamic && known != elements) {
    error(range, "`reshape` of " + from + " to " + shapeText(shape->extents) + ": " +
                     std::to_string(elements) + " elements, expected " + std::to_string(known));
    return {};
  }
  if (shape->operands.empty())
    return reshapeTo(x, shape->extents, range);
  std::vector<ExprPtr> operands = {x.expr};
  operands.insert(operands.end(), shape->operands.begin(), shape->operands.end());
  return Operand{make(Op::Reshape, tileType(x.dtype(), shape->extents), std::move(operands), range)};
}

Value BodyChecker::permuteValue(Operand x, const std::vector<int64_t> &axes, SourceRange range) {
  if (!x)
    return {};
  std::vector<int64_t> shape;
  for (int64_t axis : axes)
    shape.push_back(x.type().shape[size_t(axis)]);
  auto expr = make(Op::Permute, tileType(x.dtype(), shape), {x.expr}, range);
  expr->ints = axes;
  return Operand{expr};
}

Value BodyChecker::catOp(const BoundArguments &args, SourceRange range) {
  std::vector<Operand> parts;
  std::vector<const ast::Expr *> sources = args.variadic;
  for (const ast::Expr *source : sources) {
    Value value = check(source);
    // cat((a, b)) and cat(a, b) are the same.
    std::vector<Value> elements = value.kind == Value::Tuple ? value.elements : std::vector<Value>{value};
    for (const Value &element : elements)
      if (parts.emplace_back(asValue(element, source->range, "`cat`")); !parts.back())
        return {};
  }
  if (parts.empty()) {
    error(range, "`cat` joins at least one tile");
    return {};
  }
  if (!args.values[1]) {
    error(range, "`cat` lacks its argument `axis`", "write cat(a, b, axis=0)");
    return {};
  }
  std::vector<Operand *> pointers;
  for (Operand &part : parts)
    pointers.push_back(&part);
  if (!ops.unifyDTypes(pointers, "`cat`", range))
    return {};
  std::vector<int64_t> shape = parts[0].type().shape;
  auto axis = checkAxis(args.values[1], int64_t(shape.size()), "`cat`");
  if (!axis)
    return {};
  std::vector<ExprPtr> operands;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::vector<int64_t> &other = parts[i].type().shape;
    bool fits = other.size() == shape.size();
    for (size_t a = 0; fits && a < shape.size(); ++a) {
      if (int64_t(a) == *axis) {
        if (i > 0)
          shape[a] = shape[a] == kDynamic || other[a] == kDynamic ? kDynamic : shape[a] + other[a];
      } else if (shape[a] == kDynamic) {
        shape[a] = other[a];
      } else {
        fits = other[a] == kDynamic || other[a] == shape[a];
      }
    }
    if (!fits) {
      error(range, "`cat` of " + toString(parts[0].type()) + " and " + toString(parts[i].type()) +
                       " along axis " + std::to_string(*axis) + ": the other extents differ");
      return {};
    }
    operands.push_back(parts[i].expr);
  }
  if (operands.size() == 1)
    return parts[0];
  auto expr = make(Op::Cat, tileType(parts[0].dtype(), shape), std::move(operands), range);
  expr->index = *axis;
  return Operand{expr};
}

Value BodyChecker::splitOp(const BoundArguments &args, SourceRange range) {
  Operand x = bind(checkValue(args.values[0], "`split`"), "whole", range);
  auto parts = checkConstInt(args.values[1], "the number of parts");
  if (!x || !parts)
    return {};
  if (x.type().shape.empty()) {
    error(range, "`split` of a scalar");
    return {};
  }
  auto axis = args.values[2] ? checkAxis(args.values[2], x.type().rank(), "`split`")
                             : std::optional<int64_t>(x.type().rank() - 1);
  if (!axis)
    return {};
  int64_t extent = x.type().shape[size_t(*axis)];
  if (extent == kDynamic) {
    error(range, "`split` of an axis whose extent is not known at compile time",
          "cut it by indexing: x[:, 0 : n], x[:, n : 2*n]");
    return {};
  }
  if (*parts <= 0 || *parts > 64 || extent % *parts != 0) {
    error(args.values[1]->range, "an axis of " + std::to_string(extent) + " does not split into " +
                                     std::to_string(*parts) + " equal parts");
    return {};
  }
  std::vector<int64_t> shape = x.type().shape;
  shape[size_t(*axis)] = extent / *parts;
  if (ShapeFault fault = inKernel() ? checkTileShape(shape) : ShapeFault(); !fault.message.empty()) {
    shapeError(range, fault);
    return {};
  }
  std::vector<Value> elements;
  for (int64_t i = 0; i < *parts; ++i) {
    auto part = make(Op::Extract, tileType(x.dtype(), shape), {x.expr}, range);
    part->ints.assign(shape.size(), 0);
    part->ints[size_t(*axis)] = i * shape[size_t(*axis)];
    elements.push_back(Operand{part});
  }
  return Value::tuple(std::move(elements));
}

Value BodyChecker::extractOp(const BoundArguments &args, SourceRange range) {
  Operand x = checkValue(args.values[0], "`extract`");
  auto offsets = checkConstInts(args.values[1], "the offsets of `extract`"),
       shape = checkConstInts(args.values[2], "the shape of `extract`");
  if (!x || !offsets || !shape)
    return {};
  size_t rank = x.type().shape.size();
  if (offsets->size() != rank || shape->size() != rank) {
    error(range, "`extract` of " + toString(x.type()) + " takes " + std::to_string(rank) +
                     " offsets and extents, found " + std::to_string(offsets->size()) + " and " +
                     std::to_string(shape->size()));
    return {};
  }
  for (size_t i = 0; i < rank; ++i) {
    int64_t extent = x.type().shape[i], offset = (*offsets)[i], size = (*shape)[i];
    if (offset < 0 || size <= 0 || (extent != kDynamic && (offset > extent || size > extent - offset))) {
      error(range, "`extract` leaves " + toString(x.type()) + " on axis " + std::to_string(i) + ": offset " +
                       std::to_string(offset) + ", extent " + std::to_string(size));
      return {};
    }
  }
  auto expr = make(Op::Extract, tileType(x.dtype(), *shape), {x.expr}, range);
  expr->ints = *offsets;
  return Operand{expr};
}

} // namespace tilegym::sem
