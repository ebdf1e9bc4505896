// SPDX-License-Identifier: MIT
// Passes that every NVIDIA target shares. Each record is a contract: what it does, before ==> after, what it needs and leaves.
#ifndef TILEGYM_TARGETS_NVIDIA_PASSES_TD
#define TILEGYM_TARGETS_NVIDIA_PASSES_TD

include "mlir/Pass/PassBase.td"

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
