// SPDX-License-Identifier: MIT
// Blocks of a cluster: who they are, how they meet, and how one writes another's shared memory. All need sm_90.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_CLUSTER_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_CLUSTER_TD

include "compiler/targets/nvidia/ptx/PtxDialect.td"

def Ptx_ClusterRankOp : Ptx_Op<"cluster_rank", [Pure]> {
  let summary = "this block's number in its cluster";
  let description = "Example: `%r = ptx.cluster_rank`";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Ptx_ClusterSizeOp : Ptx_Op<"cluster_size", [Pure]> {
  let summary = "how many blocks a cluster of this launch has";
  let description = "Example: `%n = ptx.cluster_size`";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Ptx_MapSharedRankOp : Ptx_Op<"map_shared_rank", [Pure]> {
  let summary = "the address in block `rank` of the cluster that is `address` in this one";
  let description = [{
    `llvm.load` and `llvm.store` take it, too.

    Example: `%remote = ptx.map_shared_rank %b, %rank`
  }];
  let arguments = (ins Ptx_Shared:$address, I32:$rank);
  let results = (outs Ptx_Cluster:$result);
  let assemblyFormat = "$address `,` $rank attr-dict";
}

def Ptx_ClusterArriveOp : Ptx_AssemblyOp<"cluster_arrive"> {
  let summary = "this thread arrives at the cluster's barrier; memory accesses before it are released, unless `relaxed`";
  let description = [{
    Every thread of the cluster arrives once, then waits once; warps take part as a whole.

    Example: `ptx.cluster_arrive relaxed`
  }];
  let arguments = (ins UnitAttr:$relaxed);
  let assemblyFormat = "(`relaxed` $relaxed^)? attr-dict";
}

def Ptx_ClusterWaitOp : Ptx_AssemblyOp<"cluster_wait"> {
  let summary = "waits until all threads of the cluster have arrived; sees what they released";
  let description = "Example: `ptx.cluster_wait`";
  let assemblyFormat = "attr-dict";
}

def Ptx_StoreAsyncOp : Ptx_AssemblyOp<"store_async", [AttrSizedOperandSegments]> {
  let summary = "writes 1, 2 or 4 words to a block of the cluster, some time later; then counts their bytes at a barrier of that block";
  let description = [{
    Words are i32, i64 or f32, up to 16 bytes, and the address is aligned to all of them.

    Example: `ptx.store_async (%a, %b) to %remote signal %full if %one : i32, i32`
  }];
  let arguments = (ins Variadic<AnyTypeOf<[I32, I64, F32]>>:$words, Ptx_Cluster:$address, Ptx_Cluster:$barrier, Optional<I1>:$predicate);
  let assemblyFormat = "`(` $words `)` `to` $address `signal` $barrier (`if` $predicate^)? attr-dict `:` type($words)";
  let hasVerifier = 1;
}

#endif
