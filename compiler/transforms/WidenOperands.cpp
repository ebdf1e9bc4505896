// SPDX-License-Identifier: MIT
// Operands of 8-bit floats become f16, in front of the product.
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_WIDENOPERANDS
#include "compiler/transforms/Passes.h.inc"

namespace {

struct WidenOperandsPass : impl::WidenOperandsBase<WidenOperandsPass> {
  using WidenOperandsBase::WidenOperandsBase;

  void runOnOperation() override {
    getOperation().walk([&](tile::DotOp dot) {
      Type element = dot.getAType().getElementType();
      bool isFloat8 = isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
      if (!isFloat8 || (float8 && dot.usesTensorCores()))
        return;
      OpBuilder b(dot);
      for (OpOperand *operand : {&dot.getAMutable(), &dot.getBMutable()}) {
        RankedTensorType type = tile::DotOp::tileOf(operand->get());
        operand->set(arith::ExtFOp::create(b, dot.getLoc(), type.clone(b.getF16Type()), operand->get()));
      }
      dot.setPrecision(tile::Precision::Full);
    });
  }
};

} // namespace
} // namespace tilegym::transforms
