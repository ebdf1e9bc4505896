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

def Ptx_BarrierOp : Ptx_Op<"barrier"> {
  let summary = "all threads of the block meet; memory accesses before it are seen after it";
  let description = "Example: `ptx.barrier`";
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
