// SPDX-License-Identifier: MIT
// Operators as written in a spec: which dtypes each takes, and what the result is.
#include "compiler/semantics/Operators.h"
#include <limits>

namespace tilegym::sem {
namespace {

std::string quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

enum class Takes : uint8_t { Numbers, Integers, Floats, Bits, Anything };

struct OperatorRow {
  Op op;
  Takes takes;
  bool comparison;
};

OperatorRow rowOf(ast::BinaryOp op) {
  using B = ast::BinaryOp;
  switch (op) {
  case B::Add:
    return {Op::Add, Takes::Numbers, false};
  case B::Sub:
    return {Op::Sub, Takes::Numbers, false};
  case B::Mul:
    return {Op::Mul, Takes::Numbers, false};
  case B::Div:
    return {Op::Div, Takes::Floats, false};
  case B::FloorDiv:
    return {Op::FloorDiv, Takes::Integers, false};
  case B::Mod:
    return {Op::Mod, Takes::Integers, false};
  case B::Pow:
    return {Op::Pow, Takes::Numbers, false};
  case B::MatMul:
    return {Op::MatMul, Takes::Numbers, false};
  case B::BitAnd:
    return {Op::And, Takes::Bits, false};
  case B::BitOr:
    return {Op::Or, Takes::Bits, false};
  case B::BitXor:
    return {Op::Xor, Takes::Bits, false};
  case B::Shl:
    return {Op::Shl, Takes::Integers, false};
  case B::Shr:
    return {Op::Shr, Takes::Integers, false};
  case B::Eq:
    return {Op::Eq, Takes::Anything, true};
  case B::Ne:
    return {Op::Ne, Takes::Anything, true};
  case B::Lt:
    return {Op::Lt, Takes::Numbers, true};
  case B::Le:
    return {Op::Le, Takes::Numbers, true};
  case B::Gt:
    return {Op::Gt, Takes::Numbers, true};
  case B::Ge:
    return {Op::Ge, Takes::Numbers, true};
  }
  return {Op::Add, Takes::Numbers, false};
}

bool accepts(Takes takes, DType type) {
  switch (takes) {
  case Takes::Numbers:
    return !isBool(type);
  case Takes::Integers:
    return isInt(type);
  case Takes::Floats:
    return isFloat(type);
  case Takes::Bits:
    return !isFloat(type);
  case Takes::Anything:
    return true;
  }
  return true;
}

const char *needs(Takes takes) {
  switch (takes) {
  case Takes::Integers:
    return "integers";
  case Takes::Floats:
    return "floats";
  case Takes::Bits:
    return "integers or bool";
  default:
    return "numbers";
  }
}

std::string helpFor(ast::BinaryOp op, DType found) {
  if (op == ast::BinaryOp::Div)
    return "`//` divides integers, rounding down; to divide as floats, convert first: f32(a) / f32(b)";
  if (op == ast::BinaryOp::FloorDiv && isFloat(found))
    return "for floats write floor(a / b)";
  if (op == ast::BinaryOp::Mod && isFloat(found))
    return "for floats write a - floor(a / b) * b";
  if (isBool(found))
    return "convert it: i32(b), or use select(b, x, y)";
  return {};
}

} // namespace

Operand Operators::unary(ast::UnaryOp op, Operand x, SourceRange range) {
  std::string what = quoted(ast::spelling(op));
  if (!x || !isValue(x, what))
    return {};
  DType type = x.dtype();
  std::string found = ", found " + std::string(name(type));
  switch (op) {
  case ast::UnaryOp::Neg:
    if (isBool(type))
      return failure(range, "`-` needs a number" + found, "to invert a bool write !x");
    // 2^63 alone is out of range for an index, its negation is not.
    if (x.literal && type == DType::U64) {
      if (uint64_t(x.constant()->asInt()) != uint64_t(1) << 63)
        return failure(range, "-" + toString(*x.constant(), type) + " does not fit in 64 bits");
      return intLiteral(std::numeric_limits<int64_t>::min(), range);
    }
    return fold(Op::Neg, x.type(), {x.expr}, x.literal, range);
  case ast::UnaryOp::Not:
    if (!isBool(type))
      return failure(range, "`!` needs bool" + found,
                     isInt(type) ? "write x == 0, or ~x to invert the bits" : "write x == 0");
    return fold(Op::Not, x.type(), {x.expr}, false, range);
  case ast::UnaryOp::BitNot:
    if (!isInt(type))
      return failure(range, "`~` needs an integer" + found, isBool(type) ? "to invert a bool write !x" : "");
    return fold(Op::BitNot, x.type(), {x.expr}, x.literal, range);
  }
  return {};
}

Operand Operators::binary(ast::BinaryOp op, Operand a, Operand b, SourceRange range) {
  if (!a || !b)
    return {};
  std::string what = quoted(ast::spelling(op));
  if (!isValue(a, what) || !isValue(b, what))
    return {};
  OperatorRow row = rowOf(op);
  // Two untyped integers divide as in Python: 1 / 2 is 0.5.
  if (op == ast::BinaryOp::Div && a.literal && b.literal && isInt(a.dtype()) && isInt(b.dtype()))
    a = floatLiteral(a.dtype() == DType::U64 ? double(uint64_t(a.constant()->asInt()))
                                             : a.constant()->asFloat(),
                     a.expr->range);
  Operand *both[] = {&a, &b};
  if (!unifyDTypes(both, what, range))
    return {};
  if (!accepts(row.takes, a.dtype()))
    return failure(range, what + " needs " + needs(row.takes) + ", found " + std::string(name(a.dtype())),
                   helpFor(op, a.dtype()));
  if (row.op == Op::MatMul)
    return matmul(std::move(a), std::move(b), range);
  std::vector<int64_t> shape;
  if (!unifyShapes(both, what, range, shape))
    return {};
  Type type = tileType(row.comparison ? DType::Bool : a.dtype(), std::move(shape));
  return fold(row.op, type, {a.expr, b.expr}, a.literal && b.literal && !row.comparison, range);
}

Operand Operators::matmul(Operand a, Operand b, SourceRange range) {
  if (mode != ShapeMode::Whole)
    return failure(range, "`@` belongs to references",
                   mode == ShapeMode::Kernel ? "in a kernel write mma(a, b, acc)" : "");
  const auto &x = a.type().shape, &y = b.type().shape;
  if (x.empty() || y.empty())
    return failure(range, "`@` of " + toString(a.type()) + " and " + toString(b.type()) +
                              "; it needs a vector or matrix on both sides");
  int64_t inner = x.back(), other = y.size() == 1 ? y[0] : y[y.size() - 2];
  if (inner != other && inner != kDynamic && other != kDynamic)
    return failure(range, "`@` of " + toString(a.type()) + " and " + toString(b.type()) +
                              ": the inner extents " + std::to_string(inner) + " and " +
                              std::to_string(other) + " differ");
  // A vector counts as a matrix of one row (left) or one column (right), and that axis is dropped again.
  auto batchOf = [](const std::vector<int64_t> &s) {
    return std::vector<int64_t>(s.begin(), s.end() - std::min<size_t>(2, s.size()));
  };
  auto shape = broadcastShapes(batchOf(x), batchOf(y));
  if (!shape)
    return failure(range, "`@` of " + toString(a.type()) + " and " + toString(b.type()) +
                              ": the leading axes do not broadcast");
  if (x.size() > 1)
    shape->push_back(x[x.size() - 2]);
  if (y.size() > 1)
    shape->push_back(y.back());
  return {makeExpr(Op::MatMul, tileType(a.dtype(), std::move(*shape)), {a.expr, b.expr}, range)};
}

Operand Operators::elementwise(Op op, std::string_view what, std::initializer_list<Operand> operands,
                               SourceRange range) {
  std::vector<Operand> values(operands);
  std::vector<Operand *> all;
  bool literal = true;
  for (Operand &value : values) {
    if (!value || !isValue(value, what))
      return {};
    all.push_back(&value);
    literal = literal && value.literal;
  }
  std::vector<int64_t> shape;
  if (!unifyDTypes(all, what, range) || !unifyShapes(all, what, range, shape))
    return {};
  // A function of literals alone has no other side to take a dtype from: max(1, 2) stays open only for integers.
  if (literal && isFloat(values[0].dtype())) {
    for (Operand &value : values)
      value = settle(value);
    literal = false;
  }
  std::vector<ExprPtr> exprs;
  for (Operand &value : values)
    exprs.push_back(value.expr);
  DType result = op == Op::IsNan ? DType::Bool : values[0].dtype();
  return fold(op, tileType(result, std::move(shape)), std::move(exprs), literal, range);
}

Operand Operators::select(Operand condition, Operand a, Operand b, SourceRange range) {
  condition = requireBool(std::move(condition), "the condition of `select`");
  if (!condition || !a || !b || !isValue(a, "`select`") || !isValue(b, "`select`"))
    return {};
  bool literal = a.literal && b.literal;
  Operand *values[] = {&a, &b}, *all[] = {&condition, &a, &b};
  std::vector<int64_t> shape;
  if (!unifyDTypes(values, "`select`", range) || !unifyShapes(all, "`select`", range, shape))
    return {};
  const Constant *known = condition.constant();
  if (known && mode != ShapeMode::Whole)
    return {known->asBool() ? a.expr : b.expr, literal && shape.empty()};
  // A choice made at run time needs a dtype now.
  if (literal) {
    a = settle(a);
    b = settle(b);
  }
  return {
      makeExpr(Op::Select, tileType(a.dtype(), std::move(shape)), {condition.expr, a.expr, b.expr}, range)};
}

Operand Operators::fold(Op op, const Type &type, std::vector<ExprPtr> operands, bool literal,
                        SourceRange range) {
  bool known = type.shape.empty() && operands.size() <= 2;
  for (const ExprPtr &operand : operands)
    known = known && operand->op == Op::Const;
  if (known) {
    DType dtype = operands[0]->type.dtype;
    Folded folded = operands.size() == 1
                        ? foldUnary(op, dtype, operands[0]->constant)
                        : foldBinary(op, dtype, operands[0]->constant, operands[1]->constant);
    if (!folded)
      return failure(range, folded.error);
    return {makeConst(type.dtype, *folded.value, range), literal};
  }
  return {makeExpr(op, type, std::move(operands), range)};
}

} // namespace tilegym::sem
