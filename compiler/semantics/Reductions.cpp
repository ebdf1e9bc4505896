// SPDX-License-Identifier: MIT
// Reductions, scans, sorts: axes, accumulator dtypes, combiners.
#include "compiler/semantics/BodyChecker.h"
#include <algorithm>

namespace tilegym::sem {

Value BodyChecker::reduction(const BuiltinInfo &info, const BoundArguments &args, SourceRange range) {
  std::string what = quoted(info.name);
  Op operation = info.operation == Op::Max   ? Op::ReduceMax
                 : info.operation == Op::Min ? Op::ReduceMin
                                             : info.operation;
  Operand x = checkValue(args.values[0], what);
  if (!x || !hasArithmetic(x, what, args.values[0]->range))
    return {};
  DType dtype = x.dtype();
  if (x.type().shape.empty()) {
    error(range, what + " reduces a tile, found the scalar " + toString(x.type()),
          info.family == Family::MinMax ? "of two values it gives the one: " + info.name + "(a, b)" : "");
    return {};
  }
  bool logical = operation == Op::Any || operation == Op::All;
  bool arg = operation == Op::ArgMax || operation == Op::ArgMin;
  if (logical != isBool(dtype)) {
    error(args.values[0]->range,
          what + " needs " + (logical ? "bool" : "numbers") + ", found " + toString(x.type()),
          logical ? "compare first: " + info.name + "(x != 0)"
                  : "count with sum(i32(x)), or use any and all");
    return {};
  }
  // The positions of axis and acc differ between rows of the table, their names do not.
  const ast::Expr *axisExpr = nullptr, *accExpr = nullptr;
  for (size_t i = 0; i < info.arguments.size(); ++i) {
    if (info.arguments[i].name == "axis")
      axisExpr = args.values[i];
    if (info.arguments[i].name == "acc")
      accExpr = args.values[i];
  }
  DType acc = dtype;
  if (accExpr) {
    auto named = checkDType(accExpr, "`acc`");
    if (!named)
      return {};
    if (isFloat(*named) != isFloat(dtype) || isBool(*named) || isUnsigned(*named) != isUnsigned(dtype) ||
        sizeInBytes(*named) < sizeInBytes(dtype)) {
      error(accExpr->range,
            what + " of " + std::string(name(dtype)) + " cannot accumulate in " + std::string(name(*named)),
            "name a dtype of the same kind and at least as wide, or convert x first");
      return {};
    }
    acc = *named;
  }
  int64_t rank = x.type().rank();
  std::vector<int64_t> axes;
  bool whole = !axisExpr;
  if (whole) {
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  } else {
    auto listed = checkConstInts(axisExpr, "`axis`");
    if (!listed)
      return {};
    for (int64_t axis : *listed) {
      if (axis < -rank || axis >= rank) {
        error(axisExpr->range,
              what + " has no axis " + std::to_string(axis) + ": its rank is " + std::to_string(rank));
        return {};
      }
      axes.push_back(axis < 0 ? axis + rank : axis);
    }
    std::sort(axes.begin(), axes.end());
    if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
      error(axisExpr->range, "an axis is named twice");
      return {};
    }
    if (arg && axes.size() != 1) {
      error(axisExpr->range, what + " takes one axis");
      return {};
    }
  }
  std::vector<int64_t> shape;
  if (!whole) {
    shape = x.type().shape;
    for (int64_t axis : axes)
      shape[size_t(axis)] = 1;
  }
  DType result = arg ? DType::Index : logical ? DType::Bool : acc;
  auto expr = make(operation, tileType(result, shape), {x.expr}, range);
  expr->ints = axes;
  expr->wholeTile = whole;
  expr->accType = acc;
  return Operand{expr};
}

std::optional<int64_t> BodyChecker::scanAxis(const ast::Expr *axis, const Operand &x, std::string_view what,
                                             SourceRange range) {
  int64_t rank = x.type().rank();
  if (rank == 0) {
    error(range, std::string(what) + " needs a tile, found the scalar " + toString(x.type()));
    return std::nullopt;
  }
  if (axis)
    return checkAxis(axis, rank, what);
  if (rank == 1)
    return 0;
  error(range, std::string(what) + " of rank " + std::to_string(rank) + " needs an axis",
        "write axis=...; only at rank 1 may it be left out");
  return std::nullopt;
}

