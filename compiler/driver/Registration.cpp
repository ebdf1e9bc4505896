// SPDX-License-Identifier: MIT
// One line for each dialect and each folder of passes.
#include "compiler/driver/Registration.h"
#include "compiler/ir/Tile.h"
#include "compiler/targets/nvidia/Passes.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

void tilegym::driver::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<tile::TileDialect, ptx::PtxDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect,
                  mlir::math::MathDialect, mlir::scf::SCFDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
}

void tilegym::driver::registerPasses() {
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  nvidia::registerNvidiaPasses();
  transforms::registerTransformsPasses();
  mlir::registerLoopInvariantCodeMotionPass();
  mlir::arith::registerArithExpandOpsPass();
  mlir::arith::registerArithIntRangeNarrowing();
  mlir::arith::registerArithIntRangeOptsPass();
  mlir::arith::registerArithUnsignedWhenEquivalentPass();
}
