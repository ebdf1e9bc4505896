// SPDX-License-Identifier: MIT
// Blocks and conditions. Variables are SSA values in `locals`; a region hands on those that it assigns. After a statement that may jump, the
// rest of its block runs under a condition.
#include "compiler/lowering/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <set>

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;
using sem::Stmt;

Lowerer::Jumps Lowerer::jumpsOf(const Stmt &stmt) {
  switch (stmt.kind) {
  case Stmt::Break:
    return {true, false, false};
  case Stmt::Continue:
    return {false, true, false};
  case Stmt::Return:
    return {false, false, true};
  case Stmt::If: {
    Jumps a = jumpsOf(stmt.body), b = jumpsOf(stmt.elseBody);
    return {a.breaks || b.breaks, a.continues || b.continues, a.returns || b.returns};
  }
  case Stmt::For:
  case Stmt::While:
    return {false, false, jumpsOf(stmt.body).returns};
  default:
    return {};
  }
}

Lowerer::Jumps Lowerer::jumpsOf(ArrayRef<sem::StmtPtr> block) {
  Jumps all;
  for (const sem::StmtPtr &stmt : block) {
    Jumps one = jumpsOf(*stmt);
    all = {all.breaks || one.breaks, all.continues || one.continues, all.returns || one.returns};
  }
  return all;
}

Value Lowerer::jumped(const Jumps &jumps) {
  Value any;
  auto add = [&](bool may, int64_t flag) {
    if (may)
      any = any ? create<arith::OrIOp>(any, locals[flag][0]) : locals[flag][0];
  };
  add(jumps.breaks, breakFlag);
  add(jumps.continues, continueFlag);
  add(jumps.returns, returnFlag);
  return any;
}

static void collectAssigned(ArrayRef<sem::StmtPtr> block, std::set<int64_t> &ids) {
  for (const sem::StmtPtr &stmt : block) {
    if (stmt->kind == Stmt::Assign)
      ids.insert(stmt->index);
    for (const sem::Block *inner : {&stmt->condBlock, &stmt->body, &stmt->elseBody})
      collectAssigned(*inner, ids);
  }
}

SmallVector<int64_t> Lowerer::assigned(ArrayRef<ArrayRef<sem::StmtPtr>> blocks, const Jumps &jumps) {
  std::set<int64_t> ids;
  for (ArrayRef<sem::StmtPtr> block : blocks)
    collectAssigned(block, ids);
  if (jumps.breaks)
    ids.insert(breakFlag);
  if (jumps.continues)
    ids.insert(continueFlag);
  if (jumps.returns)
    ids.insert(returnFlag);
  SmallVector<int64_t> existing;
  for (int64_t id : ids)
    if (!locals[id].empty())
      existing.push_back(id);
  return existing;
}

Values Lowerer::gather(ArrayRef<int64_t> ids) const {
  Values all;
  for (int64_t id : ids)
    llvm::append_range(all, locals[id]);
  return all;
}

void Lowerer::scatter(ArrayRef<int64_t> ids, ValueRange values) {
  for (int64_t id : ids) {
    size_t count = locals[id].size();
    locals[id].assign(values.begin(), values.begin() + count);
    values = values.drop_front(count);
  }
}

void Lowerer::yield(ValueRange values) {
  // scf's builders have made the terminator where there is nothing to hand on.
  if (!values.empty())
    scf::YieldOp::create(builder, location, values);
}

void Lowerer::lowerBlock(ArrayRef<sem::StmtPtr> block) {
  // A `return` anywhere needs its flag before the first statement.
  if (returnFlag < 0 && jumpsOf(block).returns) {
    returnFlag = int64_t(locals.size());
    locals.push_back({boolean(false)});
  }
  while (!block.empty()) {
    const Stmt &stmt = *block.front();
    block = block.drop_front();
    lowerStmt(stmt);
    if (stmt.kind == Stmt::Break || stmt.kind == Stmt::Continue || stmt.kind == Stmt::Return)
      return; // what follows never runs
    Jumps jumps = jumpsOf(stmt);
    if (!jumps.any() || block.empty())
      continue;
    // The rest runs where no jump happened.
    Value goesOn = create<arith::XOrIOp>(jumped(jumps), boolean(true));
    SmallVector<int64_t> carried = assigned({block}, jumpsOf(block));
    Values before = gather(carried);
    auto saved = locals;
    auto ifOp = scf::IfOp::create(builder, location, ValueRange(before).getTypes(), goesOn, true);
    builder.setInsertionPointToStart(ifOp.thenBlock());
    lowerBlock(block);
    yield(gather(carried));
    builder.setInsertionPointToStart(ifOp.elseBlock());
    yield(before);
    builder.setInsertionPointAfter(ifOp);
    locals = std::move(saved);
    scatter(carried, ifOp.getResults());
    return;
  }
}

void Lowerer::lowerIf(const Stmt &stmt) {
  Value condition = value(*stmt.value);
  SmallVector<int64_t> carried = assigned({stmt.body, stmt.elseBody}, jumpsOf(stmt));
  auto saved = locals;
  auto ifOp = scf::IfOp::create(builder, location, ValueRange(gather(carried)).getTypes(), condition, true);
  auto branch = [&](Block *place, const sem::Block &body) {
    locals = saved;
    builder.setInsertionPointToStart(place);
    lowerBlock(body);
    yield(gather(carried));
  };
  branch(ifOp.thenBlock(), stmt.body);
  branch(ifOp.elseBlock(), stmt.elseBody);
  builder.setInsertionPointAfter(ifOp);
  locals = std::move(saved);
  scatter(carried, ifOp.getResults());
}

void Lowerer::lowerStmt(const Stmt &stmt) {
  Location outer = location;
  location = locationOf(stmt.range);
  switch (stmt.kind) {
  case Stmt::Let:
  case Stmt::Assign:
    if (stmt.value->type.kind == sem::Type::View)
      views[stmt.index] = view(*stmt.value);
    else
      locals[stmt.index] = values(*stmt.value);
    break;
  case Stmt::Eval:
    values(*stmt.value);
    break;
  case Stmt::For:
    lowerFor(stmt);
    break;
  case Stmt::While:
    lowerWhile(stmt);
    break;
  case Stmt::If:
    lowerIf(stmt);
    break;
  case Stmt::Break:
    setFlag(breakFlag, true);
    break;
  case Stmt::Continue:
    setFlag(continueFlag, true);
    break;
  case Stmt::Return:
    setFlag(returnFlag, true);
    break;
  case Stmt::WriteWhole:
  case Stmt::WriteView:
  case Stmt::Scratch:
  case Stmt::Launch:
    unsupported(stmt.range, "a statement of a reference or plan");
    break;
  }
  location = outer;
}
