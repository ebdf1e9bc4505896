// SPDX-License-Identifier: MIT
// Sums that a loop of wgmmas begins with zeros: the first trip's products replace them, and nobody writes the zeros.
#include "compiler/targets/nvidia/Passes.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace tilegym::nvidia {
#define GEN_PASS_DEF_STARTSUMS
#include "compiler/targets/nvidia/Passes.h.inc"

namespace {
using namespace mlir;

bool isZero(Value value) { return matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero()); }

/// Whether each of the wgmma's accumulators is a sum that the loop begins with zero, for it alone.
bool beginsWithZeros(ptx::WgmmaOp product, scf::ForOp loop) {
  return !product.getScale() && llvm::all_of(product.getAccumulators(), [&](Value sum) {
    auto argument = dyn_cast<BlockArgument>(sum);
    return argument && argument.getOwner() == loop.getBody() && argument != loop.getInductionVar() &&
           argument.hasOneUse() && isZero(loop.getTiedLoopInit(argument)->get());
  });
}

struct StartSumsPass : impl::StartSumsBase<StartSumsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      rewrite(loop);
  }

  static void rewrite(scf::ForOp loop) {
    SmallVector<ptx::WgmmaOp> products;
    for (auto product : loop.getBody()->getOps<ptx::WgmmaOp>())
      if (beginsWithZeros(product, loop))
        products.push_back(product);
    if (products.empty())
      return;
    Location loc = loop.getLoc();
    OpBuilder b(loop);
    // Zeros are what is left of a loop without a trip.
    Value ran =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
    auto either = scf::IfOp::create(b, loc, loop.getResultTypes(), ran, /*withElseRegion=*/true);
    loop.replaceAllUsesWith(either.getResults());
    either.getElseBodyBuilder().create<scf::YieldOp>(loc, loop.getInitArgs());
    loop->moveBefore(either.thenBlock(), either.thenBlock()->end());
    either.getThenBodyBuilder().create<scf::YieldOp>(loc, loop.getResults());

    b.setInsertionPointToStart(loop.getBody());
    Value isLater =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound());
    b.setInsertionPoint(loop);
    for (ptx::WgmmaOp product : products) {
      for (Value sum : product.getAccumulators())
        loop.getTiedLoopInit(cast<BlockArgument>(sum))->set(LLVM::PoisonOp::create(b, loc, sum.getType()));
      product.getScaleMutable().assign(isLater);
    }
  }
};

} // namespace

} // namespace tilegym::nvidia
