// SPDX-License-Identifier: MIT
// Evaluates the expressions of a test section.
#include "compiler/interpreter/SettingValues.h"
#include "compiler/semantics/ConstFold.h"
#include <cmath>
#include <limits>

namespace tilegym::interp {
namespace {

using sem::Constant;

class Evaluator {
public:
  Evaluator(const SettingScope &scope, DiagnosticSink &sink) : scope(scope), sink(sink) {}

  std::optional<Constant> number(const ast::Expr &expr);
  std::optional<InputRule> rule(const ast::Expr &expr);
  std::optional<LiteralValues> literal(const ast::Expr &expr);

private:
  std::nullopt_t fail(SourceRange range, std::string message, std::string help = {}) {
    sink.error(range, std::move(message), std::move(help));
    return std::nullopt;
  }
  std::optional<Constant> name(const ast::Name &expr);
  std::optional<Constant> unary(const ast::Unary &expr);
  std::optional<Constant> binary(const ast::Binary &expr);
  std::optional<Constant> call(const ast::Call &expr);
  std::optional<Constant> folded(sem::Folded result, SourceRange range);
  std::optional<DType> dtype(const ast::Expr &expr);
  bool appendLiteral(const ast::Expr &expr, size_t depth, LiteralValues &out);
  bool ruleArguments(const ast::Call &call, InputRule &rule);

