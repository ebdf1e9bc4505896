// SPDX-License-Identifier: MIT
// `fn`s are inlined at each call, after their arguments have been evaluated once. Combiners of reduce and scan and the meaning of
// inline_ptx become Lambdas on scalars.
#include "compiler/semantics/BodyChecker.h"
#include <algorithm>

namespace tilegym::sem {

/// Analysis refuses recursion; this bounds chains.
static constexpr size_t kMaxInlineDepth = 64;

static std::string fnSignature(const ast::FnDecl &fn) {
  std::string text = fn.name.name + "(";
  for (size_t i = 0; i < fn.params.size(); ++i)
    text += (i ? ", " : "") + fn.params[i].name;
  return text + ")";
}

Value BodyChecker::callFunction(const ast::FnDecl &fn, const ast::Call &e) {
  if (e.reference) {
    error(e.reference->range, "`reference` belongs to inline_ptx only");
    return {};
  }
  std::string usage = "it is declared as `" + fnSignature(fn) + "`";
  std::vector<Value> args(fn.params.size());
  std::vector<bool> given(fn.params.size());
  size_t position = 0;
  bool failed = false;
  for (const ast::Arg &arg : e.args) {
    size_t index = position;
    if (arg.name.empty()) {
      ++position;
    } else {
      index = size_t(std::find_if(fn.params.begin(), fn.params.end(),
                                  [&](const auto &p) { return p.name == arg.name; }) -
                     fn.params.begin());
      if (index == fn.params.size()) {
        error(arg.nameRange, quoted(fn.name.name) + " has no argument " + quoted(arg.name), usage);
        return {};
      }
    }
    if (index >= fn.params.size()) {
      error(arg.value ? arg.value->range : e.range, quoted(fn.name.name) + " has too many arguments", usage);
      return {};
    }
    if (given[index]) {
      error(arg.value ? arg.value->range : e.range,
            quoted(fn.name.name) + " is given " + quoted(fn.params[index].name) + " twice", usage);
      return {};
    }
    given[index] = true;
    args[index] = check(arg.value.get());
    failed = failed || !args[index];
    if (args[index].kind == Value::Nothing) {
      asValue(args[index], arg.value->range, "the argument " + quoted(fn.params[index].name));
      failed = true;
    }
  }
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i]) {
      error(e.range, quoted(fn.name.name) + " lacks its argument " + quoted(fn.params[i].name), usage);
      return {};
    }
  if (failed)
    return {};
  return inlineFunction(fn, std::move(args), e.range);
}

Value BodyChecker::inlineFunction(const ast::FnDecl &fn, std::vector<Value> args, SourceRange range) {
  if (inlining.size() >= kMaxInlineDepth) {
    error(range, "calls are nested more than " + std::to_string(kMaxInlineDepth) + " deep");
    return {};
  }
  for (size_t i = 0; i < args.size(); ++i)
    args[i] = snapshot(args[i], fn.params[i].name, range);
  size_t before = diagnostics.all().size();
  int savedLoop = std::exchange(loopDepth, 0);
  inlining.push_back(&fn);
  Value result = Value::nothing();
  {
    ScopeGuard scope(*this, true, isLibraryFunction(&fn));
    for (size_t i = 0; i < args.size(); ++i)
      declare(fn.params[i], args[i], false, "parameter of a fn");
    const auto &stmts = fn.body.stmts;
    for (size_t i = 0; i < stmts.size(); ++i) {
      const auto *last = i + 1 == stmts.size() ? ast::dynCast<ast::ExprStmt>(stmts[i].get()) : nullptr;
      if (last && last->value)
        result = check(last->value.get());
      else if (stmts[i])
        checkStmt(*stmts[i]);
    }
  }
  inlining.pop_back();
  loopDepth = savedLoop;
  for (size_t i = before; i < diagnostics.all().size(); ++i)
    callNotes[i].emplace_back("in this call of " + quoted(fn.name.name), range);
  return result;
}

// ---------------------------------------------------------------- lambdas

