// SPDX-License-Identifier: MIT
// Barriers in shared memory that count arrivals of threads and bytes of copies. Each is 8 bytes, 8-byte aligned.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_MBARRIER_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_MBARRIER_TD

include "compiler/targets/nvidia/ptx/PtxDialect.td"

def Ptx_MbarrierInitOp : Ptx_AssemblyOp<"mbarrier_init"> {
  let summary = "makes 8 bytes of shared memory a barrier whose phases need `count` arrivals each";
  let description = [{
    It starts in phase 0, which is not complete. Other threads, and copies, may use it after a barrier (and `fence_mbarrier_init` for other blocks of the
    cluster and for copies).

    Example: `ptx.mbarrier_init %b, %count if %one`
  }];
  let arguments = (ins Ptx_Shared:$barrier, I32:$count, Optional<I1>:$predicate);
  let assemblyFormat = "$barrier `,` $count (`if` $predicate^)? attr-dict";
}

def Ptx_MbarrierInvalOp : Ptx_AssemblyOp<"mbarrier_inval"> {
  let summary = "ends a barrier's life: its memory may be used for something else";
  let description = "Example: `ptx.mbarrier_inval %b if %one`";
  let arguments = (ins Ptx_Shared:$barrier, Optional<I1>:$predicate);
  let assemblyFormat = "$barrier (`if` $predicate^)? attr-dict";
}

/// How an arrival or a wait orders memory: releases (acquires) at this scope, unless relaxed.
class Ptx_MbarrierOp<string mnemonic, list<Trait> traits = []> : Ptx_AssemblyOp<mnemonic, traits> {
  dag orderingArguments = (ins UnitAttr:$relaxed, DefaultValuedAttr<Ptx_ScopeAttr, "::tilegym::ptx::Scope::Cta">:$scope);
  string orderingFormat = "(`relaxed` $relaxed^)? (`scope` $scope^)? attr-dict";
  let hasVerifier = 1;
}

def Ptx_MbarrierArriveOp : Ptx_MbarrierOp<"mbarrier_arrive", [AttrSizedOperandSegments]> {
  let summary = "counts `count` arrivals (1 unless given) in the barrier's phase";
  let description = [{
    The result, of a barrier of this block only, names the phase that it arrived in, for the wait. Memory accesses before it are released at `scope`,
    which is `cta` or `cluster`, unless `relaxed`. A release at `cluster` scope costs a fence of the whole GPU on sm_90: for a barrier of another
    block that only says "I have read", `relaxed` is right. A count and a barrier of another block need sm_90.

    Example: `%state = ptx.mbarrier_arrive %b : !llvm.ptr<3> -> i64`, `ptx.mbarrier_arrive %remote count %n if %one relaxed scope <cluster> : !llvm.ptr<7>`
  }];
  let arguments = !con((ins Ptx_SharedOrCluster:$barrier, Optional<I32>:$count, Optional<I1>:$predicate), orderingArguments);
  let results = (outs Optional<I64>:$state);
  let assemblyFormat = "$barrier (`count` $count^)? (`if` $predicate^)?" # orderingFormat # "`:` type($barrier) (`->` type($state)^)?";
}

def Ptx_MbarrierArriveExpectTxOp : Ptx_MbarrierOp<"mbarrier_arrive_expect_tx"> {
  let summary = "as `mbarrier_expect_tx`, then counts one arrival";
  let description = [{
    Needs sm_90. Orders memory as `mbarrier_arrive`.

    Example: `ptx.mbarrier_arrive_expect_tx %full, %bytes if %one : !llvm.ptr<3>`
  }];
  let arguments = !con((ins Ptx_SharedOrCluster:$barrier, I32:$bytes, Optional<I1>:$predicate), orderingArguments);
  let results = (outs Optional<I64>:$state);
  let assemblyFormat = "$barrier `,` $bytes (`if` $predicate^)?" # orderingFormat # "`:` type($barrier) (`->` type($state)^)?";
}

def Ptx_MbarrierExpectTxOp : Ptx_AssemblyOp<"mbarrier_expect_tx"> {
  let summary = "the barrier's phase completes only after `bytes` more bytes of copies";
  let description = [{
    Needs sm_90. Relaxed.

    Example: `ptx.mbarrier_expect_tx %full, %bytes if %one : !llvm.ptr<3>`
  }];
  let arguments = (ins Ptx_SharedOrCluster:$barrier, I32:$bytes, Optional<I1>:$predicate);
  let assemblyFormat = "$barrier `,` $bytes (`if` $predicate^)? attr-dict `:` type($barrier)";
}

def Ptx_MbarrierCompleteTxOp : Ptx_AssemblyOp<"mbarrier_complete_tx"> {
  let summary = "counts `bytes` bytes as copied, in the barrier's phase";
  let description = [{
    What a copy does by itself when its bytes are there. Needs sm_90. Relaxed.

    Example: `ptx.mbarrier_complete_tx %full, %bytes : !llvm.ptr<3>`
  }];
  let arguments = (ins Ptx_SharedOrCluster:$barrier, I32:$bytes, Optional<I1>:$predicate);
  let assemblyFormat = "$barrier `,` $bytes (`if` $predicate^)? attr-dict `:` type($barrier)";
}

def Ptx_MbarrierTryWaitOp : Ptx_MbarrierOp<"mbarrier_try_wait"> {
  let summary = "waits for a while until a phase is complete; says whether it is";
  let description = [{
    `phase` is a parity (i32, 0 or 1): complete where the phase of that parity that is current or just before is; or the state of an arrival (i64). Where it
    is complete, what the arrivals released and the copies wrote is seen, unless `relaxed`. `ticks`: the longest time to wait, in nanoseconds. Needs sm_90.

    Example: `%done = ptx.mbarrier_try_wait %full, %parity : i32`
  }];
  let arguments = !con((ins Ptx_Shared:$barrier, AnyTypeOf<[I32, I64]>:$phase, Optional<I32>:$ticks), orderingArguments);
  let results = (outs I1:$done);
  let assemblyFormat = "$barrier `,` $phase (`ticks` $ticks^)?" # orderingFormat # "`:` type($phase)";
}

def Ptx_MbarrierTestWaitOp : Ptx_MbarrierOp<"mbarrier_test_wait"> {
  let summary = "says whether a phase is complete, at once";
  let description = [{
    As `mbarrier_try_wait`. On sm_80 `phase` is a state or a parity, too.

    Example: `%done = ptx.mbarrier_test_wait %full, %state : i64`
  }];
  let arguments = !con((ins Ptx_Shared:$barrier, AnyTypeOf<[I32, I64]>:$phase), orderingArguments);
  let results = (outs I1:$done);
  let assemblyFormat = "$barrier `,` $phase" # orderingFormat # "`:` type($phase)";
}

#endif
