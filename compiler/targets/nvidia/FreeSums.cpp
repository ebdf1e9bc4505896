// SPDX-License-Identifier: MIT
// Sums of a loop's FMAs that become elements of vectors behind it: without a copy that ptxas does not see through, the vectors' registers are the sums'.
#include "compiler/targets/nvidia/Passes.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilegym::nvidia {
#define GEN_PASS_DEF_FREESUMS
#include "compiler/targets/nvidia/Passes.h.inc"

namespace {
using namespace mlir;

/// Whether the value goes into memory together with its neighbours, as bits or as it is.
bool isInVector(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *op) {
    if (auto bits = dyn_cast<arith::BitcastOp>(op))
      return llvm::any_of(bits->getUsers(), [](Operation *user) {
        auto store = dyn_cast<ptx::StoreGlobalOp>(user);
        return store && store.getWords().size() > 1;
      });
    return isa<LLVM::InsertElementOp>(op);
  });
}

struct FreeSumsPass : impl::FreeSumsBase<FreeSumsPass> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) {
      OpBuilder b(loop.getContext());
      b.setInsertionPointAfter(loop);
      for (auto [result, yielded] : llvm::zip(loop.getResults(), loop.getYieldedValues())) {
        auto sum = yielded.getDefiningOp<math::FmaOp>();
        if (!sum || !sum.getType().isF32() || !isInVector(result))
          continue;
        auto free = ptx::AnewOp::create(b, loop.getLoc(), result);
        result.replaceAllUsesExcept(free, free);
      }
    });
  }
};

} // namespace

} // namespace tilegym::nvidia
