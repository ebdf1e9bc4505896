// SPDX-License-Identifier: MIT
// Structured control flow: the same op with each tile that it carries spelled out in registers. Conditions and bounds are scalars of the block,
// so all threads take the same way and barriers inside are met by all.
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

SmallVector<Value> flatten(ThreadBuilder &t, ValueRange values) {
  SmallVector<Value> flat;
  for (Value value : values)
    llvm::append_range(flat, t.get(value));
  return flat;
}

SmallVector<Type> flatTypes(ThreadBuilder &t, TypeRange types) {
  SmallVector<Type> flat;
  for (Type type : types)
    flat.append(t.numRegisters(type), t.elementType(type));
  return flat;
}

/// Gives each of `values` its registers from a flat list.
void unflatten(ThreadBuilder &t, ValueRange values, ValueRange flat) {
  for (Value value : values) {
    int64_t n = t.numRegisters(value.getType());
    t.set(value, Registers(flat.take_front(n)));
    flat = flat.drop_front(n);
  }
}

LogicalResult lowerRegion(ThreadBuilder &t, Block &from, Block *to, bool isLoopBody) {
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToEnd(to);
  t.forgetSharedState();
  if (isLoopBody)
    t.enterLoopBody();
  return t.lowerBlock(from);
}

/// What would be moved out of a loop takes registers that sums need, or that a producer does not have.
Attribute keepInside(MLIRContext *context) {
  Builder b(context);
  auto licm =
      LLVM::LoopLICMAttr::get(context, /*disable=*/b.getBoolAttr(true), /*versioningDisable=*/nullptr);
  return LLVM::LoopAnnotationAttr::get(context, nullptr, nullptr, nullptr, nullptr, nullptr, licm, nullptr,
                                       nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, {});
}

LogicalResult lowerFor(ThreadBuilder &t, Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  SmallVector<Value> inits = flatten(t, loop.getInitArgs());
  auto result = scf::ForOp::create(t.b, t.loc, t.scalar(loop.getLowerBound()), t.scalar(loop.getUpperBound()),
                                   t.scalar(loop.getStep()), inits);
  if (!result.getBody()->empty()) // the builder adds a yield where nothing is carried
    result.getBody()->back().erase();
  t.set(loop.getInductionVar(), {result.getInductionVar()});
  unflatten(t, loop.getRegionIterArgs(), result.getRegionIterArgs());
  AccessOrder before = t.order;
  if (failed(lowerRegion(t, *loop.getBody(), result.getBody(), /*isLoopBody=*/true)))
    return failure();
  if (t.needsLoopBarrier(loop)) {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPoint(result.getBody()->getTerminator());
    t.barrierOfAll();
  }
  if (Attribute annotation = loop->getAttr("llvm.loop_annotation"))
    result->setAttr("llvm.loop_annotation", annotation);
  else if (auto roles = loop->getParentOfType<tile::RolesOp>(); roles && roles.getShiftsRegisters())
    result->setAttr("llvm.loop_annotation", keepInside(t.b.getContext()));
  t.order.join(before); // the body may run no time
  unflatten(t, loop.getResults(), result.getResults());
  t.forgetSharedState();
  return success();
}

LogicalResult lowerIf(ThreadBuilder &t, Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  bool hasElse = !branch.getElseRegion().empty();
  auto result = scf::IfOp::create(t.b, t.loc, flatTypes(t, branch.getResultTypes()),
                                  t.scalar(branch.getCondition()), hasElse);
  AccessOrder before = t.order, after = hasElse ? AccessOrder() : before;
  for (auto [from, to] : llvm::zip(branch->getRegions(), result->getRegions())) {
    if (from.empty())
      continue;
    Block &block = to.front();
    if (!block.empty())
      block.back().erase();
    t.order = before;
    if (failed(lowerRegion(t, from.front(), &block, /*isLoopBody=*/false)))
      return failure();
    after.join(t.order);
  }
  t.order = after;
  unflatten(t, branch.getResults(), result.getResults());
  t.forgetSharedState();
  return success();
}

LogicalResult lowerWhile(ThreadBuilder &t, Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  auto result =
      scf::WhileOp::create(t.b, t.loc, flatTypes(t, loop.getResultTypes()), flatten(t, loop.getInits()));
  AccessOrder after = t.order;
  for (auto [from, to] : llvm::zip(loop->getRegions(), result->getRegions())) {
    SmallVector<Type> types = flatTypes(t, from.front().getArgumentTypes());
    Block *block = t.b.createBlock(&to, {}, types, SmallVector<Location>(types.size(), t.loc));
    unflatten(t, from.front().getArguments(), block->getArguments());
    t.b.setInsertionPointAfter(result);
    if (failed(lowerRegion(t, from.front(), block, /*isLoopBody=*/true)))
      return failure();
    after.join(t.order);
  }
  if (t.needsLoopBarrier(loop)) {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPoint(result.getAfter().front().getTerminator());
    t.barrierOfAll();
  }
  t.order.join(after);
  unflatten(t, loop.getResults(), result.getResults());
  t.forgetSharedState();
  return success();
}

LogicalResult lowerYield(ThreadBuilder &t, Operation *op) {
  scf::YieldOp::create(t.b, t.loc, flatten(t, op->getOperands()));
  return success();
}

LogicalResult lowerCondition(ThreadBuilder &t, Operation *op) {
  auto condition = cast<scf::ConditionOp>(op);
  scf::ConditionOp::create(t.b, t.loc, t.scalar(condition.getCondition()), flatten(t, condition.getArgs()));
  return success();
}

} // namespace

void addControlHandlers(HandlerTable &table) {
  table["scf.for"] = lowerFor;
  table["scf.if"] = lowerIf;
  table["scf.while"] = lowerWhile;
  table["scf.yield"] = lowerYield;
  table["scf.condition"] = lowerCondition;
}

} // namespace tilegym::nvidia
