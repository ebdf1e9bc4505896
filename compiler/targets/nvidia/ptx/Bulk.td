// SPDX-License-Identifier: MIT
// Bulk copies by the copy engine: rows of bytes between global and shared memory. All need sm_90; addresses and sizes are multiples of 16.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_BULK_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_BULK_TD

include "compiler/targets/nvidia/ptx/PtxDialect.td"

def Ptx_BulkLoadOp : Ptx_AssemblyOp<"bulk_load", [AttrSizedOperandSegments]> {
  let summary = "copies bytes from global to shared memory, some time later; then counts them at an mbarrier";
  let description = [{
    To this block (`!llvm.ptr<3>`), or to a block of the cluster (`!llvm.ptr<7>`) and, with `multicast`, to the same address of each block whose
    bit is set, with the signal to the same barrier of each. `hint`: an L2 cache policy.

    Example: `ptx.bulk_load %dst, %src, %bytes signal %full if %one : !llvm.ptr<3>`
  }];
  let arguments = (ins Ptx_SharedOrCluster:$destination, Ptx_Global:$source, I32:$bytes, Ptx_Shared:$barrier, Optional<I16>:$multicast,
    Optional<I64>:$hint, Optional<I1>:$predicate);
  let assemblyFormat = [{
    $destination `,` $source `,` $bytes `signal` $barrier (`multicast` $multicast^)? (`hint` $hint^)? (`if` $predicate^)? attr-dict `:` type($destination)
  }];
  let hasVerifier = 1;
}

def Ptx_BulkStoreOp : Ptx_AssemblyOp<"bulk_store", [AttrSizedOperandSegments]> {
  let summary = "copies bytes from shared to global memory, some time later; part of this thread's bulk group";
  let description = [{
    What threads wrote into the source must be made visible to it: `fence_proxy_async`, then a barrier.

    Example: `ptx.bulk_store %dst, %src, %bytes if %one`
  }];
  let arguments = (ins Ptx_Global:$destination, Ptx_Shared:$source, I32:$bytes, Optional<I64>:$hint, Optional<I1>:$predicate);
  let assemblyFormat = "$destination `,` $source `,` $bytes (`hint` $hint^)? (`if` $predicate^)? attr-dict";
}

def Ptx_BulkReduceOp : Ptx_AssemblyOp<"bulk_reduce", [AttrSizedOperandSegments]> {
  let summary = "as `bulk_store`, but each element is combined with what is there, atomically and relaxed";
  let description = [{
    To global memory, as part of the bulk group; or to a block of the cluster, with a signal at its mbarrier (u32, s32 and u64 only).

    Example: `ptx.bulk_reduce <add> <f32> %dst, %src, %bytes if %one : !llvm.ptr<1>`
  }];
  let arguments = (ins Ptx_ReduceKindAttr:$kind, Ptx_ElementTypeAttr:$elementType, AnyTypeOf<[Ptx_Global, Ptx_Cluster]>:$destination,
    Ptx_Shared:$source, I32:$bytes, Optional<Ptx_Cluster>:$barrier, Optional<I64>:$hint, Optional<I1>:$predicate);
  let assemblyFormat = [{
    $kind $elementType $destination `,` $source `,` $bytes (`signal` $barrier^)? (`hint` $hint^)? (`if` $predicate^)? attr-dict `:` type($destination)
  }];
  let hasVerifier = 1;
}

def Ptx_BulkCopyClusterOp : Ptx_AssemblyOp<"bulk_copy_cluster"> {
  let summary = "copies bytes from this block's shared memory to that of a block of the cluster; then counts them at its mbarrier";
  let description = "Example: `ptx.bulk_copy_cluster %remote, %src, %bytes signal %remoteFull if %one`";
  let arguments = (ins Ptx_Cluster:$destination, Ptx_Shared:$source, I32:$bytes, Ptx_Cluster:$barrier, Optional<I1>:$predicate);
  let assemblyFormat = "$destination `,` $source `,` $bytes `signal` $barrier (`if` $predicate^)? attr-dict";
}

def Ptx_BulkCommitOp : Ptx_AssemblyOp<"bulk_commit"> {
  let summary = "this thread's bulk stores and reductions since the last commit become a group";
  let description = "Example: `ptx.bulk_commit`";
  let assemblyFormat = "attr-dict";
}

def Ptx_BulkWaitOp : Ptx_AssemblyOp<"bulk_wait"> {
  let summary = "waits until at most `pending` of this thread's youngest bulk groups are not complete";
  let description = [{
    `read`: only until their sources have been read and may be overwritten.

    Example: `ptx.bulk_wait 1 read`
  }];
  let arguments = (ins I64Attr:$pending, UnitAttr:$read);
  let assemblyFormat = "$pending (`read` $read^)? attr-dict";
  let hasVerifier = 1;
}

#endif
