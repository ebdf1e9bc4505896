// SPDX-License-Identifier: MIT
// The rules under the operators: literals, one dtype for all operands, one shape for all operands, explicit conversion.
#include "compiler/semantics/Operators.h"

namespace tilegym::sem {

Type scalarType(DType dtype) { return tileType(dtype, {}); }

Type tileType(DType dtype, std::vector<int64_t> shape) {
  Type type;
  type.kind = Type::Tile;
  type.dtype = dtype;
  type.shape = std::move(shape);
  return type;
}

ExprPtr makeConst(DType dtype, Constant value, SourceRange range) {
  auto expr = std::make_shared<Expr>();
  expr->op = Op::Const;
  expr->type = scalarType(dtype);
  expr->constant = value;
  expr->range = range;
  return expr;
}

ExprPtr makeExpr(Op op, Type type, std::vector<ExprPtr> operands, SourceRange range) {
  auto expr = std::make_shared<Expr>();
  expr->op = op;
  expr->type = std::move(type);
  expr->operands = std::move(operands);
  expr->range = range;
  return expr;
}

Operand Operators::failure(SourceRange range, std::string message, std::string help) {
  sink.error(range, std::move(message), std::move(help));
  return {};
}

// ---------------------------------------------------------------- literals

Operand Operators::literal(const ast::IntLiteral &e) {
  // Kept as u64 above 2^63: only u64 and floats can take it.
  DType type = e.value >> 63 ? DType::U64 : DType::Index;
  return {makeConst(type, Constant{int64_t(e.value)}, e.range), true};
}
Operand Operators::literal(const ast::FloatLiteral &e) { return floatLiteral(e.value, e.range); }
Operand Operators::literal(const ast::BoolLiteral &e) {
  return {makeConst(DType::Bool, Constant{e.value}, e.range)};
}
Operand Operators::intLiteral(int64_t value, SourceRange range) {
  return {makeConst(DType::Index, Constant{value}, range), true};
}
Operand Operators::floatLiteral(double value, SourceRange range) {
  return {makeConst(DType::F64, Constant{value}, range), true};
}

/// A literal as a value of dtype `to`.
Operand Operators::adopt(const Operand &x, DType to) {
  DType from = x.dtype();
  if (from == to)
    return {x.expr};
  const Constant &c = *x.constant();
  std::string text = toString(c, from), target(name(to));
  if (isBool(to))
    return failure(x.expr->range, "found the number " + text + ", expected bool", "write true or false");
  if (isFloat(from) && isInt(to))
    return failure(x.expr->range, "found the float " + text + ", expected " + target,
                   "write an integer, or convert the other side to a float");
  if (isInt(to)) {
    if (!fitsDType(c.asInt(), from, to))
      return failure(x.expr->range, text + " does not fit in " + target,
                     target + " holds " + std::to_string(minInt(to)) + " to " + std::to_string(maxInt(to)));
    return {makeConst(to, c, x.expr->range)};
  }
  double exact = isFloat(from)        ? c.asFloat()
                 : from == DType::U64 ? double(uint64_t(c.asInt()))
                                      : double(c.asInt());
  if (overflowsDType(exact, to))
    return failure(x.expr->range, text + " does not fit in " + target);
  return {makeConst(to, *foldConvert(from, to, c).value, x.expr->range)};
}

Operand Operators::settle(Operand x) {
  if (!x || !x.literal)
    return x;
  return adopt(x, isFloat(x.dtype()) ? DType::F32 : x.dtype());
}

// ---------------------------------------------------------------- dtypes

bool Operators::isValue(const Operand &x, std::string_view what) {
  if (x.type().isTile())
    return true;
  std::string help;
  if (x.type().kind == Type::View)
    help = "read it first: load(...)";
  else if (x.type().kind == Type::Tuple)
    help = "take it apart: let (a, b) = ...";
  sink.error(x.expr->range, std::string(what) + " needs a value, found " + toString(x.type()), help);
  return false;
}

/// An implicit conversion that must not lose anything.
static Operand exactly(const Operand &x, DType to) {
  if (x.dtype() == to)
    return x;
  if (const Constant *c = x.constant(); c && fitsDType(c->asInt(), x.dtype(), to))
    return {makeConst(to, *c, x.expr->range)};
  auto expr = std::make_shared<Expr>();
  expr->op = Op::Convert;
  expr->type = tileType(to, x.type().shape);
  expr->operands = {x.expr};
  expr->range = x.expr->range;
  expr->exact = true;
  return {expr};
}

static std::string mixHelp(DType a, DType b) {
  auto convert = [](DType t) { return "convert one side by name: " + std::string(name(t)) + "(x)"; };
  if (isFloat(a) != isFloat(b))
    return isBool(a) || isBool(b) ? std::string("use select(b, x, y)") : convert(isFloat(a) ? a : b);
  if (isBool(a) || isBool(b))
    return "compare the number, e.g. x != 0, or convert the bool by name";
  return convert(sizeInBytes(a) >= sizeInBytes(b) ? a : b);
}

bool Operators::unifyDTypes(std::span<Operand *const> operands, std::string_view what, SourceRange range) {
  std::optional<DType> target;
  bool anyIndex = false, anyFloat = false, anyWide = false;
  for (Operand *x : operands) {
    if (!*x)
      return false;
    if (x->literal) {
      anyFloat |= isFloat(x->dtype());
      anyWide |= x->dtype() == DType::U64;
    } else if (isIndex(x->dtype())) {
      anyIndex = true;
    } else if (!target) {
      target = x->dtype();
    } else if (*target != x->dtype()) {
      sink.error(range,
                 std::string(what) + " of " + std::string(name(*target)) + " and " +
                     std::string(name(x->dtype())),
                 mixHelp(*target, x->dtype()));
      return false;
    }
  }
  if (target && anyIndex && !isInt(*target)) {
    sink.error(range, std::string(what) + " of " + std::string(name(*target)) + " and index",
               mixHelp(*target, DType::Index));
    return false;
  }
  bool open = !target && !anyIndex;
  if (!target)
    target = anyIndex ? DType::Index : anyFloat ? DType::F64 : anyWide ? DType::U64 : DType::Index;
  for (Operand *x : operands) {
    if (x->literal) {
      *x = adopt(*x, *target);
      x->literal = open;
    } else if (isIndex(x->dtype())) {
      if (const Constant *c = x->constant(); c && !fitsDType(c->asInt(), DType::Index, *target))
        *x = failure(x->expr->range, toString(*c) + " does not fit in " + std::string(name(*target)));
      else
        *x = exactly(*x, *target);
    }
    if (!*x)
      return false;
  }
  return true;
}

Operand Operators::convert(Operand x, DType to, SourceRange range, Rounding rounding, bool saturate) {
  if (!x || !isValue(x, "`" + std::string(name(to)) + "`"))
    return {};
  // A literal is rounded once, straight to the dtype asked for.
  bool nearest = rounding == Rounding::NearestEven && saturate;
  if (x.literal && nearest && !isBool(to) && !(isFloat(x.dtype()) && isInt(to)))
    return adopt(x, to);
  if (x.literal)
    x.literal = false;
  if (x.dtype() == to)
    return x;
  if (const Constant *c = x.constant()) {
    if (Folded folded = foldConvert(x.dtype(), to, *c, rounding, saturate))
      return {makeConst(to, *folded.value, range)};
  }
  auto expr = std::make_shared<Expr>();
  expr->op = Op::Convert;
  expr->type = tileType(to, x.type().shape);
  expr->operands = {x.expr};
  expr->range = range;
  expr->rounding = rounding;
  expr->saturate = saturate;
  return {expr};
}

Operand Operators::require(Operand x, DType to, std::string_view what) {
  if (!x || !isValue(x, what))
    return {};
  if (x.literal)
    return adopt(x, to);
  if (x.dtype() == to)
    return x;
  if (isIndex(x.dtype()) && isInt(to))
    return exactly(x, to);
  return failure(x.expr->range,
                 std::string(what) + " has dtype " + std::string(name(x.dtype())) + ", expected " +
                     std::string(name(to)),
                 "convert it: " + std::string(name(to)) + "(...)");
}

Operand Operators::requireIndex(Operand x, std::string_view what) {
  if (!x || !isValue(x, what))
    return {};
  if (!isInt(x.dtype()) || !x.type().isScalar())
    return failure(x.expr->range,
                   std::string(what) + " must be an integer scalar, found " + toString(x.type()));
  return x.literal ? adopt(x, DType::Index) : exactly(x, DType::Index);
}

Operand Operators::requireBool(Operand x, std::string_view what) {
  if (!x || !isValue(x, what))
    return {};
  if (!isBool(x.dtype()))
    return failure(x.expr->range, std::string(what) + " must be bool, found " + toString(x.type()),
                   isInt(x.dtype()) ? "compare it, e.g. x != 0" : "");
  return x;
}

std::optional<int64_t> Operators::requireConstInt(const Operand &x, std::string_view what) {
  if (!x)
    return std::nullopt;
  if (x.constant() && isInt(x.dtype()))
    return x.constant()->asInt();
  std::string found = x.type().isScalar() && isInt(x.dtype()) ? "a run-time value" : toString(x.type());
  failure(x.expr->range, std::string(what) + " must be a compile-time integer, found " + found);
  return std::nullopt;
}

// ---------------------------------------------------------------- shapes

std::optional<std::vector<int64_t>> Operators::broadcastShapes(const std::vector<int64_t> &a,
                                                               const std::vector<int64_t> &b) {
  std::vector<int64_t> shape(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1 && x != kDynamic && y != kDynamic)
      return std::nullopt;
    // A dynamic extent beside a static one is that one or 1; beside 1 it decides.
    int64_t &out = shape[shape.size() - 1 - i];
    if (x == 1)
      out = y;
    else if (y == 1 || y == kDynamic)
      out = x;
    else
      out = y;
  }
  return shape;
}

