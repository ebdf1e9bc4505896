// SPDX-License-Identifier: MIT
// Atomic accesses to global and shared memory, with ordering and scope.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_ATOMICS_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_ATOMICS_TD

include "compiler/targets/nvidia/ptx/PtxDialect.td"

def Ptx_AtomicKind : Ptx_Enum<"AtomicKind", "what an atomic does; the operand's type says the rest", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"AddF", 1, "fadd">, I32EnumAttrCase<"MinS", 2, "smin">, I32EnumAttrCase<"MaxS", 3, "smax">,
  I32EnumAttrCase<"MinU", 4, "umin">, I32EnumAttrCase<"MaxU", 5, "umax">, I32EnumAttrCase<"And", 6, "and">, I32EnumAttrCase<"Or", 7, "or">,
  I32EnumAttrCase<"Xor", 8, "xor">, I32EnumAttrCase<"Exchange", 9, "exch">]>;
def Ptx_AtomicKindAttr : Ptx_EnumAttr<Ptx_AtomicKind, "atomic_kind">;

/// An atomic's ordering and scope; LLVM's own read-modify-write drops both.
class Ptx_AtomicOpBase<string mnemonic, list<Trait> traits = []> : Ptx_AssemblyOp<mnemonic, traits> {
  dag orderingArguments = (ins DefaultValuedAttr<Ptx_OrderingAttr, "::tilegym::ptx::Ordering::Relaxed">:$ordering,
    DefaultValuedAttr<Ptx_ScopeAttr, "::tilegym::ptx::Scope::Gpu">:$scope);
  string orderingFormat = "(`order` $ordering^)? (`scope` $scope^)? attr-dict";
  let hasVerifier = 1;
}

def Ptx_AtomicOp : Ptx_AtomicOpBase<"atomic"> {
  let summary = "atomic update of one word; gives the old value";
  let description = [{
    Of global memory unless a pointer type is written. Nothing happens where `predicate` is false, and the result is undefined there.

    Example: `%old = ptx.atomic <add> %p, %v if %ok order <acq_rel> scope <cta> : i32 at !llvm.ptr<3>`
  }];
  let arguments = !con((ins Ptx_AtomicKindAttr:$kind, Ptx_AnyMemory:$address, AnyTypeOf<[I32, I64, F32, F64, F16, BF16]>:$value,
    Optional<I1>:$predicate), orderingArguments);
  let results = (outs AnyTypeOf<[I32, I64, F32, F64, F16, BF16]>:$result);
  let assemblyFormat = "$kind $address `,` $value (`if` $predicate^)?" # orderingFormat # [{
    `:` type($value) custom<SameAs>(ref(type($value)), type($result)) custom<MemoryPointer>(type($address))
  }];
}

def Ptx_AtomicCasOp : Ptx_AtomicOpBase<"atomic_cas"> {
  let summary = "writes `value` where the word equals `compare`; gives the old value";
  let description = [{
    Of global memory unless a pointer type is written. Nothing happens where `predicate` is false, and the result is undefined there.

    Example: `%old = ptx.atomic_cas %p, %c, %v if %ok : i32`
  }];
  let arguments = !con((ins Ptx_AnyMemory:$address, AnyTypeOf<[I16, I32, I64]>:$compare, AnyTypeOf<[I16, I32, I64]>:$value,
    Optional<I1>:$predicate), orderingArguments);
  let results = (outs AnyTypeOf<[I16, I32, I64]>:$result);
  let assemblyFormat = "$address `,` $compare `,` $value (`if` $predicate^)?" # orderingFormat # [{
    `:` type($value) custom<SameAs>(ref(type($value)), type($compare)) custom<SameAs>(ref(type($value)), type($result))
    custom<MemoryPointer>(type($address))
  }];
}

def Ptx_AtomicReduceOp : Ptx_AtomicOpBase<"atomic_reduce", [AttrSizedOperandSegments]> {
  let summary = "atomic update of 1, 2 or 4 neighbouring words, each by itself, without a result";
  let description = [{
    `f16` and `bf16`: an i32 word is a pair of elements, each updated by itself. Several words: global memory, `add` of f32 or any of `add`, `min`,
    `max` of f16 and bf16; needs sm_90, an address aligned to all of them, and the relaxed order.

    Example: `ptx.atomic_reduce <add> <f32> %p, (%a, %b, %c, %d) if %ok : f32, f32, f32, f32`
  }];
  let arguments = !con((ins Ptx_ReduceKindAttr:$kind, Ptx_ElementTypeAttr:$elementType, Ptx_AnyMemory:$address,
    Variadic<AnyTypeOf<[I32, I64, F32, F64]>>:$words, Optional<I1>:$predicate), orderingArguments);
  let assemblyFormat = "$kind $elementType $address `,` `(` $words `)` (`if` $predicate^)?" # orderingFormat # [{
    `:` type($words) custom<MemoryPointer>(type($address))
  }];
}

def Ptx_AtomicLoadOp : Ptx_AtomicOpBase<"atomic_load"> {
  let summary = "reads one word that other threads may write meanwhile";
  let description = [{
    `relaxed` or `acquire`.

    Example: `%x = ptx.atomic_load %p order <acquire> scope <gpu> : i32`
  }];
  let arguments = !con((ins Ptx_AnyMemory:$address), orderingArguments);
  let results = (outs AnyTypeOf<[I16, I32, I64, F32, F64]>:$result);
  let assemblyFormat = "$address" # orderingFormat # "`:` type($result) custom<MemoryPointer>(type($address))";
}

def Ptx_AtomicStoreOp : Ptx_AtomicOpBase<"atomic_store"> {
  let summary = "writes one word that other threads may read meanwhile";
  let description = [{
    `relaxed` or `release`.

    Example: `ptx.atomic_store %p, %x if %one order <release> scope <gpu> : i32`
  }];
  let arguments = !con((ins Ptx_AnyMemory:$address, AnyTypeOf<[I16, I32, I64, F32, F64]>:$value, Optional<I1>:$predicate), orderingArguments);
  let assemblyFormat = "$address `,` $value (`if` $predicate^)?" # orderingFormat # "`:` type($value) custom<MemoryPointer>(type($address))";
}

#endif
