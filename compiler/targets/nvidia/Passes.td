// SPDX-License-Identifier: MIT
// Passes that every NVIDIA target shares. Each record is a contract: what it does, before ==> after, what it needs and leaves.
#ifndef TILEGYM_TARGETS_NVIDIA_PASSES_TD
#define TILEGYM_TARGETS_NVIDIA_PASSES_TD

include "mlir/Pass/PassBase.td"

def TilesToThreads : Pass<"tiles-to-threads", "::mlir::ModuleOp"> {
  let summary = "kernels on tiles to the program of one thread";
  let description = [{
    A tile becomes one scalar a register of its layout, a `tile.kernel` an `llvm.func` with its flat parameters.

    ```mlir
    %y = arith.addf %x, %x : tensor<64xf32, #tile.layout<unit [64] reg [[1]] lane [[2], [4], [8], [16], [32]]>>
    ==>
    %y0 = arith.addf %x0, %x0 : f32
    %y1 = arith.addf %x1, %x1 : f32
    ```
    Needs: a layout on every tile (assign-layouts), one-dimensional grids (linearize-grid). Leaves: llvm.func with scf, arith, math, ptx and llvm
    ops on scalars; the bytes of shared memory as its attribute `tilegym.shared_bytes`. Numerics: bit-equal, but for functions that the kernel lets be
    approximate, and the order of reductions, which the layout fixes.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::tilegym::ptx::PtxDialect"];
}

def ToPtx : Pass<"to-ptx", "::mlir::ModuleOp"> {
  let summary = "target instructions, arith and cf to LLVM and NVVM, ready for translation";
  let description = [{
    ```mlir
    %t = ptx.thread_id
    ptx.barrier
    %y = ptx.approx <ex2> %x
    ==>
    %t = nvvm.read.ptx.sreg.tid.x : i32
    nvvm.barrier
    %y = llvm.inline_asm asm_dialect = att "ex2.approx.f32 $0, $1;", "=f,f" %x : (f32) -> f32
    ```
    Needs: bodies of `llvm.func` with scf, cf, arith, math (only fma, floor, ceil, trunc, roundeven, absf, copysign), ub, llvm and ptx ops on
    scalars and vectors. Leaves: llvm and nvvm only. Numerics: bit-equal. Must be the last pass: what it leaves, no pass of ours reads.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::cf::ControlFlowDialect"];
}

#endif