Operand Operators::broadcastTo(Operand x, const std::vector<int64_t> &shape, std::string_view what) {
  if (!x)
    return {};
  auto joint = broadcastShapes(x.type().shape, shape);
  if (!joint || joint->size() != shape.size() || (mode != ShapeMode::Whole && *joint != shape))
    return failure(x.expr->range, std::string(what) + " has shape " + toString(x.type()) + ", expected " +
                                      toString(tileType(x.dtype(), shape)));
  if (mode == ShapeMode::Whole || x.type().shape == shape)
    return x;
  x = settle(x);
  if (!x)
    return {};
  return {makeExpr(Op::Broadcast, tileType(x.dtype(), shape), {x.expr}, x.expr->range)};
}

bool Operators::unifyShapes(std::span<Operand *const> operands, std::string_view what, SourceRange range,
                            std::vector<int64_t> &shape) {
  shape.clear();
  for (Operand *x : operands) {
    auto joint = broadcastShapes(shape, x->type().shape);
    if (!joint) {
      std::string text;
      for (Operand *y : operands)
        text += (text.empty() ? "" : y == operands.back() ? " and " : ", ") + toString(y->type());
      sink.error(range, std::string(what) + " of " + text + ": the shapes do not broadcast",
                 "extents must be equal or 1, counted from the last axis");
      return false;
    }
    shape = std::move(*joint);
  }
  if (mode == ShapeMode::Host && !shape.empty()) {
    sink.error(range, std::string(what) + " of a tile where a scalar is expected");
    return false;
  }
  if (mode != ShapeMode::Whole)
    for (Operand *x : operands)
      *x = broadcastTo(*x, shape, what);
  return true;
}

} // namespace tilegym::sem
