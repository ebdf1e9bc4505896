// SPDX-License-Identifier: MIT
// Statements: declarations, assignment, control flow, and the emission of the checked tree's statements and locals.
#include "compiler/semantics/BodyChecker.h"

namespace tilegym::sem {

// ---------------------------------------------------------------- emission

std::shared_ptr<Expr> BodyChecker::make(Op operation, Type type, std::vector<ExprPtr> operands,
                                        SourceRange range) const {
  auto expr = std::make_shared<Expr>();
  expr->op = operation;
  expr->type = std::move(type);
  expr->operands = std::move(operands);
  expr->range = range;
  return expr;
}

static bool isExit(Stmt::Kind kind) {
  return kind == Stmt::Break || kind == Stmt::Continue || kind == Stmt::Return;
}

Stmt &BodyChecker::emit(Stmt::Kind kind, SourceRange range) {
  auto stmt = std::make_shared<Stmt>();
  stmt->kind = kind;
  stmt->range = range;
  // `const if` may have put a `return` before what follows, which is then dead in this variant.
  bool dead = !block->empty() && isExit(block->back()->kind);
  (dead ? unreachable : *block).push_back(stmt);
  return *stmt;
}

int64_t BodyChecker::newLocal(std::string name, Type type, bool isVar, SourceRange range) {
  body.locals.push_back({std::move(name), std::move(type), isVar, range});
  return int64_t(body.locals.size()) - 1;
}

Operand BodyChecker::localValue(int64_t local, SourceRange range) const {
  auto expr = make(Op::Local, body.locals[size_t(local)].type, {}, range);
  expr->index = local;
  return {expr};
}

Operand BodyChecker::bind(Operand value, std::string_view name, SourceRange range, bool isTemporary) {
  if (!value || !block)
    return value;
  const Expr &e = *value.expr;
  bool leaf = e.op == Op::Const || e.op == Op::Dim || e.op == Op::Scalar || e.op == Op::KernelParam ||
              e.op == Op::Tensor || (e.op == Op::Local && !body.locals[size_t(e.index)].isVar);
  if (leaf)
    return value;
  int64_t local = newLocal(std::string(name), e.type, false, range);
  body.locals.back().isTemporary = isTemporary;
  Stmt &let = emit(Stmt::Let, range);
  let.index = local;
  let.value = value.expr;
  if (e.type.kind == Type::View)
    letValues[local] = value.expr;
  return localValue(local, range);
}

Value BodyChecker::snapshot(const Value &value, std::string_view name, SourceRange range) {
  Value result = value;
  if (value.kind == Value::Data && !value.data.literal)
    result.data = bind(value.data, name, range);
  for (Value &element : result.elements)
    element = snapshot(element, name, range);
  return result;
}

/// A builtin that gives several values: the tuple is computed once, its elements are taken from that.
Value BodyChecker::tupleResult(ExprPtr tuple, std::string_view name) {
  Operand whole = bind({tuple}, name, tuple->range);
  std::vector<Value> elements;
  for (size_t i = 0; i < tuple->type.elements.size(); ++i) {
    auto get = make(Op::TupleGet, tuple->type.elements[i], {whole.expr}, tuple->range);
    get->index = int64_t(i);
    elements.push_back(Operand{get});
  }
  return Value::tuple(std::move(elements));
}

bool BodyChecker::mayHaveEffects(SourceRange range, std::string_view what) {
  if (block && !pureContext)
    return true;
  error(range, std::string(what) + " has an effect, which is not allowed in " +
                   (pureContext ? pureContext : "a host expression"));
  return false;
}

// ---------------------------------------------------------------- blocks

void BodyChecker::checkBlock(const ast::Block &statements) {
  using K = ast::StmtKind;
  ScopeGuard scope(*this);
  const ast::Stmt *before = nullptr;
  for (const auto &stmt : statements.stmts) {
    if (!stmt)
      continue;
    if (before && (before->kind == K::Break || before->kind == K::Continue || before->kind == K::Return)) {
      error(stmt->range, "this is never reached", "the statement before it leaves");
      return;
    }
    checkStmt(*stmt);
    before = stmt.get();
  }
}

void BodyChecker::checkStmt(const ast::Stmt &stmt) {
  using K = ast::StmtKind;
  if (tooLarge)
    return;
  if (++steps, depth > 600) {
    tooLarge = true;
    error(stmt.range, "this is nested too deeply once functions are inlined");
    return;
  }
  if (!block && stmt.kind != K::Let && stmt.kind != K::ExprStmt) {
    error(stmt.range, "a host expression may call only functions made of `let` and a value");
    return;
  }
  bool head = stmt.kind == K::Math;
  if (const auto *expr = ast::dynCast<ast::ExprStmt>(&stmt))
    if (const auto *call = ast::dynCast<ast::Call>(expr->value.get()))
      if (const auto *callee = ast::dynCast<ast::Name>(call->callee.get()))
        head = callee->name == "grid";
  if (inKernel() && inlining.empty() && !head) {
    if (!headOver && !gridSeen) {
      error(stmt.range, "a kernel begins with `grid(...)`", "say how many blocks run before anything else");
      gridSeen = true; // said enough
    }
    headOver = true;
  }
  ++depth;
  switch (stmt.kind) {
  case K::Let: {
    const auto &let = static_cast<const ast::Let &>(stmt);
    checkLet(let.names, let.isTuple, let.value.get(), let.range, false);
    break;
  }
  case K::Var: {
    const auto &var = static_cast<const ast::Var &>(stmt);
    checkLet(var.names, var.isTuple, var.value.get(), var.range, true);
    break;
  }
  case K::Assign:
    checkAssign(static_cast<const ast::Assign &>(stmt));
    break;
  case K::ExprStmt:
    checkExprStmt(static_cast<const ast::ExprStmt &>(stmt));
    break;
  case K::For: {
    const auto &loop = static_cast<const ast::For &>(stmt);
    loop.isConst ? checkConstFor(loop) : checkFor(loop);
    break;
  }
  case K::While:
    checkWhile(static_cast<const ast::While &>(stmt));
    break;
  case K::If:
    checkIf(static_cast<const ast::If &>(stmt));
    break;
  case K::Break:
  case K::Continue: {
    bool isBreak = stmt.kind == K::Break;
    if (loopDepth == 0)
      error(stmt.range, isBreak ? "`break` stands outside of a loop" : "`continue` stands outside of a loop",
            inlining.empty() ? "it leaves a run-time `for` or `while`"
                             : "it cannot leave a loop of the fn's caller");
    else
      emit(isBreak ? Stmt::Break : Stmt::Continue, stmt.range);
    break;
  }
  case K::Return:
    if (!inlining.empty())
      error(stmt.range, "`return` ends the block, so it cannot stand in a fn",
            "the last expression of a fn is its value");
    else if (kind == Kind::Plan)
      error(stmt.range, "a plan has no `return`");
    else
      emit(Stmt::Return, stmt.range);
    break;
  case K::Math:
    checkMath(static_cast<const ast::Math &>(stmt));
    break;
  case K::Scratch:
    checkScratch(static_cast<const ast::Scratch &>(stmt));
    break;
  case K::Launch:
    checkLaunch(static_cast<const ast::Launch &>(stmt));
    break;
  }
  --depth;
}

void BodyChecker::checkMath(const ast::Math &stmt) {
  if (!inKernel() || !inlining.empty()) {
    error(stmt.range, "`math` belongs at the head of a kernel");
    return;
  }
  if (headOver) {
    error(stmt.range, "`math` stands after the kernel's first statement",
          "say it once, at the kernel's head");
    return;
  }
  for (const ast::BoundName &flag : stmt.flags) {
    bool *target = flag.name == "approx"     ? &kernel->math.approx
                   : flag.name == "ftz"      ? &kernel->math.ftz
                   : flag.name == "contract" ? &kernel->math.contract
                                             : nullptr;
    if (target)
      *target = true;
    else
      error(flag.range, "unknown math flag " + quoted(flag.name), "the flags are approx, ftz and contract");
  }
}

// ---------------------------------------------------------------- let, var, assignment

void BodyChecker::checkLet(const std::vector<ast::BoundName> &names, bool isTuple, const ast::Expr *value,
                           SourceRange range, bool isVar) {
  Value whole = check(value);
  auto one = [&](const ast::BoundName &name, const Value &v) {
    isVar ? declareVar(name, v, range) : declareLet(name, v, value ? value->range : range);
  };
  if (!isTuple) {
    if (!names.empty())
      one(names[0], whole);
    return;
  }
  if (whole && whole.kind != Value::Tuple) {
    error(value->range,
          "a tuple of " + std::to_string(names.size()) + " names takes a tuple, found " +
              (whole.kind == Value::Data ? toString(whole.data.type()) : std::string("something else")));
    whole = {};
  }
  if (whole && whole.elements.size() != names.size()) {
    error(value->range, "a tuple of " + std::to_string(names.size()) + " names takes as many values, found " +
                            std::to_string(whole.elements.size()));
    whole = {};
  }
  // All elements are taken before the first name exists.
  if (whole && isVar)
    whole = snapshot(whole, names[0].name, range);
  for (size_t i = 0; i < names.size(); ++i)
    one(names[i], whole ? whole.elements[i] : Value());
}

void BodyChecker::declareLet(const ast::BoundName &name, const Value &value, SourceRange range) {
  if (value.kind == Value::Nothing)
    asValue(value, range, "`let`");
  Value bound = value;
  if (value.kind == Value::Data && inReference() && value.data.type().kind == Type::View &&
      value.data.expr->op != Op::Tensor)
    bound = readView(value.data, value.data.expr->range);
  bound = snapshot(bound, name.name, name.range);
  // A read or atomic that was just bound takes the name that the author gives it.
  if (bound.kind == Value::Data && bound.data.expr->op == Op::Local && name.name != "_")
    if (Local &local = body.locals[size_t(bound.data.expr->index)]; local.isTemporary)
      local = {name.name, local.type, false, local.range};
  declare(name, value.kind == Value::Nothing ? Value() : bound, false, "let");
}

void BodyChecker::declareVar(const ast::BoundName &name, const Value &value, SourceRange range) {
  if (kind == Kind::Plan) {
    error(name.range, "a plan has no `var`", "use let: a plan's values are fixed before its launches");
    declare(name, {}, true, "var");
    return;
  }
  SourceRange at = value.kind == Value::Data ? value.data.expr->range : range;
  Operand initial = ops.settle(value ? asValue(value, at, "`var`") : Operand());
  if (!initial) {
    declare(name, {}, true, "var");
    return;
  }
  int64_t local = newLocal(name.name, initial.type(), true, name.range);
  Stmt &let = emit(Stmt::Let, range);
  let.index = local;
  let.value = initial.expr;
  declare(name, localValue(local, name.range), true, "var");
}

void BodyChecker::checkAssign(const ast::Assign &stmt) {
  if (!stmt.target || !stmt.value)
    return;
  Value value = check(stmt.value.get());
  if (!value)
    return;
  if (stmt.op) {
    Operand old = checkValue(stmt.target.get(), quoted(ast::spelling(*stmt.op)));
    value = ops.binary(*stmt.op, old, asValue(value, stmt.value->range, quoted(ast::spelling(*stmt.op))),
                       stmt.range);
    if (!value)
      return;
  }
  const auto *targets = ast::dynCast<ast::Tuple>(stmt.target.get());
  if (!targets) {
    assign(*stmt.target, value, stmt.range, stmt.value->range);
    return;
  }
  if (value.kind != Value::Tuple || value.elements.size() != targets->elements.size()) {
    error(stmt.value->range,
          "a tuple of " + std::to_string(targets->elements.size()) + " targets takes as many values");
    return;
  }
  // `(a, b) = (b, a)` swaps: every value is taken before the first target changes.
  value = snapshot(value, "value", stmt.range);
  for (size_t i = 0; i < targets->elements.size(); ++i)
    if (const auto *name = ast::dynCast<ast::Name>(targets->elements[i].get());
        targets->elements[i] && !(name && name->name == "_"))
      assign(*targets->elements[i], value.elements[i], stmt.range, stmt.value->range);
}

void BodyChecker::assign(const ast::Expr &target, const Value &value, SourceRange range,
                         SourceRange valueRange) {
  const auto *name = ast::dynCast<ast::Name>(&target);
  Symbol *symbol = name ? findLocal(name->name) : nullptr;
  if (!symbol) {
    assignTensor(target, value, range, valueRange);
    return;
  }
  if (!symbol->value)
    return;
  if (!symbol->isVar) {
    Diagnostic &d =
        error(target.range, quoted(name->name) + " is a " + symbol->noun + ", which does not change",
              "declare it with var");
    d.notes.push_back({Severity::Note, symbol->range, "declared here", {}, {}});
    return;
  }
  std::string what = "the value assigned to " + quoted(name->name);
  const Type &type = symbol->value.data.type();
  Operand x = ops.require(asValue(value, valueRange, what), type.dtype, what);
  if (!x)
    return;
  if (inReference() && x.type().rank() != type.rank()) {
    error(valueRange, what + " has type " + toString(x.type()) + ", expected " + toString(type),
          "a var keeps its dtype and rank");
    return;
  }
  x = ops.broadcastTo(x, type.shape, what);
  if (!x)
    return;
  Stmt &stmt = emit(Stmt::Assign, range);
  stmt.index = symbol->value.data.expr->index;
  stmt.value = x.expr;
}

/// `y = e`, `y[i, a : b] = e` in a reference.
void BodyChecker::assignTensor(const ast::Expr &target, const Value &value, SourceRange range,
                               SourceRange valueRange) {
  const auto *name = ast::dynCast<ast::Name>(&target);
  if (name && !(seesOp() && op.findTensor(name->name) >= 0)) {
    if (seesOp() && findOpName(name->name, target.range))
      error(target.range, quoted(name->name) + " is given by the call and does not change",
            "declare a var of another name");
    else
      unknownName(name->name, target.range, false);
    return;
  }
  if (!name && target.kind != ast::ExprKind::Index) {
    error(target.range, "this cannot be assigned to",
          "assign to a var, or in a reference to an output or a part of one");
    return;
  }
  if (!mayHaveEffects(range, "an assignment to a tensor"))
    return;
  Value place = check(&target);
  if (!place)
    return;
  if (place.kind != Value::Data || place.data.type().kind != Type::View) {
    if (place.kind == Value::Data)
      error(target.range, "a value does not change in part", "only tensors are assigned to by index");
    else
      asValue(place, target.range, "an assignment");
    return;
  }
  if (!inReference()) {
    error(target.range, "a kernel writes a tensor by store(...)", "write store(region, value)");
    return;
  }
  if (!checkWritable(place.data, target.range, "an assignment"))
    return;
  std::string what = "the value assigned";
  Operand x = storedValue(asValue(value, valueRange, what), place.data.dtype(), what);
  x = fitTo(x, place.data.type().shape, what);
  if (!x)
    return;
  auto root = rootOf(place.data.expr.get());
  if (root && !root->isKernelParam && !spec.present.empty() && !spec.present[size_t(root->id)])
    return; // an optional output is written only if asked for
  bool whole = place.data.expr->op == Op::Tensor;
  Stmt &stmt = emit(whole ? Stmt::WriteWhole : Stmt::WriteView, range);
  if (whole)
    stmt.index = place.data.expr->index;
  else
    stmt.view = place.data.expr;
  stmt.value = x.expr;
}

void BodyChecker::checkExprStmt(const ast::ExprStmt &stmt) {
  size_t emitted = block ? block->size() : 0;
  Value value = check(stmt.value.get());
  // Atomics and calls of fns may leave a value that nobody wants.
  if (value && value.kind != Value::Nothing && block && block->size() == emitted)
    error(stmt.range, "the value of this call is not used", "name it with let");
}

// ---------------------------------------------------------------- control flow

void BodyChecker::checkFor(const ast::For &stmt) {
  const auto *range = ast::dynCast<ast::Range>(stmt.range_.get());
  if (!range) {
    error(stmt.range_ ? stmt.range_->range : stmt.range, "`for` walks over a range",
          "write for i in lo .. hi");
    return;
  }
  if (kind == Kind::Plan) {
    error(stmt.range, "a plan has no run-time loop", "use const for");
    return;
  }
  Operand lo =
      ops.requireIndex(checkValue(range->lo.get(), "the start of the range"), "the start of the range");
  Operand hi = ops.requireIndex(checkValue(range->hi.get(), "the end of the range"), "the end of the range");
  Operand step = ops.intLiteral(1, range->range);
  if (range->step)
    step = ops.requireIndex(checkValue(range->step.get(), "the step of the range"), "the step of the range");
  if (step && step.constant() && step.constant()->asInt() <= 0) {
    error(range->step->range,
          "the step of the range is " + std::to_string(step.constant()->asInt()) +
              ", expected a positive one",
          "walk backwards by counting up: hi - 1 - i");
    step = {};
  }
  int64_t local = newLocal(stmt.var.name, scalarType(DType::Index), false, stmt.var.range);
  Block inner;
  {
    ScopeGuard scope(*this);
    Block *saved = std::exchange(block, &inner);
    declare(stmt.var, localValue(local, stmt.var.range), false, "loop variable");
    ++loopDepth;
    checkBlock(stmt.body);
    --loopDepth;
    block = saved;
  }
  if (!lo || !hi || !step)
    return;
  Stmt &loop = emit(Stmt::For, stmt.range);
  loop.index = local;
  loop.lo = lo.expr;
  loop.hi = hi.expr;
  loop.step = step.expr;
  loop.body = std::move(inner);
}

void BodyChecker::checkConstFor(const ast::For &stmt) {
  constexpr int64_t maxIterations = 4096;
  const auto *range = ast::dynCast<ast::Range>(stmt.range_.get());
  if (!range) {
    error(stmt.range_ ? stmt.range_->range : stmt.range, "`const for` walks over a range",
          "write const for i in lo .. hi");
    return;
  }
  auto lo = checkConstInt(range->lo.get(), "the start of a const range"),
       hi = checkConstInt(range->hi.get(), "the end of a const range");
  auto step =
      range->step ? checkConstInt(range->step.get(), "the step of a const range") : std::optional<int64_t>(1);
  if (!lo || !hi || !step)
    return;
  if (*step <= 0) {
    error(range->step->range,
          "the step of the range is " + std::to_string(*step) + ", expected a positive one");
    return;
  }
  if (*hi > *lo && uint64_t(*hi) - uint64_t(*lo) > uint64_t(maxIterations) * uint64_t(*step)) {
    error(range->range, "`const for` would be unrolled more than " + std::to_string(maxIterations) + " times",
          "use a run-time for");
    return;
  }
  // Loops of the body are what `break` leaves; an unrolled one is not there any more.
  int saved = std::exchange(loopDepth, 0);
  size_t errors = diagnostics.numErrors();
  for (int64_t i = *lo; i < *hi && !tooLarge && diagnostics.numErrors() == errors; i += *step) {
    ScopeGuard scope(*this);
    declare(stmt.var, Operand{makeConst(DType::Index, Constant{i}, stmt.var.range)}, false, "loop variable");
    checkBlock(stmt.body);
    if (i > *hi - *step)
      break;
  }
  loopDepth = saved;
}

void BodyChecker::checkWhile(const ast::While &stmt) {
  if (kind == Kind::Plan) {
    error(stmt.range, "a plan has no run-time loop", "use const for");
    return;
  }
  Block condition, inner;
  Block *saved = std::exchange(block, &condition);
  Operand test = ops.requireBool(checkScalar(stmt.condition.get(), "the condition of `while`"),
                                 "the condition of `while`");
  block = &inner;
  ++loopDepth;
  checkBlock(stmt.body);
  --loopDepth;
  block = saved;
  if (!test)
    return;
  Stmt &loop = emit(Stmt::While, stmt.range);
  loop.condBlock = std::move(condition);
  loop.value = test.expr;
  loop.body = std::move(inner);
}

/// `inConstChain`: this is the `else if` of a `const if`, so a condition that is known chooses at compile time too.
void BodyChecker::checkIf(const ast::If &stmt, bool inConstChain) {
  auto choose = [&](bool taken) {
    const auto &nested = stmt.elseBlock.stmts;
    const ast::If *elseIf = nested.size() == 1 ? ast::dynCast<ast::If>(nested[0].get()) : nullptr;
    if (taken)
      checkBlock(stmt.thenBlock);
    else if (elseIf && elseIf->range.begin == stmt.elseBlock.range.begin)
      checkIf(*elseIf, true);
    else if (stmt.hasElse)
      checkBlock(stmt.elseBlock);
  };
  if (stmt.isConst) {
    auto test = checkConstBool(stmt.condition.get(), "the condition of `const if`");
    if (test)
      choose(*test);
    return;
  }
  Operand value = checkValue(stmt.condition.get(), "the condition of `if`");
  if (const Constant *known = value.constant(); known && inConstChain && isBool(value.dtype())) {
    choose(known->asBool());
    return;
  }
  if (kind == Kind::Plan) {
    error(stmt.range, "a plan chooses at compile time only", "use const if, or another plan with a guard");
    return;
  }
  if (value && !value.type().isScalar()) {
    error(stmt.condition->range, "the condition of `if` must be a scalar, found " + toString(value.type()),
          "choose element by element with select(cond, a, b)");
    value = {};
  }
  Operand test = ops.requireBool(value, "the condition of `if`");
  Block thenBlock, elseBlock;
  Block *saved = std::exchange(block, &thenBlock);
  checkBlock(stmt.thenBlock);
  block = &elseBlock;
  if (stmt.hasElse)
    checkBlock(stmt.elseBlock);
  block = saved;
  if (!test)
    return;
  Stmt &choice = emit(Stmt::If, stmt.range);
  choice.value = test.expr;
  choice.body = std::move(thenBlock);
  choice.elseBody = std::move(elseBlock);
}

} // namespace tilegym::sem
