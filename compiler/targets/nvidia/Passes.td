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
  let options = [Option<"float8Pairs", "float8-pairs", "bool", "false", "conversions of two f32 to f8 that saturate are one instruction">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::tilegym::ptx::PtxDialect"];
}

def ResumeSearches : Pass<"resume-searches", "::mlir::ModuleOp"> {
  let summary = "searches in a loop go on from where they ended a trip before";
  let description = [{
    A block that stays for more than one of the grid looks in each trip for the tensor of a list that its next one belongs to, from the first tensor on. The numbers of a
    thread's blocks grow, and with them what it finds:

    ```mlir
    scf.for %block = %first to %all step %many {
      %g, %at = scf.while (%h = %c0, %a = %c0) {
        (%end, of %h and %a)
        %more = arith.cmpi sge, %block, %end
        scf.condition(%more) %h, %a
      } do { (the next) }
    }
    ==>
    scf.for %block = %first to %all step %many iter_args(%h0 = %c0, %a0 = %c0) {
      %g, %at = scf.while (%h = %h0, %a = %a0) {
        (the same)
      scf.yield %g, %at
    }
    ```
    Only where the search goes on while a value is at least (or above) one of its own; where the value grows from trip to trip, as the loop's counter does, sums of it and what
    is fixed that do not overflow, and the smaller or larger of such; and where nothing else in the search follows from the trip, nor touches memory but parameters. Every step
    that the trip before took would then be taken again.

    Needs: `llvm.func` with structured control flow. Leaves: the same. Numerics: bit-equal.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def CheckWgmma : Pass<"check-wgmma", "::mlir::ModuleOp"> {
  let summary = "refuses wgmmas whose registers are touched in flight, or that ptxas would serialize";
  let description = [{
    A wgmma's results are values only after a `wgmma_wait` that returns them. Nothing is changed where all is well:

    ```mlir
    ptx.wgmma_fence
    %d:4 = ptx.wgmma n 8 <bf16>(%da) * <bf16>(%db) + <f32>(%c0, %c1, %c2, %c3)
    ptx.wgmma_commit
    %r:4 = ptx.wgmma_wait 0(%d#0, %d#1, %d#2, %d#3) : f32, f32, f32, f32
    ==>
    the same
    ```
    Errors: an accumulator used, copied or moved to another loop value while it may be in flight; a wait that returns it and may leave its group pending, or
    before its commit; A words that a loop writes while the wgmma of the iteration before reads them (on a GPU: wrong numbers, without a word of
    ptxas), or that it computes meanwhile in what may be the same registers; registers written since the last `wgmma_fence`; a branch around a wgmma whose accumulators live on; a kernel that ends with one in flight.

    Needs: `llvm.func` with structured control flow. Leaves: the same. Numerics: bit-equal.
  }];
}

def FreeSums : Pass<"free-sums", "::mlir::ModuleOp"> {
  let summary = "sums that a loop's FMAs make leave it in registers of their own";
  let description = [{
    ```mlir
    %s:4 = scf.for %k = %lower to %upper step %one iter_args(%a = %zero, ...) {
      %x = math.fma %p, %q, %a
      scf.yield %x, ...
    }
    %i = arith.bitcast %s#0 : f32 to i32
    ptx.store_global %i, ... to %out bits 32 : i32, i32, i32, i32
    ==>
    %s:4 = scf.for ... (the same)
    %t = ptx.anew %s#0
    %i = arith.bitcast %t : f32 to i32
    ptx.store_global %i, ... to %out bits 32 : i32, i32, i32, i32
    ```
    A vector's store wants neighbouring registers, and ptxas gives them to the sums for the whole loop. Of a result's rows and columns, vectors of operands and sums then meet in
    one bank of the register file in every second FMA, which waits for it: a third of a matrix product's cycles.

    Needs: `llvm.func` with structured control flow. Leaves: the same. Numerics: bit-equal.
  }];
  let dependentDialects = ["::tilegym::ptx::PtxDialect"];
}

def StartSums : Pass<"start-sums", "::mlir::ModuleOp"> {
  let summary = "the first wgmmas of a loop replace its sums, instead of adding to zeros";
  let description = [{
    ```mlir
    %s:4 = scf.for %k = %lower to %upper step %one iter_args(%a = %zero, ...) {
      %d:4 = ptx.wgmma n 8 <bf16>(%da) * <bf16>(%db) + <f32>(%a, ...)
      scf.yield %d#0, ...
    }
    ==>
    %ran = arith.cmpi slt, %lower, %upper
    %s:4 = scf.if %ran {
      %t:4 = scf.for %k = %lower to %upper step %one iter_args(%a = %poison, ...) {
        %later = arith.cmpi ne, %k, %lower
        %d:4 = ptx.wgmma n 8 <bf16>(%da) * <bf16>(%db) + <f32>(%a, ...) scale %later
        scf.yield %d#0, ...
      }
      scf.yield %t#0, ...
    } else {
      scf.yield %zero, ...
    }
    ```
    A thread has 128 sums and more: writing them takes some hundred cycles, in which its team holds the turn but multiplies nothing.

    Needs: `llvm.func` with structured control flow; what `check-wgmma` has seen. Leaves: wgmmas in a branch, in which that does not follow them. Numerics: bit-equal, but
    for the sign of sums of nothing but negative zeros.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def AwaitDependencies : Pass<"await-dependencies", "::mlir::ModuleOp"> {
  let summary = "kernels wait for the grid before them before they touch memory, and let the one after them start";
  let description = [{
    What a launch with programmatic dependencies needs of its kernel, and costs another launch nothing: the kernel's beginning (who the thread is, barriers
    of shared memory) may run while the grid before it in the stream still does; then it waits until that one's writes are there.

    ```mlir
    %t = ptx.thread_id
    ptx.mbarrier_init %m, %c1 if %first
    ptx.store_global %v to %p bits 32 : i32
    ==>
    %t = ptx.thread_id
    ptx.mbarrier_init %m, %c1 if %first
    ptx.grid_dependency_wait
    ptx.grid_launch_dependents if %last
    ptx.store_global %v to %p bits 32 : i32
    ```
    The next grid may start only after the wait: of a chain of launches two run at a time. The last 1024 blocks let it, by when those before them have ended. Needs: `llvm.func` with structured control flow; targets with
    programmatic dependent launch (sm_90). Leaves: the same; every kernel has one wait, before its first access to memory. Numerics: bit-equal.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tilegym::ptx::PtxDialect"];
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

def ToSim : Pass<"to-sim", "::mlir::ModuleOp"> {
  let summary = "target instructions to calls of the simulator, arith and cf to LLVM, ready for translation and the host";
  let description = [{
    The other way out of the threads stage, beside `to-ptx`. Every op of the dialect is one call of the same form: operands and results in arrays of
    64-bit words, and a constant that says which instruction it is and where in the spec (compiler/simulator/Instructions.h).

    ```mlir
    %y = ptx.approx <ex2> %x
    ==>
    %0 = llvm.bitcast %x : f32 to i32
    %1 = llvm.zext %0 : i32 to i64
    llvm.store %1, %operands : i64, !llvm.ptr
    %2 = llvm.mlir.addressof @tilegym_site_3 : !llvm.ptr
    llvm.call @tgsim_approx(%operands, %results, %2) {convergent} : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    %3 = llvm.load %results : !llvm.ptr -> i64
    ...
    ```
    Needs: what `to-ptx` needs. Leaves: llvm only; a kernel takes the address of its parameters' addresses. Numerics: bit-equal, where an instruction's meaning
    in the simulator is. Must be the last pass, as `to-ptx`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect"];
}

#endif
