// SPDX-License-Identifier: MIT
// Tensor copies by the copy engine: boxes of 1 to 5 dimensions, as a tensor map describes them. All need sm_90.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_TENSOR_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_TENSOR_TD

include "compiler/targets/nvidia/ptx/PtxDialect.td"

/// A tensor map: 128 bytes, 64-byte aligned, as a kernel parameter by value or in global memory.
def Ptx_TensorMap : LLVM_PointerInAddressSpace<0>;

def Ptx_TensorLoadOp : Ptx_AssemblyOp<"tensor_load", [AttrSizedOperandSegments]> {
  let summary = "copies a box of a tensor to shared memory, some time later; then counts its bytes at an mbarrier";
  let description = [{
    Coordinates are the box's first element, the innermost dimension first; that one times the element's size is a multiple of 16 bytes, or the
    hardware stops with an illegal instruction. Elements outside the tensor become zero (or NaN, as the map says) and count
    as bytes, too. To this block (`!llvm.ptr<3>`), or to a block of the cluster (`!llvm.ptr<7>`) and, with `multicast`, to the same address of
    each block whose bit is set, with the signal to the same barrier of each. `hint`: an L2 cache policy. The destination is aligned to 128 bytes.

    Example: `ptx.tensor_load %dst, %map[%x, %y] signal %full multicast %mask if %one : !llvm.ptr<7>`
  }];
  let arguments = (ins Ptx_SharedOrCluster:$destination, Ptx_TensorMap:$map, Variadic<I32>:$coordinates, Ptx_Shared:$barrier,
    Optional<I16>:$multicast, Optional<I64>:$hint, Optional<I1>:$predicate);
  let assemblyFormat = [{
    $destination `,` $map `[` $coordinates `]` `signal` $barrier (`multicast` $multicast^)? (`hint` $hint^)? (`if` $predicate^)? attr-dict
    `:` type($destination)
  }];
  let hasVerifier = 1;
}

def Ptx_TensorStoreOp : Ptx_AssemblyOp<"tensor_store", [AttrSizedOperandSegments]> {
  let summary = "copies a box from shared memory to a tensor, some time later; part of this thread's bulk group";
  let description = [{
    Elements outside the tensor are dropped, but no coordinate may be negative (unlike a load's). What threads wrote into the source must be made visible to it: `fence_proxy_async`, then a barrier.

    Example: `ptx.tensor_store %map[%x, %y], %src if %one`
  }];
  let arguments = (ins Ptx_TensorMap:$map, Variadic<I32>:$coordinates, Ptx_Shared:$source, Optional<I64>:$hint, Optional<I1>:$predicate);
  let assemblyFormat = "$map `[` $coordinates `]` `,` $source (`hint` $hint^)? (`if` $predicate^)? attr-dict";
  let hasVerifier = 1;
}

def Ptx_TensorReduceOp : Ptx_AssemblyOp<"tensor_reduce", [AttrSizedOperandSegments]> {
  let summary = "as `tensor_store`, but each element is combined with what is there, atomically and relaxed";
  let description = [{
    The map says the element type.

    Example: `ptx.tensor_reduce <add> %map[%x, %y], %src if %one`
  }];
  let arguments = (ins Ptx_ReduceKindAttr:$kind, Ptx_TensorMap:$map, Variadic<I32>:$coordinates, Ptx_Shared:$source, Optional<I64>:$hint,
    Optional<I1>:$predicate);
  let assemblyFormat = "$kind $map `[` $coordinates `]` `,` $source (`hint` $hint^)? (`if` $predicate^)? attr-dict";
  let hasVerifier = 1;
}

def Ptx_TensorPrefetchOp : Ptx_AssemblyOp<"tensor_prefetch", [AttrSizedOperandSegments]> {
  let summary = "fetches a box into L2, or, without coordinates, the map itself";
  let description = "Example: `ptx.tensor_prefetch %map[%x, %y] if %one`, `ptx.tensor_prefetch %map[] if %one`";
  let arguments = (ins Ptx_TensorMap:$map, Variadic<I32>:$coordinates, Optional<I64>:$hint, Optional<I1>:$predicate);
  let assemblyFormat = "$map `[` $coordinates `]` (`hint` $hint^)? (`if` $predicate^)? attr-dict";
  let hasVerifier = 1;
}

#endif
