// SPDX-License-Identifier: MIT
// wgmma: matrix products of a warpgroup, carried out while its threads go on. sm_90a only.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_WGMMA_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_WGMMA_TD

include "compiler/targets/nvidia/ptx/PtxDialect.td"

def Ptx_WgmmaFenceOp : Ptx_AssemblyOp<"wgmma_fence"> {
  let summary = "the warpgroup's writes of registers before it are ordered before the wgmmas after it";
  let description = [{
    Before the first wgmma, and wherever registers of accumulators or of A were written since the last one. (Between two wgmmas that add to the same
    accumulators none is needed.) Writes to shared memory need `fence_proxy_async` instead.

    The values it takes come out as results, unchanged: what a wgmma after it takes from there has been computed before it. Without, LLVM may move the
    arithmetic behind the fence, and ptxas then adds another one.

    Example: `%p:4 = ptx.wgmma_fence (%a0, %a1, %a2, %a3) : i32, i32, i32, i32`
  }];
  let arguments = (ins Variadic<AnyTypeOf<[F32, I32]>>:$values);
  let results = (outs Variadic<AnyTypeOf<[F32, I32]>>:$results);
  let assemblyFormat = "(`(` $values^ `)` `:` custom<SameTypes>(type($values), type($results)))? attr-dict";
  let hasVerifier = 1;
}

def Ptx_WgmmaOp : Ptx_AssemblyOp<"wgmma", [AttrSizedOperandSegments]> {
  let summary = "issues a warpgroup's matrix product: 64 x k times k x n, added to 64 x n";
  let description = [{
    It runs later: **its results are values only after a `wgmma_wait` that returns them**; until then they may only be accumulators of
    the next wgmma. `check-wgmma` says so where it is not so.

    A is a descriptor (i64) of shared memory, or four words of registers a thread, which must not change before the wait; B is a descriptor. Without
    `scale` the product is added; with it, where `scale` is false, it replaces (`accumulators` may be `llvm.mlir.poison`).

    | A, B | k | sum | n |
    | --- | --- | --- | --- |
    | f16 | 16 | f16, f32 | 8 .. 256 by 8 |
    | bf16 | 16 | f32 | 〃 |
    | tf32 | 8 | f32 | 〃 |
    | e4m3, e5m2 (mixed, too) | 32 | f16, f32 | 〃 |
    | s8, u8 (mixed, too) | 32 | s32, with `saturate` clamped | 8, 16, 24, then by 16 |

    The sum is n / 2 registers (f32, or i32 for s32), or n / 4 of f16 pairs. `transpose_a` (of a descriptor), `transpose_b`: the operand lies with its
    M or N dimension contiguous in memory, not K; f16 and bf16 only. `negate_a`, `negate_b`: of the float types.

    Example: `%d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%c0, %c1, %c2, %c3) scale %more transpose_b`
  }];
  let arguments = (ins I64Attr:$n, Ptx_ElementTypeAttr:$aType, Variadic<AnyTypeOf<[I32, I64]>>:$a, Ptx_ElementTypeAttr:$bType, I64:$b,
    Ptx_ElementTypeAttr:$accumulatorType, Variadic<AnyTypeOf<[F32, I32]>>:$accumulators, Optional<I1>:$scale, UnitAttr:$transposeA,
    UnitAttr:$transposeB, UnitAttr:$negateA, UnitAttr:$negateB, UnitAttr:$saturate);
  let results = (outs Variadic<AnyTypeOf<[F32, I32]>>:$results);
  let assemblyFormat = [{
    `n` $n $aType `(` custom<WgmmaA>($a, type($a)) `)` `*` $bType `(` $b `)` `+` $accumulatorType
    `(` custom<Accumulators>($accumulators, type($accumulators), type($results), ref($accumulatorType)) `)` (`scale` $scale^)?
    (`transpose_a` $transposeA^)? (`transpose_b` $transposeB^)? (`negate_a` $negateA^)? (`negate_b` $negateB^)? (`saturate` $saturate^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Ptx_WgmmaCommitOp : Ptx_AssemblyOp<"wgmma_commit"> {
  let summary = "the warpgroup's wgmmas since the last commit become a group";
  let description = "Example: `ptx.wgmma_commit`";
  let assemblyFormat = "attr-dict";
}

def Ptx_WgmmaWaitOp : Ptx_AssemblyOp<"wgmma_wait"> {
  let summary = "waits until at most `pending` of the warpgroup's youngest groups are not complete; gives the accumulators of the others";
  let description = [{
    The values it takes are results of wgmmas of complete groups, and others that must not be computed before it (as the A words that a loop keeps): each
    comes out as a result, and is to be used from there.

    Example: `%s:4 = ptx.wgmma_wait 0 (%d#0, %d#1, %d#2, %d#3) : f32, f32, f32, f32`
  }];
  let arguments = (ins I64Attr:$pending, Variadic<AnyTypeOf<[F32, I32]>>:$values);
  let results = (outs Variadic<AnyTypeOf<[F32, I32]>>:$results);
  let assemblyFormat = "$pending (`(` $values^ `)` `:` custom<SameTypes>(type($values), type($results)))? attr-dict";
  let hasVerifier = 1;
  let hasVerifier = 1;
}

#endif