  const SettingScope &scope;
  DiagnosticSink &sink;
};

/// Both integers: exact 64-bit; one of them a float: f64.
DType commonType(const Constant &a, const Constant &b) {
  if (a.isBool() && b.isBool())
    return DType::Bool;
  return a.isFloat() || b.isFloat() ? DType::F64 : DType::Index;
}

Constant as(DType type, const Constant &value) {
  if (type == DType::F64)
    return {value.asFloat()};
  return type == DType::Bool ? Constant{value.asBool()} : Constant{value.asInt()};
}

std::optional<sem::Op> operationOf(ast::BinaryOp op) {
  switch (op) {
  case ast::BinaryOp::Add:
    return sem::Op::Add;
  case ast::BinaryOp::Sub:
    return sem::Op::Sub;
  case ast::BinaryOp::Mul:
    return sem::Op::Mul;
  case ast::BinaryOp::Div:
    return sem::Op::Div;
  case ast::BinaryOp::FloorDiv:
    return sem::Op::FloorDiv;
  case ast::BinaryOp::Mod:
    return sem::Op::Mod;
  case ast::BinaryOp::Pow:
    return sem::Op::Pow;
  case ast::BinaryOp::BitAnd:
    return sem::Op::And;
  case ast::BinaryOp::BitOr:
    return sem::Op::Or;
  case ast::BinaryOp::BitXor:
    return sem::Op::Xor;
  case ast::BinaryOp::Shl:
    return sem::Op::Shl;
  case ast::BinaryOp::Shr:
    return sem::Op::Shr;
  case ast::BinaryOp::Eq:
    return sem::Op::Eq;
  case ast::BinaryOp::Ne:
    return sem::Op::Ne;
  case ast::BinaryOp::Lt:
    return sem::Op::Lt;
  case ast::BinaryOp::Le:
    return sem::Op::Le;
  case ast::BinaryOp::Gt:
    return sem::Op::Gt;
  case ast::BinaryOp::Ge:
    return sem::Op::Ge;
  case ast::BinaryOp::MatMul:
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Constant> Evaluator::folded(sem::Folded result, SourceRange range) {
  if (!result)
    return fail(range, result.error);
  return result.value;
}

std::optional<DType> Evaluator::dtype(const ast::Expr &expr) {
  const auto *name = ast::dynCast<ast::Name>(&expr);
  if (!name)
    return std::nullopt;
  if (int64_t id = scope.op->findTypeVar(name->name); id >= 0)
    return scope.dtypes[id];
  return parseDType(name->name);
}

std::optional<Constant> Evaluator::name(const ast::Name &expr) {
  if (expr.name == "inf")
    return Constant{std::numeric_limits<double>::infinity()};
  if (expr.name == "nan")
    return Constant{std::numeric_limits<double>::quiet_NaN()};
  if (expr.name == "PI")
    return Constant{3.14159265358979323846};
  if (expr.name == "LOG2E")
    return Constant{1.44269504088896340736};
  if (int64_t id = scope.op->findDim(expr.name); id >= 0) {
    if (scope.dims[id])
      return Constant{*scope.dims[id]};
    return fail(expr.range, "`" + expr.name + "` has no value yet", "set it above this line");
  }
  if (int64_t id = scope.op->findScalar(expr.name); id >= 0) {
    if (scope.scalars[id])
      return scope.scalars[id];
    return fail(expr.range, "`" + expr.name + "` has no value yet", "set it above this line");
  }
  // The names of an enum const compare as numbers do.
  for (const sem::ScalarParam &scalar : scope.op->scalars)
    for (size_t i = 0; i < scalar.enumerators.size(); ++i)
      if (scalar.enumerators[i] == expr.name)
        return Constant{int64_t(i)};
  return fail(expr.range, "`" + expr.name + "` is no dim, const or scalar of the op");
}

std::optional<Constant> Evaluator::unary(const ast::Unary &expr) {
  auto x = number(*expr.operand);
  if (!x)
    return std::nullopt;
  if (expr.op == ast::UnaryOp::Not)
    return Constant{!x->asBool()};
  DType type = x->isFloat() ? DType::F64 : DType::Index;
  // The least integer is written as minus a number that is one too large.
  if (expr.op == ast::UnaryOp::Neg && x->isInt() && x->asInt() == std::numeric_limits<int64_t>::min())
    return x;
  return folded(
      sem::foldUnary(expr.op == ast::UnaryOp::Neg ? sem::Op::Neg : sem::Op::BitNot, type, as(type, *x)),
      expr.range);
}

std::optional<Constant> Evaluator::binary(const ast::Binary &expr) {
  if (expr.op == ast::BinaryOp::Eq || expr.op == ast::BinaryOp::Ne) {
    auto a = dtype(*expr.lhs), b = dtype(*expr.rhs);
    if (a && b)
      return Constant{(*a == *b) == (expr.op == ast::BinaryOp::Eq)};
  }
  auto op = operationOf(expr.op);
  if (!op)
    return fail(expr.range, "`@` stands in a test's settings, where numbers are expected");
  auto a = number(*expr.lhs);
  auto b = a ? number(*expr.rhs) : std::nullopt;
  if (!a || !b)
    return std::nullopt;
  DType type = *op == sem::Op::Div ? DType::F64 : commonType(*a, *b);
  return folded(sem::foldBinary(*op, type, as(type, *a), as(type, *b)), expr.range);
}

std::optional<Constant> Evaluator::call(const ast::Call &expr) {
  const auto *callee = ast::dynCast<ast::Name>(expr.callee.get());
  std::string what = callee ? callee->name : "";
  if (what == "sizeof" && expr.args.size() == 1) {
    if (auto type = dtype(*expr.args[0].value))
      return Constant{int64_t(sizeInBytes(*type))};
    return fail(expr.range, "`sizeof` takes a dtype");
  }
  std::vector<Constant> args;
  for (const ast::Arg &arg : expr.args) {
    auto value = number(*arg.value);
    if (!value)
      return std::nullopt;
    args.push_back(*value);
  }
  if (args.size() == 1 && (what == "pow2ceil" || what == "abs" || what == "sqrt")) {
    DType type = what == "sqrt" || args[0].isFloat() ? DType::F64 : DType::Index;
    sem::Op op = what == "sqrt" ? sem::Op::Sqrt : what == "abs" ? sem::Op::Abs : sem::Op::Pow2Ceil;
    return folded(sem::foldUnary(op, type, as(type, args[0])), expr.range);
  }
  if (args.size() == 2 && (what == "min" || what == "max" || what == "cdiv")) {
    DType type = commonType(args[0], args[1]);
    sem::Op op = what == "min" ? sem::Op::Min : what == "max" ? sem::Op::Max : sem::Op::CDiv;
    return folded(sem::foldBinary(op, type, as(type, args[0]), as(type, args[1])), expr.range);
  }
  return fail(expr.range, "a number is expected here",
              "settings know `min max cdiv abs sqrt pow2ceil sizeof` and the operators");
}

std::optional<Constant> Evaluator::number(const ast::Expr &expr) {
  switch (expr.kind) {
  case ast::ExprKind::IntLiteral:
    return Constant{static_cast<int64_t>(static_cast<const ast::IntLiteral &>(expr).value)};
  case ast::ExprKind::FloatLiteral:
    return Constant{static_cast<const ast::FloatLiteral &>(expr).value};
  case ast::ExprKind::BoolLiteral:
    return Constant{static_cast<const ast::BoolLiteral &>(expr).value};
  case ast::ExprKind::Name:
    return name(static_cast<const ast::Name &>(expr));
  case ast::ExprKind::Unary:
    return unary(static_cast<const ast::Unary &>(expr));
  case ast::ExprKind::Binary:
    return binary(static_cast<const ast::Binary &>(expr));
  case ast::ExprKind::Call:
    return call(static_cast<const ast::Call &>(expr));
  default:
    return fail(expr.range, "a number is expected here");
  }
}

bool Evaluator::appendLiteral(const ast::Expr &expr, size_t depth, LiteralValues &out) {
  const auto *list = ast::dynCast<ast::List>(&expr);
  if (!list) {
    auto value = number(expr);
    if (value && depth != out.shape.size())
      return fail(expr.range, "a number stands where a list is expected: every row of a literal tensor has "
                              "the same depth"),
             false;
    if (value)
      out.values.push_back(*value);
    return value.has_value();
  }
  int64_t extent = int64_t(list->elements.size());
  if (depth >= out.shape.size())
    return fail(expr.range,
                "a list stands where a number is expected: every row of a literal tensor has the same depth"),
           false;
  if (out.shape[depth] != extent)
    return fail(expr.range, "a row of " + std::to_string(extent) +
                                " elements in a literal tensor whose rows have " +
                                std::to_string(out.shape[depth])),
           false;
  for (const ast::ExprPtr &element : list->elements)
    if (!appendLiteral(*element, depth + 1, out))
      return false;
  return true;
}

std::optional<LiteralValues> Evaluator::literal(const ast::Expr &expr) {
  LiteralValues out;
  const ast::Expr *level = &expr;
  out.isScalar = level->kind != ast::ExprKind::List;
  while (const auto *list = ast::dynCast<ast::List>(level)) {
    out.shape.push_back(int64_t(list->elements.size()));
    if (list->elements.empty())
      break;
    level = list->elements[0].get();
  }
  if (!appendLiteral(expr, 0, out))
    return std::nullopt;
  return out;
}

struct RuleName {
  std::string_view name;
  InputRule::Kind kind;
  size_t least, most; ///< positional arguments
};
constexpr RuleName ruleNames[] = {
    {"normal", InputRule::Normal, 0, 2},   {"uniform", InputRule::Uniform, 0, 2},
    {"randint", InputRule::RandInt, 2, 2}, {"iota", InputRule::Iota, 0, 2},
    {"one_hot", InputRule::OneHot, 0, 1},  {"permutation", InputRule::Permutation, 0, 0},
    {"none", InputRule::Absent, 0, 0},
};

const RuleName *findRule(const ast::Expr &expr) {
  const ast::Expr *named = &expr;
  if (const auto *call = ast::dynCast<ast::Call>(&expr))
    named = call->callee.get();
  const auto *name = ast::dynCast<ast::Name>(named);
  for (const RuleName &row : ruleNames)
    if (name && row.name == name->name)
      return &row;
  return nullptr;
}

bool Evaluator::ruleArguments(const ast::Call &call, InputRule &rule) {
  size_t position = 0;
  for (const ast::Arg &arg : call.args) {
    const auto *word = ast::dynCast<ast::Name>(arg.value.get());
    if (arg.name == "at" && rule.kind == InputRule::OneHot && word &&
        (word->name == "last" || word->name == "first")) {
      rule.at = word->name == "last" ? -1 : 0;
      continue;
    }
    auto value = number(*arg.value);
    if (!value)
      return false;
    bool wantsInteger = rule.kind == InputRule::RandInt || arg.name == "at";
    if (wantsInteger && !value->isInt())
      return fail(arg.value->range, "an integer is expected here"), false;
    if (arg.name == "at" && rule.kind == InputRule::OneHot)
      rule.at = value->asInt();
    else if (arg.name == "off" && rule.kind == InputRule::OneHot)
      rule.b = value->asFloat();
    else if (!arg.name.empty())
      return fail(arg.nameRange, "no option `" + arg.name + "`",
                  "`one_hot(value, off=, at=)` is the only rule with options"),
             false;
    else if (rule.kind == InputRule::RandInt)
      (position++ == 0 ? rule.lo : rule.hi) = value->asInt();
    else
      (position++ == 0 ? rule.a : rule.b) = value->asFloat();
  }
  return true;
}

std::optional<InputRule> Evaluator::rule(const ast::Expr &expr) {
  InputRule rule;
  rule.range = expr.range;
  const RuleName *row = findRule(expr);
  if (!row) {
    auto values = literal(expr);
    if (!values)
      return std::nullopt;
    rule.kind = InputRule::Literal;
    rule.literal = std::move(*values);
    return rule;
  }
  rule.kind = row->kind;
  if (row->kind == InputRule::OneHot)
    rule.a = 1, rule.b = 0;
  const auto *call = ast::dynCast<ast::Call>(&expr);
  size_t positional = 0;
  if (call)
    for (const ast::Arg &arg : call->args)
      positional += arg.name.empty();
  if (positional < row->least || positional > row->most) {
    std::string takes =
        row->least == row->most ? std::to_string(row->most) : "at most " + std::to_string(row->most);
    return fail(expr.range, "`" + std::string(row->name) + "` takes " + takes + " numbers, but has " +
                                std::to_string(positional));
  }
  if (call && !ruleArguments(*call, rule))
    return std::nullopt;
  return rule;
}

} // namespace

std::optional<Constant> evaluateSetting(const SettingScope &scope, const ast::Expr &expr,
                                        DiagnosticSink &sink) {
  return Evaluator(scope, sink).number(expr);
}

std::optional<int64_t> evaluateExtent(const SettingScope &scope, const ast::Expr &expr,
                                      DiagnosticSink &sink) {
  auto value = evaluateSetting(scope, expr, sink);
  if (!value)
    return std::nullopt;
  if (!value->isInt() || value->asInt() < 0) {
    sink.error(expr.range, "an extent is an integer from 0 up, but this is " + sem::toString(*value));
    return std::nullopt;
  }
  return value->asInt();
}

std::optional<InputRule> evaluateRule(const SettingScope &scope, const ast::Expr &expr,
                                      DiagnosticSink &sink) {
  return Evaluator(scope, sink).rule(expr);
}

std::optional<LiteralValues> evaluateLiteral(const SettingScope &scope, const ast::Expr &expr,
                                             DiagnosticSink &sink) {
  return Evaluator(scope, sink).literal(expr);
}

} // namespace tilegym::interp
