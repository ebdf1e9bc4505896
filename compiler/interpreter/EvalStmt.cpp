// SPDX-License-Identifier: MIT
// Statements.
#include "compiler/interpreter/Broadcast.h"
#include "compiler/interpreter/Evaluator.h"

namespace tilegym::interp {

using sem::Stmt;

Flow Evaluator::run(const sem::Block &block) {
  for (const auto &stmt : block)
    if (Flow flow = runStmt(*stmt); flow != Flow::Next)
      return flow;
  return Flow::Next;
}

Flow Evaluator::runFor(const Stmt &stmt) {
  const int64_t low = indexValue(*this, stmt.lo), high = indexValue(*this, stmt.hi);
  const int64_t step = stmt.step ? indexValue(*this, stmt.step) : 1;
  if (step == 0)
    fail(Fault::Loop, "the step of this loop is zero", stmt.range, "use a step other than 0");
  for (int64_t i = low; step > 0 ? i < high : i > high;) {
    locals[size_t(stmt.index)] = Value::index(i);
    Flow flow = run(stmt.body);
    if (flow == Flow::Break)
      break;
    if (flow == Flow::Return)
      return flow;
    if (__builtin_add_overflow(i, step, &i))
      break;
  }
  return Flow::Next;
}

Flow Evaluator::runWhile(const Stmt &stmt) {
  for (int64_t turns = 0;; ++turns) {
    run(stmt.condBlock);
    if (!value(*stmt.value).asBool())
      return Flow::Next;
    if (turns == context.options.maxIterations)
      fail(Fault::Loop, "this loop has not ended after " + std::to_string(turns) + " turns", stmt.range,
           "a block must not wait for another: blocks of a launch are not ordered");
    Flow flow = run(stmt.body);
    if (flow == Flow::Break)
      return Flow::Next;
    if (flow == Flow::Return)
      return flow;
  }
}

void Evaluator::writeWhole(const Stmt &stmt) {
  const auto &views = context.views.at(size_t(stmt.index));
  if (views.empty())
    fail(Fault::Program, "tensor '" + context.op.tensors[size_t(stmt.index)].name + "' was not asked for",
         stmt.range);
  Value tile = value(*stmt.value);
  storeView(views[0], broadcastTo(tile, views[0].shape(), stmt.range), nullptr, {blockNumber, stmt.range});
}

void Evaluator::writeView(const Stmt &stmt) {
  Value tile = value(*stmt.value);
  View region = view(*stmt.view);
  storeView(region, broadcastTo(tile, region.shape(), stmt.range), nullptr, {blockNumber, stmt.range});
}

Flow Evaluator::runStmt(const Stmt &stmt) {
  switch (stmt.kind) {
  case Stmt::Let:
  case Stmt::Assign: {
    Slot result = eval(*stmt.value);
    locals.at(size_t(stmt.index)) = std::move(result);
    return Flow::Next;
  }
  case Stmt::Eval:
    eval(*stmt.value);
    return Flow::Next;
  case Stmt::For:
    return runFor(stmt);
  case Stmt::While:
    return runWhile(stmt);
  case Stmt::If:
    return run(value(*stmt.value).asBool() ? stmt.body : stmt.elseBody);
  case Stmt::Break:
    return Flow::Break;
  case Stmt::Continue:
    return Flow::Continue;
  case Stmt::Return:
    return Flow::Return;
  case Stmt::WriteWhole:
    writeWhole(stmt);
    return Flow::Next;
  case Stmt::WriteView:
    writeView(stmt);
    return Flow::Next;
  case Stmt::Scratch:
  case Stmt::Launch:
    if (!plan)
      fail(Fault::Program, "scratch and launch stand only in a plan", stmt.range);
    if (stmt.kind == Stmt::Scratch)
      plan->scratch(stmt, *this);
    else
      plan->launch(stmt, *this);
    return Flow::Next;
  }
  return Flow::Next;
}

} // namespace tilegym::interp
