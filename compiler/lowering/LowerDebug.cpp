// SPDX-License-Identifier: MIT
// Facts, checks, prints and inline PTX.
#include "compiler/lowering/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;
using Code = sem::Op;

void Lowerer::check(const sem::Expr &e) {
  if (e.op == Code::Print) {
    SmallVector<Value> printed;
    for (size_t i = 0; i < e.operands.size(); ++i)
      printed.push_back(operand(e, i));
    tile::PrintOp::create(builder, location, e.text, printed);
    return;
  }
  Value condition = operand(e, 0);
  if (auto tile = dyn_cast<RankedTensorType>(condition.getType())) {
    auto axes = llvm::to_vector(llvm::seq<int64_t>(0, tile.getRank()));
    condition = create<tile::ReduceOp>(builder.getI1Type(), tile::ReduceKind::All, condition, axes);
  }
  if (e.op == Code::Assume)
    tile::AssumeOp::create(builder, location, condition);
  else
    tile::AssertOp::create(builder, location, condition, e.text);
}

Value Lowerer::inlinePtx(const sem::Expr &e) {
  SmallVector<Value> operands;
  SmallVector<Type> scalars;
  for (size_t i = 0; i < e.operands.size(); ++i) {
    operands.push_back(operand(e, i));
    scalars.push_back(getElementTypeOrSelf(operands.back().getType()));
  }
  auto ptx = tile::InlinePtxOp::create(builder, location, typeOf(e.type), e.text, operands);
  OpBuilder::InsertionGuard guard(builder);
  Block *body =
      builder.createBlock(&ptx.getMeaning(), {}, scalars, SmallVector<Location>(scalars.size(), location));
  tile::YieldOp::create(builder, location, callLambda(*e.lambda, body->getArguments()));
  return ptx;
}
