// SPDX-License-Identifier: MIT
// Matrix fragments of a warp: their way from and to shared memory, and mma.sync. sm_80 unless a record says otherwise.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_MATRIX_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_MATRIX_TD

include "compiler/targets/nvidia/ptx/PtxDialect.td"

def Ptx_LoadMatrixOp : Ptx_AssemblyOp<"load_matrix"> {
  let summary = "reads 1, 2 or 4 matrices of 8x8 16-bit elements from shared memory, one register each";
  let description = [{
    Lane l gives the address of row l % 8 of matrix l / 8: 16 bytes, 16-byte aligned (addresses of lanes beyond the last matrix are not used). It gets
    elements 2 (l % 4) and the next of row l / 4 of each matrix, or, `transposed`, of column l / 4.

    Example: `%a:4 = ptx.load_matrix %p transposed : i32, i32, i32, i32`
  }];
  let arguments = (ins Ptx_Shared:$address, UnitAttr:$transposed);
  let results = (outs Variadic<I32>:$words);
  let assemblyFormat = "$address (`transposed` $transposed^)? attr-dict `:` type($words)";
  let hasVerifier = 1;
}

def Ptx_StoreMatrixOp : Ptx_AssemblyOp<"store_matrix"> {
  let summary = "writes 1, 2 or 4 matrices of 8x8 16-bit elements to shared memory, one register each";
  let description = [{
    The inverse of `load_matrix`. Needs sm_90.

    Example: `ptx.store_matrix %a, %b to %p transposed`
  }];
  let arguments = (ins Variadic<I32>:$words, Ptx_Shared:$address, UnitAttr:$transposed);
  let assemblyFormat = "$words `to` $address (`transposed` $transposed^)? attr-dict";
  let hasVerifier = 1;
}

def Ptx_MmaOp : Ptx_AssemblyOp<"mma", [AttrSizedOperandSegments]> {
  let summary = "a warp's matrix product: 16 x k times k x 8, added to 16 x 8";
  let description = [{
    A is row-major, B column-major; fragments are as the PTX ISA says. Types, k, and words of A, B, C:

    | A, B | k | sum | words |
    | --- | --- | --- | --- |
    | f16 | 8; 16 | f16, f32 | 2, 1; 4, 2 |
    | bf16 | 8; 16 | f32 | 2, 1; 4, 2 |
    | tf32 | 4; 8 | f32 | 2, 1; 4, 2 |
    | s8, u8 (mixed, too) | 16; 32 | s32, with `saturate` clamped | 2, 1; 4, 2 |
    | e4m3, e5m2 (mixed, too; sm_89) | 32 | f32 | 4, 2 |

    The sum is 4 registers (f32, or i32 for s32), or 2 of f16 pairs.

    Example: `%d:4 = ptx.mma k 16 <bf16> (%a0, %a1, %a2, %a3) * <bf16> (%b0, %b1) + <f32> (%c0, %c1, %c2, %c3)`
  }];
  let arguments = (ins I64Attr:$k, Ptx_ElementTypeAttr:$aType, Variadic<I32>:$a, Ptx_ElementTypeAttr:$bType, Variadic<I32>:$b,
    Ptx_ElementTypeAttr:$accumulatorType, Variadic<AnyTypeOf<[F32, I32]>>:$accumulators, UnitAttr:$saturate);
  let results = (outs Variadic<AnyTypeOf<[F32, I32]>>:$results);
  let assemblyFormat = [{
    `k` $k $aType `(` $a `)` `*` $bType `(` $b `)` `+` $accumulatorType `(` custom<Accumulators>($accumulators, type($accumulators), type($results), ref($accumulatorType)) `)`
    (`saturate` $saturate^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif
