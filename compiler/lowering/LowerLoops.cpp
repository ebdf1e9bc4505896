// SPDX-License-Identifier: MIT
// Loops. A `for` counts its trips as scf.for; one that may be left early is an scf.while that asks the flags, too.
#include "compiler/lowering/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;
using sem::Stmt;

static std::optional<int64_t> constantOf(const sem::ExprPtr &e) {
  return e && e->op == sem::Op::Const ? std::optional(e->constant.asInt()) : std::nullopt;
}

void Lowerer::lowerLoopBody(const Stmt &stmt) {
  int64_t outerContinue = continueFlag;
  if (jumpsOf(stmt.body).continues) {
    continueFlag = int64_t(locals.size());
    locals.push_back({boolean(false)});
  }
  lowerBlock(stmt.body);
  continueFlag = outerContinue;
}

void Lowerer::lowerFor(const Stmt &stmt) {
  Value lo = value(*stmt.lo), hi = value(*stmt.hi);
  std::optional<int64_t> constantStep = stmt.step ? constantOf(stmt.step) : 1;
  bool counted = jumpsOf(stmt.body).leaves() || !constantStep || *constantStep <= 0;
  if (!counted) {
    auto saved = locals;
    SmallVector<int64_t> carried = assigned({stmt.body}, {});
    auto loop = scf::ForOp::create(builder, location, lo, hi, index(*constantStep), gather(carried));
    builder.setInsertionPointToStart(loop.getBody());
    scatter(carried, loop.getRegionIterArgs());
    locals[stmt.index] = {loop.getInductionVar()};
    lowerLoopBody(stmt);
    yield(gather(carried));
    builder.setInsertionPointAfter(loop);
    locals = std::move(saved);
    scatter(carried, loop.getResults());
    return;
  }
  // Trips of any step: cdiv(distance, |step|). A step of 0 never runs; the interpreter reports it.
  Value step = stmt.step ? value(*stmt.step) : index(1), none = index(0), one = index(1);
  Value up = create<arith::CmpIOp>(arith::CmpIPredicate::sgt, step, none);
  Value size = create<arith::SelectOp>(up, step, create<arith::SubIOp>(none, step));
  Value distance = create<arith::SelectOp>(up, create<arith::SubIOp>(hi, lo), create<arith::SubIOp>(lo, hi));
  Value runs = create<arith::AndIOp>(create<arith::CmpIOp>(arith::CmpIPredicate::sgt, distance, none),
                                     create<arith::CmpIOp>(arith::CmpIPredicate::ne, step, none));
  Value trips =
      create<arith::CeilDivSIOp>(create<arith::MaxSIOp>(distance, none), create<arith::MaxSIOp>(size, one));
  lowerForWithExit(stmt, lo, create<arith::SelectOp>(runs, trips, none), step);
}

/// A loop of its own: sums over lists are short.
Value Lowerer::listSum(const sem::Expr &e) {
  Value lo = operand(e, 0), hi = operand(e, 1);
  auto loop = scf::ForOp::create(builder, location, lo, hi, index(1), ValueRange(index(0)));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  size_t variable = size_t(e.lambda->params[0]);
  if (locals.size() <= variable)
    locals.resize(variable + 1);
  Value term = callLambda(*e.lambda, loop.getInductionVar())[0];
  Value sum = create<arith::AddIOp>(loop.getRegionIterArg(0), term);
  yield(sum);
  return loop.getResult(0);
}

void Lowerer::lowerForWithExit(const Stmt &stmt, Value lo, Value trips, Value step) {
  int64_t outerBreak = breakFlag;
  Jumps jumps = jumpsOf(stmt.body);
  jumps.continues = false;
  if (jumps.breaks) {
    breakFlag = int64_t(locals.size());
    locals.push_back({boolean(false)});
  }
  auto saved = locals;
  SmallVector<int64_t> carried = assigned({stmt.body}, jumps);
  Values initial = {index(0)};
  llvm::append_range(initial, gather(carried));
  auto loop = scf::WhileOp::create(builder, location, ValueRange(initial).getTypes(), initial);
  SmallVector<Location> places(initial.size(), location);
  Block *before = builder.createBlock(&loop.getBefore(), {}, ValueRange(initial).getTypes(), places);
  Block *after = builder.createBlock(&loop.getAfter(), {}, ValueRange(initial).getTypes(), places);

  builder.setInsertionPointToStart(before);
  scatter(carried, before->getArguments().drop_front());
  Value goesOn = create<arith::CmpIOp>(arith::CmpIPredicate::slt, before->getArgument(0), trips);
  if (Value left = jumped(jumps))
    goesOn = create<arith::AndIOp>(goesOn, create<arith::XOrIOp>(left, boolean(true)));
  scf::ConditionOp::create(builder, location, goesOn, before->getArguments());

  builder.setInsertionPointToStart(after);
  scatter(carried, after->getArguments().drop_front());
  locals[stmt.index] = {create<arith::AddIOp>(lo, create<arith::MulIOp>(after->getArgument(0), step))};
  lowerLoopBody(stmt);
  Values next = {create<arith::AddIOp>(after->getArgument(0), index(1))};
  llvm::append_range(next, gather(carried));
  scf::YieldOp::create(builder, location, next);

  builder.setInsertionPointAfter(loop);
  locals = std::move(saved);
  scatter(carried, loop.getResults().drop_front());
  breakFlag = outerBreak;
}

void Lowerer::lowerWhile(const Stmt &stmt) {
  int64_t outerBreak = breakFlag;
  Jumps jumps = jumpsOf(stmt.body);
  jumps.continues = false;
  if (jumps.breaks) {
    breakFlag = int64_t(locals.size());
    locals.push_back({boolean(false)});
  }
  auto saved = locals;
  SmallVector<int64_t> carried = assigned({stmt.condBlock, stmt.body}, jumps);
  Values initial = gather(carried);
  auto loop = scf::WhileOp::create(builder, location, ValueRange(initial).getTypes(), initial);
  SmallVector<Location> places(initial.size(), location);
  Block *before = builder.createBlock(&loop.getBefore(), {}, ValueRange(initial).getTypes(), places);
  Block *after = builder.createBlock(&loop.getAfter(), {}, ValueRange(initial).getTypes(), places);

  // The condition is computed even after a `break`: it has no effect but loads, which are safe anywhere.
  builder.setInsertionPointToStart(before);
  scatter(carried, before->getArguments());
  lowerBlock(stmt.condBlock);
  Value goesOn = value(*stmt.value);
  if (Value left = jumped(jumps))
    goesOn = create<arith::AndIOp>(goesOn, create<arith::XOrIOp>(left, boolean(true)));
  scf::ConditionOp::create(builder, location, goesOn, gather(carried));

  locals = saved;
  builder.setInsertionPointToStart(after);
  scatter(carried, after->getArguments());
  lowerLoopBody(stmt);
  scf::YieldOp::create(builder, location, gather(carried));

  builder.setInsertionPointAfter(loop);
  locals = std::move(saved);
  scatter(carried, loop.getResults());
  breakFlag = outerBreak;
}