const ast::FnDecl *BodyChecker::checkCombiner(const ast::Expr *e, std::string_view what) {
  Value value = check(e);
  if (!value)
    return nullptr;
  if (value.kind == Value::Function)
    return value.function;
  error(e->range, std::string(what) + " must be the name of a fn", "declare it: fn add(a, b) { a + b }");
  return nullptr;
}

std::shared_ptr<const Lambda> BodyChecker::makeLambda(const ast::FnDecl &fn, const std::vector<DType> &params,
                                                      const std::vector<DType> &results, SourceRange range) {
  if (fn.params.size() != params.size()) {
    error(range,
          "the combiner " + quoted(fn.name.name) + " takes " + std::to_string(fn.params.size()) +
              " parameters, expected " + std::to_string(params.size()),
          "it takes every accumulator, then an element of each tile");
    return nullptr;
  }
  auto lambda = std::make_shared<Lambda>();
  std::vector<Value> args;
  for (size_t i = 0; i < params.size(); ++i) {
    lambda->params.push_back(newLocal(fn.params[i].name, scalarType(params[i]), false, fn.params[i].range));
    args.push_back(localValue(lambda->params.back(), fn.params[i].range));
  }
  Block *saved = std::exchange(block, &lambda->body);
  const char *savedPure = std::exchange(pureContext, "a combiner");
  Value value = inlineFunction(fn, std::move(args), range);
  std::vector<Value> values = value.kind == Value::Tuple ? value.elements : std::vector<Value>{value};
  bool good = bool(value);
  if (good && values.size() != results.size()) {
    error(range, "the combiner " + quoted(fn.name.name) + " gives " + std::to_string(values.size()) +
                     " values, expected " + std::to_string(results.size()));
    good = false;
  }
  for (size_t i = 0; good && i < values.size(); ++i) {
    Operand x = ops.require(asValue(values[i], range, "the result of " + quoted(fn.name.name)), results[i],
                            "the result of " + quoted(fn.name.name));
    good = bool(x);
    lambda->results.push_back(x.expr);
  }
  block = saved;
  pureContext = savedPure;
  return good ? lambda : nullptr;
}

Value BodyChecker::inlinePtx(const BoundArguments &args, const ast::Call &e) {
  auto text = checkText(args.values[0], "the text of inline_ptx");
  if (!text || !e.reference) // the parser asks for its meaning
    return {};
  std::vector<Operand> operands;
  for (const ast::Expr *arg : args.variadic)
    if (operands.emplace_back(ops.settle(checkValue(arg, "an operand of inline_ptx"))); !operands.back())
      return {};
  std::vector<Operand *> pointers;
  for (Operand &operand : operands)
    pointers.push_back(&operand);
  std::vector<int64_t> shape;
  if (!ops.unifyShapes(pointers, "inline_ptx", e.range, shape))
    return {};
  auto lambda = std::make_shared<Lambda>();
  Operand result;
  {
    // The meaning sees the operands by their names, as scalars, and nothing else of the body.
    ScopeGuard scope(*this, true, true);
    for (size_t i = 0; i < operands.size(); ++i) {
      const auto *name = ast::dynCast<ast::Name>(args.variadic[i]);
      SourceRange range = args.variadic[i]->range;
      lambda->params.push_back(
          newLocal(name ? name->name : "operand", scalarType(operands[i].dtype()), false, range));
      if (name && !findLocal(name->name))
        scopes.back().symbols.emplace(
            name->name, Symbol{localValue(lambda->params.back(), range), range, false, "operand"});
    }
    Block *saved = std::exchange(block, &lambda->body);
    const char *savedPure = std::exchange(pureContext, "the meaning of inline_ptx");
    result = ops.settle(checkScalar(e.reference.get(), "the meaning of inline_ptx"));
    block = saved;
    pureContext = savedPure;
  }
  if (!result)
    return {};
  lambda->results = {result.expr};
  std::vector<ExprPtr> exprs;
  for (Operand &operand : operands)
    exprs.push_back(operand.expr);
  auto expr = make(Op::InlinePtx, tileType(result.dtype(), shape), std::move(exprs), e.range);
  expr->text = *text;
  expr->lambda = lambda;
  return Operand{expr};
}

} // namespace tilegym::sem
