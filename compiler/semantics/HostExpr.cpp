// SPDX-License-Identifier: MIT
// Checks host expressions: names against the op's interface, operators by Operators, the few builtins that make sense before a launch.
#include "compiler/semantics/HostExpr.h"
#include "compiler/semantics/Analyze.h"
#include "compiler/semantics/Builtins.h"
#include <algorithm>
#include <limits>
#include <numbers>

namespace tilegym::sem {
namespace {

class HostChecker {
public:
  HostChecker(const HostScope &scope, DiagnosticSink &sink)
      : scope(scope), op(scope.op), sink(sink), ops(sink, ShapeMode::Host) {}
  Operand check(const ast::Expr &e);

private:
  Operand name(const ast::Name &e);
  Operand binary(const ast::Binary &e);
  Operand call(const ast::Call &e);
  Operand index(const ast::Index &e);
  Operand listSum(const ast::Comprehension &e);
  Operand dim(int64_t id, SourceRange range);
  Operand scalar(int64_t id, SourceRange range);
  Operand dtypeCode(const ast::Expr &e);
  Operand sizeOf(const ast::Expr &e);
  Operand arithmetic(const BuiltinInfo &info, const BoundArguments &args, SourceRange range);
  Operand failure(SourceRange range, std::string message, std::string help = {}) {
    sink.error(range, std::move(message), std::move(help));
    return {};
  }
  Operand node(Op code, DType dtype, int64_t id, SourceRange range) {
    auto expr = std::make_shared<Expr>();
    expr->op = code;
    expr->type = scalarType(dtype);
    expr->index = id;
    expr->range = range;
    return {expr};
  }
  Operand indexConst(int64_t value, SourceRange range) {
    return {makeConst(DType::Index, Constant{value}, range)};
  }

