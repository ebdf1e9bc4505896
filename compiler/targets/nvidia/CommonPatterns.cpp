// SPDX-License-Identifier: MIT
// Upstream's conversions of scf, cf, arith, math and ub, and the one op of the dialect that means the same on both sides of the fork.
#include "compiler/targets/nvidia/CommonPatterns.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

struct LibdevicePattern : OpConversionPattern<ptx::LibdeviceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ptx::LibdeviceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto module = op->getParentOfType<ModuleOp>();
    auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(op.getCallee());
    if (!callee) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      callee = LLVM::LLVMFuncOp::create(
          rewriter, op.getLoc(), op.getCallee(),
          LLVM::LLVMFunctionType::get(op.getType(), SmallVector<Type>(adaptor.getOperands().getTypes())));
    }
    rewriter.replaceOpWithNewOp<LLVM::CallOp>(op, callee, adaptor.getOperands());
    return success();
  }
};

} // namespace

void populateCommonPatterns(LLVMTypeConverter &types, RewritePatternSet &patterns) {
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  patterns.add<LibdevicePattern>(types, patterns.getContext());
}

} // namespace tilegym::nvidia
