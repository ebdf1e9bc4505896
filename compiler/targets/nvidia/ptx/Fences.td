// SPDX-License-Identifier: MIT
// What orders memory accesses of a thread, and makes them visible to the copy engine and the tensor cores.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_FENCES_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_FENCES_TD

include "compiler/targets/nvidia/ptx/PtxDialect.td"

def Ptx_ProxySpace : Ptx_Enum<"ProxySpace", "the memory that a proxy fence is for", [
  I32EnumAttrCase<"All", 0, "all">, I32EnumAttrCase<"Global", 1, "global">, I32EnumAttrCase<"SharedCta", 2, "shared_cta">,
  I32EnumAttrCase<"SharedCluster", 3, "shared_cluster">]>;
def Ptx_ProxySpaceAttr : Ptx_EnumAttr<Ptx_ProxySpace, "proxy_space">;

def Ptx_FenceProxyAsyncOp : Ptx_AssemblyOp<"fence_proxy_async"> {
  let summary = "accesses of this thread before it are ordered before those of the copy engine and of wgmma after it, and the other way round";
  let description = [{
    Needed between threads' writes to shared memory and a bulk or tensor store, or a wgmma, that reads them: each writer fences, then all meet, then one
    issues. Needs sm_90.

    Example: `ptx.fence_proxy_async <shared_cta>`
  }];
  let arguments = (ins Ptx_ProxySpaceAttr:$space);
  let assemblyFormat = "$space attr-dict";
}

def Ptx_FenceMbarrierInitOp : Ptx_AssemblyOp<"fence_mbarrier_init"> {
  let summary = "mbarriers that this thread initialised are so for other blocks of the cluster and for copies";
  let description = "Before the cluster's barrier (or the block's). Needs sm_90. Example: `ptx.fence_mbarrier_init`";
  let assemblyFormat = "attr-dict";
}

def Ptx_FenceOp : Ptx_AssemblyOp<"fence"> {
  let summary = "orders this thread's accesses before it against those after it, for the threads of `scope`";
  let description = [{
    `acq_rel` or `sc`. With atomics before or after it, it makes a release or acquire pattern.

    Example: `ptx.fence <acq_rel> scope <gpu>`
  }];
  let arguments = (ins Ptx_OrderingAttr:$ordering, Ptx_ScopeAttr:$scope);
  let assemblyFormat = "$ordering `scope` $scope attr-dict";
  let hasVerifier = 1;
}

#endif
