// SPDX-License-Identifier: MIT
// One line for each dialect and each folder of passes.
#include "compiler/driver/Registration.h"
#include "compiler/ir/Tile.h"
#include "compiler/targets/nvidia/Passes.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/Passes.h"

void tilegym::driver::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<tile::TileDialect, ptx::PtxDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect,
                  mlir::math::MathDialect, mlir::scf::SCFDialect>();
}

void tilegym::driver::registerPasses() {
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  nvidia::registerNvidiaPasses();
  transforms::registerTransformsPasses();
  mlir::registerLoopInvariantCodeMotionPass();
}
