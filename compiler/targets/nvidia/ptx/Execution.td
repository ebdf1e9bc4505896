// SPDX-License-Identifier: MIT
// Who a thread is, and how threads meet.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_EXECUTION_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_EXECUTION_TD

include "compiler/targets/nvidia/ptx/PtxDialect.td"

def Ptx_ThreadIdOp : Ptx_Op<"thread_id", [Pure]> {
  let summary = "this thread's number in the block";
  let description = "Blocks are one-dimensional. Example: `%t = ptx.thread_id`";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Ptx_BlockIdOp : Ptx_Op<"block_id", [Pure]> {
  let summary = "this block's number in the launch";
  let description = "Launches are one-dimensional. Example: `%b = ptx.block_id`";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Ptx_GridSizeOp : Ptx_Op<"grid_size", [Pure]> {
  let summary = "how many blocks the launch has";
  let description = "Example: `%n = ptx.grid_size`";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Ptx_LaneIdOp : Ptx_Op<"lane_id", [Pure]> {
  let summary = "this thread's number in its warp";
  let description = "Example: `%l = ptx.lane_id`";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Ptx_SmIdOp : Ptx_AssemblyOp<"sm_id"> {
  let summary = "the number of the multiprocessor that runs this block now";
  let description = "For measurements only: nothing may depend on it. Example: `%s = ptx.sm_id`";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Ptx_Clock : Ptx_Enum<"Clock", "which clock", [I32EnumAttrCase<"Cycles", 0, "cycles">, I32EnumAttrCase<"Nanoseconds", 1, "nanoseconds">]>;
def Ptx_ClockAttr : Ptx_EnumAttr<Ptx_Clock, "clock_kind">;

def Ptx_ClockOp : Ptx_AssemblyOp<"clock"> {
  let summary = "time: of this multiprocessor in cycles, or of the device in nanoseconds";
  let description = "Example: `%t = ptx.clock <cycles>`";
  let arguments = (ins Ptx_ClockAttr:$kind);
  let results = (outs I64:$result);
  let assemblyFormat = "$kind attr-dict";
}

def Ptx_BarrierOp : Ptx_Op<"barrier"> {
  let summary = "all threads of the block meet; memory accesses before it are seen after it";
  let description = "Example: `ptx.barrier`";
  let assemblyFormat = "attr-dict";
}

def Ptx_NamedBarrierKind : Ptx_Enum<"NamedBarrierKind", "whether a thread waits", [
  I32EnumAttrCase<"Sync", 0, "sync">, I32EnumAttrCase<"Arrive", 1, "arrive">]>;
def Ptx_NamedBarrierKindAttr : Ptx_EnumAttr<Ptx_NamedBarrierKind, "named_barrier_kind">;

def Ptx_NamedBarrierOp : Ptx_AssemblyOp<"named_barrier"> {
  let summary = "`threads` threads of the block meet at barrier `id`; those that only arrive do not wait";
  let description = [{
    Ids are 0 .. 15; `ptx.barrier` is id 0. Whole warps take part, each with the same id and count; accesses before an arrival are seen after the wait.
    An `id` that is not a constant makes ptxas reserve all 16.

    Example: `ptx.named_barrier <sync> %id threads 128`
  }];
  let arguments = (ins Ptx_NamedBarrierKindAttr:$kind, I32:$id, I64Attr:$threads);
  let assemblyFormat = "$kind $id `threads` $threads attr-dict";
  let hasVerifier = 1;
}

def Ptx_WarpBarrierOp : Ptx_AssemblyOp<"warp_barrier"> {
  let summary = "all threads of the warp meet; memory accesses before it are seen after it";
  let description = "Example: `ptx.warp_barrier`";
  let assemblyFormat = "attr-dict";
}

def Ptx_ShuffleKind : Ptx_Enum<"ShuffleKind", "whose value a lane gets", [
  I32EnumAttrCase<"Xor", 0, "xor">, I32EnumAttrCase<"Up", 1, "up">, I32EnumAttrCase<"Down", 2, "down">, I32EnumAttrCase<"Index", 3, "index">]>;
def Ptx_ShuffleKindAttr : Ptx_EnumAttr<Ptx_ShuffleKind, "shuffle">;

def Ptx_ShuffleOp : Ptx_Op<"shuffle", [AllTypesMatch<["value", "result"]>]> {
  let summary = "another lane's value";
  let description = [{
    All lanes of the warp take part. `xor`: lane ^ operand; `up`: lane - operand; `down`: lane + operand; `index`: lane = operand. A lane whose
    source lies outside 0 .. 31 gets its own value.

    Example: `%r = ptx.shuffle <xor> %v, %sixteen : i32`
  }];
  let arguments = (ins Ptx_ShuffleKindAttr:$kind, AnyTypeOf<[I32, F32]>:$value, I32:$lane);
  let results = (outs AnyTypeOf<[I32, F32]>:$result);
  let assemblyFormat = "$kind $value `,` $lane attr-dict `:` type($value)";
}

def Ptx_VoteKind : Ptx_Enum<"VoteKind", "what a warp's predicates give", [
  I32EnumAttrCase<"Any", 0, "any">, I32EnumAttrCase<"All", 1, "all">, I32EnumAttrCase<"Uniform", 2, "uni">, I32EnumAttrCase<"Ballot", 3, "ballot">]>;
def Ptx_VoteKindAttr : Ptx_EnumAttr<Ptx_VoteKind, "vote_kind">;

def Ptx_VoteOp : Ptx_Op<"vote"> {
  let summary = "whether any or all lanes' predicates are true, or all are equal (`uni`); `ballot`: bit n is lane n's";
  let description = [{
    All lanes of the warp take part. The result is `i32` for `ballot`, else `i1`.

    Example: `%m = ptx.vote <ballot> %p : i32`
  }];
  let arguments = (ins Ptx_VoteKindAttr:$kind, I1:$predicate);
  let results = (outs AnyTypeOf<[I1, I32]>:$result);
  let assemblyFormat = "$kind $predicate attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Ptx_MatchKind : Ptx_Enum<"MatchKind", "which lanes are compared", [I32EnumAttrCase<"Any", 0, "any">, I32EnumAttrCase<"All", 1, "all">]>;
def Ptx_MatchKindAttr : Ptx_EnumAttr<Ptx_MatchKind, "match_kind">;

def Ptx_MatchOp : Ptx_AssemblyOp<"match"> {
  let summary = "`any`: the lanes that hold this lane's value; `all`: all lanes where they hold one value, else none";
  let description = [{
    All lanes of the warp take part; bit n of the result is lane n.

    Example: `%m = ptx.match <any> %key : i32`
  }];
  let arguments = (ins Ptx_MatchKindAttr:$kind, AnyTypeOf<[I32, I64]>:$value);
  let results = (outs I32:$lanes);
  let assemblyFormat = "$kind $value attr-dict `:` type($value)";
}

def Ptx_ReduxKind : Ptx_Enum<"ReduxKind", "how a warp's words are combined", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"MinS", 1, "min">, I32EnumAttrCase<"MaxS", 2, "max">, I32EnumAttrCase<"MinU", 3, "umin">,
  I32EnumAttrCase<"MaxU", 4, "umax">, I32EnumAttrCase<"And", 5, "and">, I32EnumAttrCase<"Or", 6, "or">, I32EnumAttrCase<"Xor", 7, "xor">]>;
def Ptx_ReduxKindAttr : Ptx_EnumAttr<Ptx_ReduxKind, "redux_kind">;

def Ptx_ReduxOp : Ptx_Op<"redux"> {
  let summary = "one word of all lanes, combined";
  let description = [{
    All lanes of the warp take part, and get the same result.

    Example: `%s = ptx.redux <add> %x`
  }];
  let arguments = (ins Ptx_ReduxKindAttr:$kind, I32:$value);
  let results = (outs I32:$result);
  let assemblyFormat = "$kind $value attr-dict";
}

def Ptx_ElectOp : Ptx_Op<"elect"> {
  let summary = "true in one lane of the warp, the same at each call";
  let description = [{
    All lanes of the warp take part. Needs sm_90.

    Example: `%one = ptx.elect`
  }];
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict";
}

def Ptx_SharedBaseOp : Ptx_Op<"shared_base", [Pure]> {
  let summary = "start of the block's dynamic shared memory, 1024-byte aligned";
  let description = "Example: `%s = ptx.shared_base : !llvm.ptr<3>`";
  let results = (outs Ptx_Shared:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Ptx_TrapOp : Ptx_AssemblyOp<"trap"> {
  let summary = "stops the launch with an error";
  let description = "Example: `ptx.trap`";
  let assemblyFormat = "attr-dict";
}

def Ptx_PrintOp : Ptx_Op<"print"> {
  let summary = "prints to the program's standard output, when the device is next synchronised";
  let description = [{
    `format` is C's: integers are `%lld`, floats `%g`.

    Example: `ptx.print "row %lld\n" (%i) : i64`
  }];
  let arguments = (ins StrAttr:$format, Variadic<AnyTypeOf<[I64, F64]>>:$values);
  let assemblyFormat = "$format (`(` $values^ `)` `:` type($values))? attr-dict";
}

#endif
