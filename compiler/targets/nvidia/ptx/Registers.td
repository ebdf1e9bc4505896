// SPDX-License-Identifier: MIT
// How many registers a warpgroup's threads have. sm_90a.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_REGISTERS_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_REGISTERS_TD

include "compiler/targets/nvidia/ptx/PtxDialect.td"

def Ptx_RegisterChange : Ptx_Enum<"RegisterChange", "which way", [I32EnumAttrCase<"Increase", 0, "increase">, I32EnumAttrCase<"Decrease", 1, "decrease">]>;
def Ptx_RegisterChangeAttr : Ptx_EnumAttr<Ptx_RegisterChange, "register_change">;

def Ptx_SetMaxRegistersOp : Ptx_AssemblyOp<"set_max_registers"> {
  let summary = "a thread has `count` registers from here on";
  let description = [{
    All threads of the warpgroup take part. `increase` waits until the block's pool has them. A multiple of 8, 24 .. 256. ptxas ignores
    it unless the kernel says how many threads a block has and how many blocks a multiprocessor (`nvvm.reqntid`, `nvvm.minctasm`).

    Example: `ptx.set_max_registers <increase> 232`
  }];
  let arguments = (ins Ptx_RegisterChangeAttr:$change, I64Attr:$count);
  let assemblyFormat = "$change $count attr-dict";
  let hasVerifier = 1;
}

#endif
