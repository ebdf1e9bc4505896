// SPDX-License-Identifier: MIT
// Expressions: the dispatch over syntax, calls to the families of builtins, and what each kind of argument must be.
#include "compiler/semantics/BodyChecker.h"
#include "compiler/semantics/HostExpr.h"
#include <algorithm>

namespace tilegym::sem {

/// Inlining and `const for` multiply what is written; past these a body is refused rather than checked for hours.
static constexpr int64_t kMaxSteps = 2'000'000;
static constexpr int kMaxDepth = 700;

Value BodyChecker::check(const ast::Expr *e) {
  if (!e || tooLarge)
    return {};
  if (++steps > kMaxSteps || depth >= kMaxDepth) {
    tooLarge = true;
    error(e->range,
          depth >= kMaxDepth ? "this is nested too deeply once functions are inlined"
                             : "this body is too large once functions are inlined and `const for` unrolled",
          "use a run-time loop, or split the kernel");
    return {};
  }
  ++depth;
  Value value = checkUnlimited(*e);
  --depth;
  if (value.kind != Value::Data || !value.data.type().isTile() || value.data.type().shape.empty())
    return value;
  ShapeFault fault;
  if (inKernel())
    fault = checkTileShape(value.data.type().shape);
  else if (value.data.type().rank() > kMaxRank)
    fault = {"a value of rank " + std::to_string(value.data.type().rank()) + " has more than " +
                 std::to_string(kMaxRank) + " axes",
             ""};
  if (fault.message.empty())
    return value;
  shapeError(e->range, fault);
  return {};
}

Value BodyChecker::checkUnlimited(const ast::Expr &e) {
  using K = ast::ExprKind;
  switch (e.kind) {
  case K::IntLiteral:
    return ops.literal(static_cast<const ast::IntLiteral &>(e));
  case K::FloatLiteral:
    return ops.literal(static_cast<const ast::FloatLiteral &>(e));
  case K::BoolLiteral:
    return ops.literal(static_cast<const ast::BoolLiteral &>(e));
  case K::StringLiteral: {
    Value value;
    value.kind = Value::Text;
    value.text = static_cast<const ast::StringLiteral &>(e).value;
    return value;
  }
  case K::Name:
    return nameValue(static_cast<const ast::Name &>(e));
  case K::Unary: {
    const auto &unary = static_cast<const ast::Unary &>(e);
    std::string what = quoted(ast::spelling(unary.op));
    Operand x = checkValue(unary.operand.get(), what);
    return hasArithmetic(x, what, e.range) ? Value(ops.unary(unary.op, x, e.range)) : Value();
  }
  case K::Binary:
    return checkBinary(static_cast<const ast::Binary &>(e));
  case K::Call:
    return checkCall(static_cast<const ast::Call &>(e));
  case K::Member:
    return checkMember(static_cast<const ast::Member &>(e));
  case K::Index:
    return checkIndex(static_cast<const ast::Index &>(e));
  case K::Tuple:
  case K::List: {
    const auto &elements = e.kind == K::Tuple ? static_cast<const ast::Tuple &>(e).elements
                                              : static_cast<const ast::List &>(e).elements;
    std::vector<Value> values;
    for (const auto &element : elements)
      if (values.emplace_back(check(element.get())); !values.back())
        return {};
    return Value::tuple(std::move(values));
  }
  case K::Range:
    error(e.range, "a range stands only after `in`");
    return {};
  case K::Comprehension:
    error(e.range, "`g in lo .. hi: e` stands only as the argument of `sum`");
    return {};
  }
  return {};
}

/// `reduction == mean`: the other side is one of the const's own words, which are no names elsewhere.
std::optional<Value> BodyChecker::enumComparison(const ast::Binary &e) {
  for (const ast::Expr *side : {e.lhs.get(), e.rhs.get()})
    if (const auto *name = ast::dynCast<ast::Name>(side); name && findLocal(name->name))
      return std::nullopt;
  if (!seesOp())
    return std::nullopt;
  EnumComparison match = matchEnumComparison(e, op, diagnostics);
  if (match.failed)
    return Value();
  if (match.scalar < 0)
    return std::nullopt;
  bool equal = spec.consts[size_t(match.scalar)].asInt() == match.value;
  return Value(Operand{makeConst(DType::Bool, Constant{equal == (e.op == ast::BinaryOp::Eq)}, e.range)});
}

Value BodyChecker::checkBinary(const ast::Binary &e) {
  if (auto value = enumComparison(e))
    return *value;
  std::string what = quoted(ast::spelling(e.op));
  Value a = check(e.lhs.get()), b = check(e.rhs.get());
  // `T == f32`: dtypes compare at compile time.
  if (a.kind == Value::TypeName && b.kind == Value::TypeName &&
      (e.op == ast::BinaryOp::Eq || e.op == ast::BinaryOp::Ne))
    return Operand{
        makeConst(DType::Bool, Constant{(a.dtype == b.dtype) == (e.op == ast::BinaryOp::Eq)}, e.range)};
  Operand x = a ? asValue(a, e.lhs->range, what) : Operand(),
          y = b ? asValue(b, e.rhs->range, what) : Operand();
  if (!hasArithmetic(x, what, e.lhs->range) || !hasArithmetic(y, what, e.rhs->range))
    return {};
  return ops.binary(e.op, x, y, e.range);
}

Value BodyChecker::checkMember(const ast::Member &e) {
  if (e.name == "tile" || e.name == "permute") {
    error(e.nameRange, "`." + e.name + "` is a call", "write x." + e.name + "(...)");
    return {};
  }
  if (e.name != "T") {
    std::string near = nearest(e.name, {"tile", "permute", "T"});
    error(e.nameRange, "unknown member `." + e.name + "`",
          (near.empty() ? "" : "did you mean `." + near + "`? ") +
              std::string("tensors have .tile(...), .permute(...) and .T"));
    return {};
  }
  Value base = check(e.base.get());
  if (base.kind != Value::Data) {
    if (base)
      asValue(base, e.base->range, "`.T`");
    return {};
  }
  if (base.data.type().rank() != 2) {
    error(e.range, "`.T` swaps two axes, found " + toString(base.data.type()),
          "name the order of the axes: .permute(...)");
    return {};
  }
  return base.data.type().kind == Type::View ? Value(permuteView(base.data, {1, 0}, e.range))
                                             : permuteValue(base.data, {1, 0}, e.range);
}

// ---------------------------------------------------------------- calls

Value BodyChecker::checkCall(const ast::Call &e) {
  if (const auto *member = ast::dynCast<ast::Member>(e.callee.get())) {
    if (member->name != "tile" && member->name != "permute") {
      std::string near = nearest(member->name, {"tile", "permute"});
      error(member->nameRange, "unknown member `." + member->name + "`",
            near.empty() ? "tensors have .tile(...), .permute(...) and .T" : "did you mean `." + near + "`?");
      return {};
    }
    Value base = check(member->base.get());
    if (!base)
      return {};
    if (member->name == "permute")
      return permuteMember(base, e);
    if (base.kind == Value::Data && base.data.type().kind == Type::View)
      return tileView(base.data, e);
    if (base.kind == Value::Absent || base.kind != Value::Data)
      asValue(base, member->base->range, "`.tile`");
    else
      error(e.range, "`.tile` cuts a tensor, found " + toString(base.data.type()),
            "use extract(...) or split(...) on a tile");
    return {};
  }
  const auto *callee = ast::dynCast<ast::Name>(e.callee.get());
  if (!callee) {
    error(e.callee ? e.callee->range : e.range, "this cannot be called",
          "call a builtin, a fn, or a dtype such as f32(x)");
    return {};
  }
  if (Symbol *symbol = findLocal(callee->name)) {
    if (symbol->value.kind == Value::TypeName)
      return checkConversion(symbol->value.dtype, e);
    if (symbol->value.kind == Value::Function)
      return callFunction(*symbol->value.function, e);
    if (symbol->value)
      error(callee->range, quoted(callee->name) + " is a " + symbol->noun + ", not a function");
    return {};
  }
  if (const BuiltinInfo *info = findBuiltin(callee->name)) {
    if (e.args.size() == 1)
      if (const auto *comprehension = ast::dynCast<ast::Comprehension>(e.args[0].value.get()))
        return checkComprehension(e, *comprehension);
    return checkBuiltin(*info, e);
  }
  if (const ast::FnDecl *fn = findFunction(callee->name))
    return callFunction(*fn, e);
  if (auto dtype = dtypeNamed(callee->name))
    return checkConversion(*dtype, e);
  if (seesOp() && findOpName(callee->name, callee->range)) {
    error(callee->range, quoted(callee->name) + " is not a function",
          "index with brackets: " + callee->name + "[...]");
    return {};
  }
  return unknownName(callee->name, callee->range, true);
}

Value BodyChecker::checkBuiltin(const BuiltinInfo &info, const ast::Call &e) {
  if (e.reference && info.id != Builtin::inline_ptx_) {
    error(e.reference->range, "`reference` belongs to inline_ptx only");
    return {};
  }
  auto args = bindArguments(info, e, diagnostics);
  if (!args)
    return {};
  switch (info.family) {
  case Family::Elementwise:
    return info.id == Builtin::select_ ? selectOp(*args, e.range) : elementwise(info, *args, e.range);
  case Family::MinMax:
    // Two values: elementwise. One: a reduction.
    if (!args->values[1])
      return reduction(info, *args, e.range);
    for (size_t option : {2, 3})
      if (args->values[option]) {
        error(args->values[option]->range,
              quoted(info.name) + " of two values takes no " + quoted(info.arguments[option].name),
              "reduce one tile: " + info.name + "(x, axis=1)");
        return {};
      }
    return elementwise(info, *args, e.range);
  case Family::Convert:
    return conversionOp(info.id, *args, e.range);
  case Family::Shape:
    return shapeOp(info.id, *args, e.range);
  case Family::Reduce:
    return reduction(info, *args, e.range);
  case Family::Combine:
    return combineOp(info, *args, e.range);
  case Family::Matmul:
    return matmulOp(info.id, *args, e.range);
  case Family::Random:
    return randomOp(info.id, *args, e.range);
  case Family::Program:
    return info.id == Builtin::grid_ ? gridOp(e) : programOp(info.id, *args, e.range);
  case Family::Memory:
    return memoryOp(info.id, *args, e.range);
  case Family::Facts:
    return factsOp(info.id, *args, e);
  }
  return {};
}

/// `f32(x)`, `f8e4m3(x, sat=false)`, `f16(x, round=down)`.
Value BodyChecker::checkConversion(DType to, const ast::Call &e) {
  std::string what = quoted(name(to)), usage = "it is written " + std::string(name(to)) +
                                               "(x, round=nearest | zero | down | up, sat=true)";
  const ast::Expr *source = nullptr;
  Rounding rounding = Rounding::NearestEven;
  bool saturate = true;
  for (const ast::Arg &arg : e.args) {
    if (arg.name.empty()) {
      if (source) {
        error(arg.value ? arg.value->range : e.range, what + " converts one value", usage);
        return {};
      }
      source = arg.value.get();
    } else if (arg.name == "round") {
      const auto *mode = ast::dynCast<ast::Name>(arg.value.get());
      static constexpr std::pair<std::string_view, Rounding> modes[] = {{"nearest", Rounding::NearestEven},
                                                                        {"zero", Rounding::TowardZero},
                                                                        {"down", Rounding::Down},
                                                                        {"up", Rounding::Up}};
      auto it = std::find_if(std::begin(modes), std::end(modes),
                             [&](const auto &m) { return mode && m.first == mode->name; });
      if (it == std::end(modes) || !isFloat(to)) {
        error(arg.value ? arg.value->range : e.range,
              isFloat(to) ? "`round` must be nearest, zero, down or up"
                          : "`round` belongs to conversions to a float",
              isFloat(to) ? "" : "use floor, ceil, round or trunc before converting to an integer");
        return {};
      }
      rounding = it->second;
    } else if (arg.name == "sat") {
      auto value = checkConstBool(arg.value.get(), "`sat`");
      if (!value)
        return {};
      saturate = *value;
    } else {
      error(arg.nameRange, what + " has no argument " + quoted(arg.name), usage);
      return {};
    }
  }
  if (!source) {
    error(e.range, what + " lacks the value to convert", usage);
    return {};
  }
  return ops.convert(checkValue(source, what), to, e.range, rounding, saturate);
}

/// `sum(g in 0 .. len(a): cdiv(M[g], BM))`, for host and kernel alike.
Value BodyChecker::checkComprehension(const ast::Call &e, const ast::Comprehension &c) {
  const auto *callee = ast::dynCast<ast::Name>(e.callee.get());
  const auto *range = ast::dynCast<ast::Range>(c.range_.get());
  if (!callee || callee->name != "sum" || !range || range->step) {
    error(e.range, "only `sum(g in lo .. hi: e)` takes a range");
    return {};
  }
  ExprPtr lo = checkDetached(range->lo.get(), "the start of the range"),
          hi = checkDetached(range->hi.get(), "the end of the range");
  if (!lo || !hi)
    return {};
  auto lambda = std::make_shared<Lambda>();
  int64_t local = newLocal(c.var, scalarType(DType::Index), false, c.varRange);
  lambda->params = {local};
  {
    ScopeGuard scope(*this);
    declare({c.var, c.varRange}, localValue(local, c.varRange), false, "range variable");
    ExprPtr body = checkDetached(c.body.get(), "the summand");
    if (!body)
      return {};
    lambda->results = {body};
  }
  auto sum = make(Op::ListSum, scalarType(DType::Index), {lo, hi}, e.range);
  sum->lambda = lambda;
  return Operand{sum};
}

// ---------------------------------------------------------------- host expressions

/// An index scalar that is one expression: nothing it contains becomes a statement of its own.
ExprPtr BodyChecker::checkDetached(const ast::Expr *e, std::string_view what) {
  Block *saved = block;
  block = nullptr;
  Operand x = ops.requireIndex(checkValue(e, what), what);
  block = saved;
  return x.expr;
}

/// Operations that the host evaluates: scalar arithmetic on what a call knows before it starts.
static bool isHostOperation(Op op) {
  switch (op) {
  case Op::Const:
  case Op::Dim:
  case Op::Scalar:
  case Op::KernelParam:
  case Op::ListDim:
  case Op::ListLen:
  case Op::SmCount:
  case Op::Convert:
  case Op::ListSum:
  case Op::Local:
    return true;
  default:
    return op >= Op::Neg && op <= Op::Select;
  }
}

bool BodyChecker::isHost(const Expr &e, std::vector<int64_t> &known, int64_t &budget) {
  if (--budget < 0 || !isHostOperation(e.op) || !e.type.isScalar())
    return false;
  if (e.op == Op::Local && kind != Kind::Plan &&
      std::find(known.begin(), known.end(), e.index) == known.end())
    return false;
  for (const ExprPtr &operand : e.operands)
    if (!isHost(*operand, known, budget))
      return false;
  if (!e.lambda)
    return true;
  known.insert(known.end(), e.lambda->params.begin(), e.lambda->params.end());
  bool good = e.lambda->body.empty();
  for (const ExprPtr &result : e.lambda->results)
    good = good && isHost(*result, known, budget);
  known.resize(known.size() - e.lambda->params.size());
  return good;
}

ExprPtr BodyChecker::checkHost(const ast::Expr *e, std::string_view what) {
  ExprPtr expr = checkDetached(e, what);
  if (!expr)
    return nullptr;
  std::vector<int64_t> known;
  // Shared subtrees count each time: the host evaluates them each time.
  int64_t budget = 10'000;
  if (isHost(*expr, known, budget))
    return expr;
  error(e->range,
        budget < 0 ? std::string(what) + " is too large"
                   : std::string(what) + " must be known before the launch",
        "it may use dims, scalars, consts, tile parameters and sm_count()");
  return nullptr;
}

// ---------------------------------------------------------------- arguments

Operand BodyChecker::asValue(const Value &value, SourceRange range, std::string_view what) {
  std::string found, help;
  switch (value.kind) {
  case Value::Invalid:
    return {};
  case Value::Data:
    if (value.data.type().isTile())
      return value.data;
    if (inReference() && value.data.type().kind == Type::View)
      return readView(value.data, range);
    found = toString(value.data.type());
    help = value.data.type().kind == Type::View ? "read it first: load(...)" : "";
    break;
  case Value::Absent:
    if (deadDepth)
      return {};
    error(range,
          "the optional tensor " + quoted(op.tensors[size_t(value.id)].name) +
              " is used where it may be absent",
          "guard it: const if present(" + op.tensors[size_t(value.id)].name + ") { ... }");
    return {};
  case Value::Nothing:
    found = "a call that has no value";
    break;
  case Value::Tuple:
    found = "a tuple";
    help = "take it apart: let (a, b) = ...";
    break;
  case Value::TypeName:
    found = "the dtype " + std::string(name(value.dtype));
    help = "convert a value by it: " + std::string(name(value.dtype)) + "(x)";
    break;
  case Value::Function:
    found = "the fn " + quoted(value.function->name.name);
    help = "call it: " + value.function->name.name + "(...)";
    break;
  case Value::Text:
    found = "a string";
    break;
  case Value::Scratch:
    found = "a scratch buffer";
    help = "pass it to a kernel: launch k(p = p)";
    break;
  case Value::ListTensor:
    found = "the list " + quoted(op.tensors[size_t(value.id)].name);
    help = "take an element: " + op.tensors[size_t(value.id)].name + "[g]";
    break;
  case Value::ElementDim:
    found = "the dim " + quoted(op.dims[size_t(value.id)].name) + " of each list element";
    help = "take one element's: " + op.dims[size_t(value.id)].name + "[g]";
    break;
  }
  error(range, std::string(what) + " needs a value, found " + found, help);
  return {};
}

bool BodyChecker::hasArithmetic(const Operand &x, std::string_view what, SourceRange range) {
  if (!x || (x.dtype() != DType::F8E4M3 && x.dtype() != DType::F8E5M2))
    return true;
  error(range, std::string(what) + " of " + std::string(name(x.dtype())) + ", which has no arithmetic",
        "convert it: f32(x); mma takes f8 as it is");
  return false;
}

Operand BodyChecker::checkValue(const ast::Expr *e, std::string_view what) {
  Value value = check(e);
  return value ? asValue(value, e->range, what) : Operand();
}

Operand BodyChecker::checkScalar(const ast::Expr *e, std::string_view what) {
  Operand x = checkValue(e, what);
  if (!x || x.type().isScalar())
    return x;
  error(e->range, std::string(what) + " must be a scalar, found " + toString(x.type()));
  return {};
}

std::optional<int64_t> BodyChecker::checkConstInt(const ast::Expr *e, std::string_view what) {
  Operand x = checkValue(e, what);
  if (!x)
    return std::nullopt;
  auto value = ops.requireConstInt(x, what);
  return value;
}

std::optional<bool> BodyChecker::checkConstBool(const ast::Expr *e, std::string_view what) {
  Operand x = ops.requireBool(checkValue(e, what), what);
  if (!x)
    return std::nullopt;
  if (const Constant *c = x.constant())
    return c->asBool();
  error(e->range, std::string(what) + " must be known at compile time, found a run-time value",
        "consts, tile parameters, dtypes and present(...) are; for a run-time condition write `if`");
  return std::nullopt;
}

std::optional<std::vector<int64_t>> BodyChecker::checkConstInts(const ast::Expr *e, std::string_view what) {
  Value value = check(e);
  if (!value)
    return std::nullopt;
  std::vector<Value> elements = value.kind == Value::Tuple ? value.elements : std::vector<Value>{value};
  std::vector<int64_t> ints;
  for (const Value &element : elements) {
    auto constant = ops.requireConstInt(asValue(element, e->range, what), what);
    if (!constant)
      return std::nullopt;
    ints.push_back(*constant);
  }
  return ints;
}

std::optional<DType> BodyChecker::checkDType(const ast::Expr *e, std::string_view what) {
  Value value = check(e);
  if (!value)
    return std::nullopt;
  if (value.kind == Value::TypeName)
    return value.dtype;
  error(e->range, std::string(what) + " must be a dtype",
        "write f32, bf16, i32 ... or a dtype name of the op");
  return std::nullopt;
}

std::optional<ShapeArgument> BodyChecker::checkShape(const ast::Expr *e, std::string_view what,
                                                     bool mayInfer) {
  Value value = check(e);
  if (!value)
    return std::nullopt;
  std::vector<Value> elements = value.kind == Value::Tuple ? value.elements : std::vector<Value>{value};
  ShapeArgument shape;
  bool dynamic = false;
  for (const Value &element : elements) {
    Operand x = ops.requireIndex(asValue(element, e->range, what), what);
    if (!x)
      return std::nullopt;
    if (const Constant *c = x.constant()) {
      if (c->asInt() < 0 && !(mayInfer && c->asInt() == -1)) {
        error(x.expr->range,
              std::string(what) + " has the extent " + std::to_string(c->asInt()) + ", which is negative");
        return std::nullopt;
      }
      shape.extents.push_back(c->asInt());
    } else if (inReference()) {
      shape.extents.push_back(kDynamic);
      dynamic = true;
    } else {
      error(x.expr->range, std::string(what) + " has a run-time extent",
            "extents of tiles are compile-time: use a tile parameter, or a dim with listed values (where D: "
            "64 | 128)");
      return std::nullopt;
    }
    shape.operands.push_back(x.expr);
  }
  if (int64_t(shape.extents.size()) > kMaxRank) {
    error(e->range, std::string(what) + " has more than " + std::to_string(kMaxRank) + " axes");
    return std::nullopt;
  }
  if (!dynamic)
    shape.operands.clear();
  return shape;
}

std::optional<int64_t> BodyChecker::checkAxis(const ast::Expr *e, int64_t rank, std::string_view what) {
  auto axis = checkConstInt(e, "`axis`");
  if (!axis)
    return std::nullopt;
  if (*axis >= -rank && *axis < rank)
    return *axis < 0 ? *axis + rank : *axis;
  error(e->range, std::string(what) + " has no axis " + std::to_string(*axis) + ": its rank is " +
                      std::to_string(rank));
  return std::nullopt;
}

std::optional<std::string> BodyChecker::checkText(const ast::Expr *e, std::string_view what) {
  Value value = check(e);
  if (!value)
    return std::nullopt;
  if (value.kind == Value::Text)
    return value.text;
  error(e->range, std::string(what) + " must be a string in quotes");
  return std::nullopt;
}

} // namespace tilegym::sem
