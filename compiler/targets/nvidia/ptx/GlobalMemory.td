// SPDX-License-Identifier: MIT
// Access to global and shared memory: vectors of words under a predicate.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_GLOBAL_MEMORY_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_GLOBAL_MEMORY_TD

include "compiler/targets/nvidia/ptx/PtxDialect.td"

def Ptx_Cache : Ptx_Enum<"Cache", "how an access treats the caches", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"Streaming", 1, "streaming">]>; // read or written once: not kept in L1, first to leave L2
def Ptx_CacheAttr : Ptx_EnumAttr<Ptx_Cache, "cache">;

/// What one register of an access holds: i8 travels in an i16.
def Ptx_Word : AnyTypeOf<[I16, I32, I64]>;

def Ptx_LoadGlobalOp : Ptx_AssemblyOp<"load_global", [AttrSizedOperandSegments]> {
  let summary = "reads 1, 2 or 4 words of `bits` bits at an address plus `offset` bytes";
  let description = [{
    The address plus the offset is a multiple of the whole access. Without `predicate`, or where it is true, memory is read; elsewhere the words
    are those of `other`, and nothing is read. `readonly`: nothing writes this memory while the kernel runs. 8-bit words come zero-extended in `i16`.

    Example:
    ```mlir
    %w:4 = ptx.load_global %p + 64 bits 32 if %ok else %z, %z, %z, %z readonly cache <streaming> : i32, i32, i32, i32
    ```
  }];
  let arguments = (ins Ptx_Global:$address, Optional<I1>:$predicate, Variadic<Ptx_Word>:$other, DefaultValuedAttr<I64Attr, "0">:$offset, I64Attr:$bits,
    UnitAttr:$readonly, DefaultValuedAttr<Ptx_CacheAttr, "::tilegym::ptx::Cache::Default">:$cache);
  let results = (outs Variadic<Ptx_Word>:$words);
  let assemblyFormat = [{
    $address `+` $offset `bits` $bits (`if` $predicate^ `else` $other)? (`readonly` $readonly^)? (`cache` $cache^)? attr-dict `:` type($words)
    custom<SameWords>(ref(type($words)), type($other), ref($other))
  }];
  let hasVerifier = 1;
}

def Ptx_LoadSharedOp : Ptx_AssemblyOp<"load_shared", [AttrSizedOperandSegments]> {
  let summary = "reads 1, 2 or 4 words of `bits` bits of shared memory at an address plus `offset` bytes";
  let description = [{
    As `load_global`.

    Example:
    ```mlir
    %w:4 = ptx.load_shared %s + 64 bits 32 if %ok else %z, %z, %z, %z : i32, i32, i32, i32
    ```
  }];
  let arguments = (ins Ptx_Shared:$address, Optional<I1>:$predicate, Variadic<Ptx_Word>:$other, DefaultValuedAttr<I64Attr, "0">:$offset, I64Attr:$bits);
  let results = (outs Variadic<Ptx_Word>:$words);
  let assemblyFormat = [{
    $address `+` $offset `bits` $bits (`if` $predicate^ `else` $other)? attr-dict `:` type($words)
    custom<SameWords>(ref(type($words)), type($other), ref($other))
  }];
  let hasVerifier = 1;
}

def Ptx_StoreGlobalOp : Ptx_AssemblyOp<"store_global", [AttrSizedOperandSegments]> {
  let summary = "writes 1, 2 or 4 words of `bits` bits at an address plus `offset` bytes";
  let description = [{
    As `load_global`: nothing is written where `predicate` is false. 8-bit words are the low bits of `i16`.

    Example:
    ```mlir
    ptx.store_global %w#0, %w#1 at %p + 0 bits 32 if %ok : i32, i32
    ```
  }];
  let arguments = (ins Variadic<Ptx_Word>:$words, Ptx_Global:$address, Optional<I1>:$predicate, DefaultValuedAttr<I64Attr, "0">:$offset, I64Attr:$bits,
    DefaultValuedAttr<Ptx_CacheAttr, "::tilegym::ptx::Cache::Default">:$cache);
  let assemblyFormat = [{
    $words `at` $address `+` $offset `bits` $bits (`if` $predicate^)? (`cache` $cache^)? attr-dict `:` type($words)
  }];
  let hasVerifier = 1;
}

#endif