Value BodyChecker::combineOp(const BuiltinInfo &info, const BoundArguments &args, SourceRange range) {
  if (info.id == Builtin::reduce_ || info.id == Builtin::scan_)
    return customReduction(info.id == Builtin::scan_, args, range);
  std::string what = quoted(info.name);
  Operand x = checkValue(args.values[0], what);
  if (!x || !hasArithmetic(x, what, args.values[0]->range))
    return {};
  if (isBool(x.dtype())) {
    error(args.values[0]->range, what + " needs numbers, found " + toString(x.type()), "convert it: i32(x)");
    return {};
  }
  bool reverse = false;
  if (info.id == Builtin::cumsum_ || info.id == Builtin::sort_) {
    if (args.values[2]) {
      auto value = checkConstBool(args.values[2], "`reverse`");
      if (!value)
        return {};
      reverse = *value;
    }
    auto axis = scanAxis(args.values[1], x, what, range);
    if (!axis)
      return {};
    auto expr = make(info.operation, x.type(), {x.expr}, range);
    expr->index = *axis;
    expr->reverse = reverse;
    expr->accType = x.dtype();
    return Operand{expr};
  }
  if (info.id == Builtin::topk_) {
    auto k = checkConstInt(args.values[1], "`k`");
    auto axis = scanAxis(args.values[2], x, what, range);
    if (!k || !axis)
      return {};
    int64_t extent = x.type().shape[size_t(*axis)];
    if (*k < 1 || (extent != kDynamic && *k > extent)) {
      error(args.values[1]->range, "`topk` takes " + std::to_string(*k) + " of " +
                                       (extent == kDynamic ? "an axis" : std::to_string(extent)));
      return {};
    }
    Type values = x.type();
    values.shape[size_t(*axis)] = *k;
    if (ShapeFault fault = inKernel() ? checkTileShape(values.shape) : ShapeFault(); !fault.message.empty()) {
      shapeError(args.values[1]->range, fault);
      return {};
    }
    Type pair;
    pair.kind = Type::Tuple;
    pair.elements = {values, tileType(DType::Index, values.shape)};
    auto expr = make(Op::TopK, pair, {x.expr}, range);
    expr->index = *axis;
    expr->ints = {*k};
    return tupleResult(expr, "topk");
  }
  auto bins = checkConstInt(args.values[1], "`bins`");
  if (!bins)
    return {};
  if (!isInt(x.dtype())) {
    error(args.values[0]->range, "`histogram` needs integers, found " + toString(x.type()),
          "convert it: i32(x)");
    return {};
  }
  if (*bins < 1 || *bins > kMaxTileElements) {
    error(args.values[1]->range, "`histogram` has " + std::to_string(*bins) + " bins, expected 1 to " +
                                     std::to_string(kMaxTileElements));
    return {};
  }
  auto expr = make(Op::Histogram, tileType(DType::I32, {*bins}), {x.expr}, range);
  expr->ints = {*bins};
  return Operand{expr};
}

/// reduce and scan: one tile or a tuple of them, an init for each, and a named fn(accumulators..., elements...).
Value BodyChecker::customReduction(bool isScan, const BoundArguments &args, SourceRange range) {
  std::string what = isScan ? "`scan`" : "`reduce`";
  auto operandsOf = [&](const ast::Expr *e, std::string_view role, std::vector<Operand> &out) {
    Value value = check(e);
    std::vector<Value> elements = value.kind == Value::Tuple ? value.elements : std::vector<Value>{value};
    for (const Value &element : elements)
      if (out.emplace_back(asValue(element, e->range, role)); !out.back())
        return false;
    return !out.empty();
  };
  std::vector<Operand> tiles, inits;
  if (!operandsOf(args.values[0], what, tiles) || !operandsOf(args.values[1], "the init of " + what, inits))
    return {};
  if (inits.size() != tiles.size()) {
    error(args.values[1]->range, what + " of " + std::to_string(tiles.size()) +
                                     " tiles takes as many inits, found " + std::to_string(inits.size()));
    return {};
  }
  std::vector<Operand *> pointers;
  for (Operand &tile : tiles) {
    tile = ops.settle(tile);
    if (!tile)
      return {};
    pointers.push_back(&tile);
  }
  std::vector<int64_t> shape;
  if (!ops.unifyShapes(pointers, what, range, shape))
    return {};
  std::optional<int64_t> axis = -1;
  if (isScan || args.values[3] || shape.size() == 1)
    axis = scanAxis(args.values[3], tiles[0], what, range);
  if (!axis)
    return {};
  if (shape.empty()) {
    error(range, what + " reduces a tile, found the scalar " + toString(tiles[0].type()));
    return {};
  }
  bool whole = !isScan && !args.values[3];
  std::vector<DType> dtypes, params;
  std::vector<ExprPtr> operands;
  for (Operand &tile : tiles) {
    dtypes.push_back(tile.dtype());
    operands.push_back(tile.expr);
  }
  for (size_t i = 0; i < inits.size(); ++i) {
    std::string role = "the init of " + what;
    Operand init = ops.require(inits[i], dtypes[i], role);
    if (init && !init.type().isScalar()) {
      error(args.values[1]->range, role + " must be a scalar, found " + toString(init.type()));
      init = {};
    }
    if (!init)
      return {};
    operands.push_back(init.expr);
  }
  const ast::FnDecl *fn = checkCombiner(args.values[2], "the combiner of " + what);
  if (!fn)
    return {};
  params = dtypes;
  params.insert(params.end(), dtypes.begin(), dtypes.end());
  auto lambda = makeLambda(*fn, params, dtypes, args.values[2]->range);
  if (!lambda)
    return {};
  bool reverse = false;
  if (isScan && args.values[4]) {
    auto value = checkConstBool(args.values[4], "`reverse`");
    if (!value)
      return {};
    reverse = *value;
  }
  std::vector<int64_t> resultShape = whole ? std::vector<int64_t>() : shape;
  if (!isScan && !whole)
    resultShape[size_t(*axis)] = 1;
  Type type;
  if (tiles.size() == 1) {
    type = tileType(dtypes[0], resultShape);
  } else {
    type.kind = Type::Tuple;
    for (DType dtype : dtypes)
      type.elements.push_back(tileType(dtype, resultShape));
  }
  auto expr = make(isScan ? Op::Scan : Op::Reduce, type, std::move(operands), range);
  expr->lambda = lambda;
  expr->index = whole ? -1 : *axis;
  expr->wholeTile = whole;
  expr->reverse = reverse;
  if (tiles.size() == 1)
    return Operand{expr};
  return tupleResult(expr, isScan ? "scan" : "reduce");
}

} // namespace tilegym::sem