  const HostScope &scope;
  const OpModel &op;
  DiagnosticSink &sink;
  Operators ops;
  std::vector<std::string> loopVars; ///< of enclosing sums; a local's id is its depth
};

Operand HostChecker::check(const ast::Expr &e) {
  switch (e.kind) {
  case ast::ExprKind::IntLiteral:
    return ops.literal(*ast::dynCast<ast::IntLiteral>(&e));
  case ast::ExprKind::FloatLiteral:
    return ops.literal(*ast::dynCast<ast::FloatLiteral>(&e));
  case ast::ExprKind::BoolLiteral:
    return ops.literal(*ast::dynCast<ast::BoolLiteral>(&e));
  case ast::ExprKind::Name:
    return name(*ast::dynCast<ast::Name>(&e));
  case ast::ExprKind::Unary: {
    const auto &unary = *ast::dynCast<ast::Unary>(&e);
    return unary.operand ? ops.unary(unary.op, check(*unary.operand), e.range) : Operand{};
  }
  case ast::ExprKind::Binary:
    return binary(*ast::dynCast<ast::Binary>(&e));
  case ast::ExprKind::Call:
    return call(*ast::dynCast<ast::Call>(&e));
  case ast::ExprKind::Index:
    return index(*ast::dynCast<ast::Index>(&e));
  case ast::ExprKind::StringLiteral:
    return failure(e.range, "found a string, expected a number or condition");
  default:
    return failure(e.range, "this does not belong in " + scope.place +
                                ": only dims, scalars and arithmetic on them do");
  }
}

Operand HostChecker::name(const ast::Name &e) {
  const std::string &text = e.name;
  for (size_t i = loopVars.size(); i-- > 0;)
    if (loopVars[i] == text)
      return node(Op::Local, DType::Index, int64_t(i), e.range);
  if (auto found = scope.names.find(text); found != scope.names.end()) {
    Operand value = found->second;
    if (const Constant *c = value.constant()) // report later errors here, not where the name was made
      value.expr = makeConst(value.dtype(), *c, e.range);
    return value;
  }
  if (auto found = scope.unavailable.find(text); found != scope.unavailable.end())
    return failure(e.range, "`" + text + "` cannot be used in " + scope.place + ": " + found->second);
  if (int64_t id = op.findDim(text); id >= 0) {
    if (op.dims[id].perElement)
      return failure(e.range, "`" + text + "` has one value for each list element", "write " + text + "[g]");
    return dim(id, e.range);
  }
  if (int64_t id = op.findScalar(text); id >= 0)
    return scalar(id, e.range);
  if (text == "inf")
    return ops.floatLiteral(std::numeric_limits<double>::infinity(), e.range);
  if (text == "nan")
    return ops.floatLiteral(std::numeric_limits<double>::quiet_NaN(), e.range);
  if (text == "PI")
    return ops.floatLiteral(std::numbers::pi, e.range);
  if (text == "LOG2E")
    return ops.floatLiteral(std::numbers::log2e, e.range);
  if (int64_t tensor = op.findTensor(text); tensor >= 0)
    return failure(e.range,
                   "`" + text + "` is a tensor; " + scope.place + " is evaluated before any data is read",
                   "use its dims or scalars" +
                       (op.tensors[size_t(tensor)].optional ? ", or present(" + text + ")" : ""));
  if (op.findTypeVar(text) >= 0 || parseDType(text))
    return failure(e.range, "`" + text + "` is a dtype, expected a value",
                   "write sizeof(" + text + "), or compare: T == f32");
  std::vector<std::string> known;
  for (const DimVar &d : op.dims)
    known.push_back(d.name);
  for (const ScalarParam &s : op.scalars)
    known.push_back(s.name);
  for (const auto &[key, value] : scope.names)
    known.push_back(key);
  std::string near = nearest(text, known);
  std::string all;
  for (const std::string &one : known)
    all += (all.empty() ? "" : ", ") + one;
  return failure(e.range, "unknown name `" + text + "` in " + scope.place,
                 !near.empty() ? "did you mean `" + near + "`?"
                 : all.empty() ? ""
                               : "known here: " + all);
}

Operand HostChecker::dim(int64_t id, SourceRange range) {
  if (scope.spec && scope.spec->constDims[id] != kDynamic)
    return indexConst(scope.spec->constDims[id], range);
  return node(Op::Dim, DType::Index, id, range);
}

Operand HostChecker::scalar(int64_t id, SourceRange range) {
  const ScalarParam &s = op.scalars[id];
  if (!scope.scalars)
    return failure(range, "`" + s.name + "` is a scalar; " + scope.place + " can only name dims");
  if (!s.enumerators.empty())
    return failure(
        range, "`" + s.name + "` is one of " + std::to_string(s.enumerators.size()) + " names, not a number",
        "compare it: " + s.name + " == " + s.enumerators[0]);
  const std::vector<DType> &choices = op.typeVars[s.typeVar].choices;
  bool floats = isFloat(choices[0]);
  for (DType choice : choices)
    if (isFloat(choice) != floats)
      return failure(range,
                     "`" + s.name + "` may be an integer or a float, so " + scope.place + " cannot use it");
  DType dtype = floats ? DType::F64 : isBool(choices[0]) ? DType::Bool : DType::Index;
  if (s.isConst && scope.spec)
    return {makeConst(dtype, scope.spec->consts[id], range)};
  return node(Op::Scalar, dtype, id, range);
}

/// A dtype word or type variable as the number of its DType; null (silently) where `e` is neither.
Operand HostChecker::dtypeCode(const ast::Expr &e) {
  const auto *word = ast::dynCast<ast::Name>(&e);
  if (!word)
    return {};
  if (auto dtype = parseDType(word->name))
    return indexConst(int64_t(*dtype), e.range);
  int64_t id = op.findTypeVar(word->name);
  if (id < 0)
    return {};
  if (scope.spec)
    return indexConst(int64_t(scope.spec->dtypes[id]), e.range);
  return node(Op::TypeCode, DType::Index, id, e.range);
}

Operand HostChecker::binary(const ast::Binary &e) {
  if (!e.lhs || !e.rhs)
    return {};
  if (e.op == ast::BinaryOp::Eq || e.op == ast::BinaryOp::Ne) {
    EnumComparison match = matchEnumComparison(e, op, sink);
    if (match.failed)
      return {};
    if (match.scalar >= 0) {
      SourceRange range = e.lhs->range;
      Operand side = scope.spec ? indexConst(scope.spec->consts[match.scalar].asInt(), range)
                                : node(Op::Scalar, DType::Index, match.scalar, range);
      return ops.binary(e.op, side, indexConst(match.value, e.rhs->range), e.range);
    }
    if (Operand a = dtypeCode(*e.lhs)) {
      Operand b = dtypeCode(*e.rhs);
      if (!b)
        return failure(e.rhs->range, "a dtype is compared with something else", "write a dtype, e.g. f32");
      return ops.binary(e.op, a, b, e.range);
    }
  }
  Operand a = check(*e.lhs), b = check(*e.rhs);
  return ops.binary(e.op, a, b, e.range);
}

Operand HostChecker::sizeOf(const ast::Expr &e) {
  Operand code = dtypeCode(e);
  if (!code)
    return failure(e.range, "`sizeof` needs a dtype", "write sizeof(T) or sizeof(f32)");
  if (const Constant *c = code.constant())
    return indexConst(sizeInBytes(DType(c->asInt())), e.range);
  return node(Op::SizeOf, DType::Index, code.expr->index, e.range);
}

Operand HostChecker::listSum(const ast::Comprehension &e) {
  const auto *range = ast::dynCast<ast::Range>(e.range_.get());
  if (!range || !range->lo || !range->hi || !e.body)
    return {};
  if (range->step)
    return failure(range->step->range, "a sum has no step");
  Operand lo = ops.requireIndex(check(*range->lo), "the start of the sum");
  Operand hi = ops.requireIndex(check(*range->hi), "the end of the sum");
  loopVars.push_back(e.var);
  Operand body = ops.requireIndex(check(*e.body), "the summand");
  loopVars.pop_back();
  if (!lo || !hi || !body)
    return {};
  auto lambda = std::make_shared<Lambda>();
  lambda->params = {int64_t(loopVars.size())};
  lambda->results = {body.expr};
  auto sum = std::make_shared<Expr>();
  sum->op = Op::ListSum;
  sum->type = scalarType(DType::Index);
  sum->operands = {lo.expr, hi.expr};
  sum->lambda = lambda;
  sum->range = e.range;
  return {sum};
}

/// Builtins whose arguments are plain host expressions.
Operand HostChecker::arithmetic(const BuiltinInfo &info, const BoundArguments &args, SourceRange range) {
  std::vector<Operand> values;
  for (const ast::Expr *arg : args.values)
    if (arg)
      values.push_back(check(*arg));
  for (const Operand &value : values)
    if (!value)
      return {};
  std::string what = "`" + info.name + "`";
  auto need = [&](bool ok, const char *kind) {
    if (!ok)
      failure(range, what + " needs " + kind + ", found " + std::string(tilegym::name(values[0].dtype())));
    return ok;
  };
  switch (info.id) {
  case Builtin::min_:
  case Builtin::max_:
    if (values.size() != 2)
      return failure(range, what + " needs two values in " + scope.place);
    return need(!isBool(values[0].dtype()), "numbers")
               ? ops.elementwise(info.operation, what, {values[0], values[1]}, range)
               : Operand{};
  case Builtin::cdiv_:
    return need(isInt(values[0].dtype()), "integers")
               ? ops.elementwise(Op::CDiv, what, {values[0], values[1]}, range)
               : Operand{};
  case Builtin::pow2ceil_:
    return need(isInt(values[0].dtype()), "an integer")
               ? ops.elementwise(Op::Pow2Ceil, what, {values[0]}, range)
               : Operand{};
  case Builtin::abs_:
    return need(!isBool(values[0].dtype()), "a number") ? ops.elementwise(Op::Abs, what, {values[0]}, range)
                                                        : Operand{};
  case Builtin::select_:
    return ops.select(values[0], values[1], values[2], range);
  default: { // sqrt, floor, ceil: of f64, the one float dtype here
    Operand x = values[0].literal ? ops.convert(values[0], DType::F64, range) : values[0];
    if (!need(isFloat(x.dtype()), "a float"))
      return {};
    return ops.elementwise(info.operation, what, {x}, range);
  }
  }
}

Operand HostChecker::call(const ast::Call &e) {
  const auto *callee = ast::dynCast<ast::Name>(e.callee.get());
  if (!callee)
    return failure(e.range, "this does not belong in " + scope.place +
                                ": only dims, scalars and arithmetic on them do");
  const std::string &text = callee->name;
  if (auto dtype = parseDType(text)) {
    if (*dtype != DType::F64 && *dtype != DType::Index)
      return failure(callee->range, "`" + text + "` does not belong in " + scope.place,
                     "integers are computed as index and floats as f64 here: write index(x) or f64(x)");
    if (e.args.size() != 1 || !e.args[0].name.empty() || !e.args[0].value)
      return failure(e.range, "`" + text + "` needs one value");
    return ops.convert(check(*e.args[0].value), *dtype, e.range);
  }
  if (text == "sum" && e.args.size() == 1)
    if (const auto *over = ast::dynCast<ast::Comprehension>(e.args[0].value.get()))
      return listSum(*over);
  const BuiltinInfo *info = findBuiltin(text);
  if (!info) {
    std::vector<std::string> known;
    for (const BuiltinInfo &row : builtins())
      known.push_back(row.name);
    std::string near = nearest(text, known);
    return failure(callee->range, "unknown function `" + text + "`",
                   near.empty() ? "" : "did you mean `" + near + "`?");
  }
  auto args = bindArguments(*info, e, sink);
  if (!args)
    return {};
  auto tensorArgument = [&]() -> int64_t {
    const auto *word = ast::dynCast<ast::Name>(args->values[0]);
    int64_t id = word ? op.findTensor(word->name) : -1;
    if (id < 0)
      failure(args->values[0]->range, "`" + text + "` needs a tensor of the signature");
    return id;
  };
  switch (info->id) {
  case Builtin::sizeof_:
    return sizeOf(*args->values[0]);
  case Builtin::present_: {
    int64_t id = tensorArgument();
    if (id < 0)
      return {};
    if (!op.tensors[id].optional)
      return {makeConst(DType::Bool, Constant{true}, e.range)};
    if (scope.spec)
      return {makeConst(DType::Bool, Constant{bool(scope.spec->present[id])}, e.range)};
    return node(Op::Present, DType::Bool, id, e.range);
  }
  case Builtin::len_: {
    int64_t id = tensorArgument();
    if (id < 0)
      return {};
    if (!op.tensors[id].isList)
      return failure(e.range, "`" + op.tensors[id].name + "` is not a list",
                     "len(...) counts the tensors of a `list`");
    return node(Op::ListLen, DType::Index, id, e.range);
  }
  case Builtin::sm_count_:
    if (!scope.smCount)
      return failure(e.range, "`sm_count()` does not belong in " + scope.place,
                     "only a grid may depend on the device");
    return node(Op::SmCount, DType::Index, 0, e.range);
  case Builtin::min_:
  case Builtin::max_:
  case Builtin::cdiv_:
  case Builtin::pow2ceil_:
  case Builtin::abs_:
  case Builtin::select_:
  case Builtin::sqrt_:
  case Builtin::floor_:
  case Builtin::ceil_:
    return arithmetic(*info, *args, e.range);
  default:
    return failure(callee->range, "`" + text + "` does not belong in " + scope.place,
                   "allowed: min max abs cdiv pow2ceil select sqrt floor ceil sizeof present len sum");
  }
}

Operand HostChecker::index(const ast::Index &e) {
  const auto *base = ast::dynCast<ast::Name>(e.base.get());
  int64_t id = base ? op.findDim(base->name) : -1;
  if (id < 0 || !op.dims[id].perElement) {
    if (base && op.findTensor(base->name) >= 0)
      return name(*base); // says that no data is read here
    return failure(e.range, "only the dims of a list are indexed in " + scope.place);
  }
  if (e.items.size() != 1 || e.items[0].kind != ast::IndexItem::Value || !e.items[0].first)
    return failure(e.range, "`" + base->name + "` takes one element number");
  Operand element = ops.requireIndex(check(*e.items[0].first), "the element number");
  if (!element)
    return {};
  auto expr = std::make_shared<Expr>();
  expr->op = Op::ListDim;
  expr->type = scalarType(DType::Index);
  expr->index = id;
  expr->operands = {element.expr};
  expr->range = e.range;
  return {expr};
}

} // namespace

EnumComparison matchEnumComparison(const ast::Binary &e, const OpModel &op, DiagnosticSink &sink) {
  if (e.op != ast::BinaryOp::Eq && e.op != ast::BinaryOp::Ne)
    return {};
  const ast::Name *sides[] = {ast::dynCast<ast::Name>(e.lhs.get()), ast::dynCast<ast::Name>(e.rhs.get())};
  for (int i = 0; i < 2; ++i) {
    int64_t id = sides[i] ? op.findScalar(sides[i]->name) : -1;
    if (id < 0 || op.scalars[id].enumerators.empty())
      continue;
    const std::vector<std::string> &words = op.scalars[id].enumerators;
    const ast::Expr &other = i == 0 ? *e.rhs : *e.lhs;
    for (size_t k = 0; k < words.size(); ++k)
      if (sides[1 - i] && sides[1 - i]->name == words[k])
        return {id, int64_t(k)};
    sink.error(other.range, "`" + sourceText(other.range) + "` is no value of `" + op.scalars[id].name + "`",
               "it is one of " + quotedList(words));
    return {id, 0, true};
  }
  return {};
}

Operand checkHostExpr(const ast::Expr &e, const HostScope &scope, DiagnosticSink &sink) {
  return HostChecker(scope, sink).check(e);
}

ExprPtr checkHostIndex(const ast::Expr &e, const HostScope &scope, std::string_view what,
                       DiagnosticSink &sink) {
  return Operators(sink, ShapeMode::Host).requireIndex(checkHostExpr(e, scope, sink), what).expr;
}

ExprPtr checkHostBool(const ast::Expr &e, const HostScope &scope, std::string_view what,
                      DiagnosticSink &sink) {
  return Operators(sink, ShapeMode::Host).requireBool(checkHostExpr(e, scope, sink), what).expr;
}

ExprPtr checkHostFloat(const ast::Expr &e, const HostScope &scope, std::string_view what,
                       DiagnosticSink &sink) {
  Operand value = checkHostExpr(e, scope, sink);
  if (value && isBool(value.dtype())) {
    sink.error(e.range, std::string(what) + " is a number, found a condition");
    return nullptr;
  }
  return value ? Operators(sink, ShapeMode::Host).convert(value, DType::F64, e.range).expr : nullptr;
}

static void collect(const Expr &e, HostUses &uses) {
  auto add = [](std::vector<int64_t> &list, int64_t id) {
    if (std::find(list.begin(), list.end(), id) == list.end())
      list.push_back(id);
  };
  if (e.op == Op::Dim || e.op == Op::ListDim)
    add(uses.dims, e.index);
  if (e.op == Op::Scalar)
    add(uses.scalars, e.index);
  uses.smCount |= e.op == Op::SmCount;
  for (const ExprPtr &operand : e.operands)
    collect(*operand, uses);
  if (e.lambda)
    for (const ExprPtr &result : e.lambda->results)
      collect(*result, uses);
}

HostUses usesOf(const Expr &e) {
  HostUses uses;
  collect(e, uses);
  return uses;
}

} // namespace tilegym::sem
