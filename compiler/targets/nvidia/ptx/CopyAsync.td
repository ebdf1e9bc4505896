// SPDX-License-Identifier: MIT
// cp.async: small copies from global to shared memory by each thread, in groups that it waits for. sm_80.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_COPY_ASYNC_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_COPY_ASYNC_TD

include "compiler/targets/nvidia/ptx/PtxDialect.td"

def Ptx_CopyAsyncCache : Ptx_Enum<"CopyAsyncCache", "the caches that a copy goes through", [
  I32EnumAttrCase<"All", 0, "all">, I32EnumAttrCase<"Global", 1, "global">]>; // ca: L1 and L2; cg: L2 only
def Ptx_CopyAsyncCacheAttr : Ptx_EnumAttr<Ptx_CopyAsyncCache, "copy_async_cache">;

def Ptx_CopyAsyncOp : Ptx_AssemblyOp<"copy_async", [AttrSizedOperandSegments]> {
  let summary = "copies 4, 8 or 16 bytes from global to shared memory, some time later";
  let description = [{
    Both addresses are aligned to `bytes`. `from`: only that many bytes are read, and the rest of the destination becomes zero (0 reads nothing).
    `cache <global>` (around L1) is for 16 bytes only. `fetch`: L2 fetches lines of 64, 128 or 256 bytes.

    Example: `ptx.copy_async %dst, %src bytes 16 from %n if %ok cache <global>`
  }];
  let arguments = (ins Ptx_Shared:$destination, Ptx_Global:$source, Optional<I32>:$sourceBytes, Optional<I1>:$predicate, I64Attr:$bytes,
    DefaultValuedAttr<Ptx_CopyAsyncCacheAttr, "::tilegym::ptx::CopyAsyncCache::All">:$cache, DefaultValuedAttr<I64Attr, "0">:$fetch);
  let assemblyFormat = [{
    $destination `,` $source `bytes` $bytes (`from` $sourceBytes^)? (`if` $predicate^)? (`cache` $cache^)? (`fetch` $fetch^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Ptx_CopyAsyncCommitOp : Ptx_AssemblyOp<"copy_async_commit"> {
  let summary = "this thread's copies since the last commit become a group";
  let description = "Example: `ptx.copy_async_commit`";
  let assemblyFormat = "attr-dict";
}

def Ptx_CopyAsyncWaitOp : Ptx_AssemblyOp<"copy_async_wait"> {
  let summary = "waits until at most `pending` of this thread's youngest groups are not complete";
  let description = [{
    This thread then sees its own copies of the others; other threads after a barrier.

    Example: `ptx.copy_async_wait 2`
  }];
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
  let hasVerifier = 1;
}

def Ptx_CopyAsyncArriveOp : Ptx_AssemblyOp<"copy_async_arrive"> {
  let summary = "arrives at an mbarrier when all of this thread's copies so far are complete";
  let description = [{
    Without `noinc`, the phase's count first grows by one, so that this arrival is on top of the planned ones; with it, it is one of them.

    Example: `ptx.copy_async_arrive %full noinc`
  }];
  let arguments = (ins Ptx_Shared:$barrier, UnitAttr:$noinc);
  let assemblyFormat = "$barrier (`noinc` $noinc^)? attr-dict";
}

#endif
