// SPDX-License-Identifier: MIT
// Scopes, and what a name means: locals, then the op's tensors, scalars, dims and dtypes, then constants, dtypes, functions.
#include "compiler/semantics/BodyChecker.h"
#include "compiler/semantics/HostExpr.h"
#include <cmath>
#include <limits>
#include <numbers>

namespace tilegym::sem {

Symbol *BodyChecker::findLocal(std::string_view name) {
  for (size_t i = scopes.size(); i-- > 0;) {
    if (auto it = scopes[i].symbols.find(name); it != scopes[i].symbols.end())
      return &it->second;
    if (scopes[i].isFunction)
      return nullptr;
  }
  return nullptr;
}

bool BodyChecker::seesOp() const {
  for (size_t i = scopes.size(); i-- > 0;)
    if (scopes[i].isFunction)
      return !scopes[i].isLibrary;
  return true;
}

DType BodyChecker::dtypeOf(int64_t typeVar) const {
  if (typeVar >= 0 && size_t(typeVar) < spec.dtypes.size())
    return spec.dtypes[size_t(typeVar)];
  return DType::F32;
}

std::optional<DType> BodyChecker::dtypeNamed(std::string_view name) const {
  if (seesOp() && !name.empty())
    if (int64_t id = op.findTypeVar(name); id >= 0)
      return dtypeOf(id);
  return parseDType(name);
}

Type BodyChecker::tensorType(int64_t id) const {
  const TensorParam &tensor = op.tensors[size_t(id)];
  Type type;
  type.kind = tensor.isList ? Type::List : Type::View;
  type.dtype = dtypeOf(tensor.typeVar);
  for (const DimUse &use : tensor.dims) {
    int64_t extent = kDynamic;
    if (use.dim >= 0 && size_t(use.dim) < spec.constDims.size())
      extent = spec.constDims[size_t(use.dim)];
    else if (ExprPtr known = use.expr ? specializeHost(use.expr, op, spec) : nullptr;
             known && known->op == Op::Const)
      extent = known->constant.asInt();
    type.shape.push_back(extent);
  }
  return type;
}

Operand BodyChecker::dimValue(int64_t id, SourceRange range) {
  if (size_t(id) < spec.constDims.size() && spec.constDims[size_t(id)] != kDynamic)
    return {makeConst(DType::Index, Constant{spec.constDims[size_t(id)]}, range)};
  auto expr = make(Op::Dim, scalarType(DType::Index), {}, range);
  expr->index = id;
  return {expr};
}

Value BodyChecker::scalarValue(int64_t id, SourceRange range) {
  const ScalarParam &scalar = op.scalars[size_t(id)];
  DType dtype = dtypeOf(scalar.typeVar);
  if (scalar.isConst && size_t(id) < spec.consts.size())
    return Operand{makeConst(dtype, spec.consts[size_t(id)], range)};
  auto expr = make(Op::Scalar, scalarType(dtype), {}, range);
  expr->index = id;
  return Operand{expr};
}

Value BodyChecker::tensorValue(int64_t id, SourceRange range) {
  const TensorParam &tensor = op.tensors[size_t(id)];
  Value value;
  value.id = id;
  bool given = size_t(id) >= spec.present.size() || spec.present[size_t(id)];
  if (!given && tensor.role == Role::Input) {
    value.kind = Value::Absent;
    return value;
  }
  if (tensor.isList) {
    value.kind = Value::ListTensor;
    return value;
  }
  auto expr = make(Op::Tensor, tensorType(id), {}, range);
  expr->index = id;
  return Operand{expr};
}

std::optional<Value> BodyChecker::findOpName(std::string_view name, SourceRange range) {
  if (int64_t id = op.findTensor(name); id >= 0)
    return tensorValue(id, range);
  if (int64_t id = op.findScalar(name); id >= 0)
    return scalarValue(id, range);
  if (int64_t id = op.findDim(name); id >= 0) {
    if (!op.dims[size_t(id)].perElement)
      return dimValue(id, range);
    Value value;
    value.kind = Value::ElementDim;
    value.id = id;
    return value;
  }
  return std::nullopt;
}

const ast::FnDecl *BodyChecker::findFunction(std::string_view name) const {
  auto find = [&](const ast::Spec &in) -> const ast::FnDecl * {
    for (const ast::FnDecl &fn : in.fns)
      if (fn.name.name == name)
        return &fn;
    return nullptr;
  };
  if (op.spec)
    if (const ast::FnDecl *fn = find(*op.spec))
      return fn;
  for (const auto &library : op.libraries)
    if (const ast::FnDecl *fn = library ? find(*library) : nullptr)
      return fn;
  return nullptr;
}

bool BodyChecker::isLibraryFunction(const ast::FnDecl *fn) const {
  return !op.spec || op.spec->fns.empty() || fn < op.spec->fns.data() ||
         fn >= op.spec->fns.data() + op.spec->fns.size();
}

static std::optional<double> namedConstant(std::string_view name) {
  if (name == "inf")
    return std::numeric_limits<double>::infinity();
  if (name == "nan")
    return std::numeric_limits<double>::quiet_NaN();
  if (name == "PI")
    return std::numbers::pi;
  if (name == "LOG2E")
    return std::numbers::log2e;
  return std::nullopt;
}

Value BodyChecker::nameValue(const ast::Name &e) {
  if (Symbol *symbol = findLocal(e.name)) {
    Value value = symbol->value;
    // The use has a place of its own, so that diagnostics about it point here.
    if (value.kind == Value::Data && value.data.expr->op != Op::Const && value.data.expr->operands.empty()) {
      auto copy = std::make_shared<Expr>(*value.data.expr);
      copy->range = e.range;
      value.data.expr = copy;
    } else if (value.kind == Value::Data && value.data.expr->op == Op::Const) {
      value.data.expr = makeConst(value.data.dtype(), value.data.expr->constant, e.range);
    }
    return value;
  }
  if (seesOp()) {
    if (auto value = findOpName(e.name, e.range))
      return *value;
  }
  if (auto constant = namedConstant(e.name))
    return ops.floatLiteral(*constant, e.range);
  if (auto dtype = dtypeNamed(e.name)) {
    Value value;
    value.kind = Value::TypeName;
    value.dtype = *dtype;
    return value;
  }
  if (const ast::FnDecl *fn = findFunction(e.name)) {
    Value value;
    value.kind = Value::Function;
    value.function = fn;
    return value;
  }
  return unknownName(e.name, e.range, false);
}

Value BodyChecker::unknownName(std::string_view name, SourceRange range, bool called) {
  if (!called && findBuiltin(name)) {
    error(range, quoted(name) + " is a builtin function", "call it: " + findBuiltin(name)->signature);
    return {};
  }
  if (!called && name == "None") {
    error(range, "`None` stands only in an index, where it adds an axis");
    return {};
  }
  std::vector<std::string> names;
  for (const BuiltinInfo &info : builtins())
    if (called)
      names.push_back(info.name);
  for (size_t i = scopes.size(); i-- > 0;) {
    for (const auto &[known, symbol] : scopes[i].symbols)
      names.push_back(known);
    if (scopes[i].isFunction)
      break;
  }
  if (seesOp()) {
    for (const auto &tensor : op.tensors)
      names.push_back(tensor.name);
    for (const auto &scalar : op.scalars)
      names.push_back(scalar.name);
    for (const auto &dim : op.dims)
      names.push_back(dim.name);
    for (const auto &typeVar : op.typeVars)
      names.push_back(typeVar.name);
  }
  if (op.spec)
    for (const auto &fn : op.spec->fns)
      names.push_back(fn.name.name);
  for (const auto &library : op.libraries)
    if (library)
      for (const auto &fn : library->fns)
        names.push_back(fn.name.name);
  for (DType type : allDTypes)
    names.emplace_back(tilegym::name(type));
  std::string near = nearest(name, names), help;
  if (!near.empty())
    help = "did you mean " + quoted(near) + "?";
  else if (!seesOp() && inlining.empty())
    help = "the meaning of inline_ptx sees only its operands, by the names that they have";
  else if (!seesOp())
    help = "a library function sees only its parameters, builtins and other functions; pass it in";
  else if (!inlining.empty())
    help = "a fn sees its parameters and the op's names, not the caller's; pass it in";
  else if (called)
    help = "declare it with `fn`, `use` the library that has it, or see `tilegymc list --builtins`";
  error(range, (called ? "unknown function " : "unknown name ") + quoted(name), help);
  return {};
}

void BodyChecker::declare(const ast::BoundName &name, Value value, bool isVar, const char *noun) {
  if (name.name == "_")
    return;
  if (Symbol *old = findLocal(name.name)) {
    Diagnostic &d = error(name.range, quoted(name.name) + " is already declared",
                          "shadowing is not allowed; choose another name");
    if (old->range.file)
      d.notes.push_back(
          {Severity::Note, old->range, std::string("it is a ") + old->noun + " declared here", {}, {}});
    return;
  }
  const char *shadowed = nullptr;
  // A fn's own parameters may be called as it likes: it cannot know the op's names.
  bool ownNamespace = std::string_view(noun) == "parameter of a fn";
  if (!ownNamespace && seesOp()) {
    shadowed = op.findTensor(name.name) >= 0    ? "a tensor of the op"
               : op.findScalar(name.name) >= 0  ? "a scalar of the op"
               : op.findDim(name.name) >= 0     ? "a dim of the op"
               : op.findTypeVar(name.name) >= 0 ? "a dtype of the op"
                                                : nullptr;
  }
  if (!shadowed)
    shadowed = findBuiltin(name.name)     ? "a builtin function"
               : findFunction(name.name)  ? "a fn"
               : parseDType(name.name)    ? "a dtype"
               : namedConstant(name.name) ? "a constant"
               : name.name == "None"      ? "a word of the language"
                                          : nullptr;
  // Declared all the same, so that its uses say nothing more.
  if (shadowed)
    error(name.range, quoted(name.name) + " is " + shadowed, "shadowing is not allowed; choose another name");
  scopes.back().symbols.emplace(name.name, Symbol{std::move(value), name.range, isVar, noun});
}

} // namespace tilegym::sem
