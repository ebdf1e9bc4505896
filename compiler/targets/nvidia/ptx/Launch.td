// SPDX-License-Identifier: MIT
// How a grid overlaps with the one before it (programmatic dependent launch). sm_90.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_LAUNCH_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_LAUNCH_TD

include "compiler/targets/nvidia/ptx/PtxDialect.td"

def Ptx_GridDependencyWaitOp : Ptx_AssemblyOp<"grid_dependency_wait"> {
  let summary = "waits until the grids that this one depends on are complete, and sees their writes";
  let description = "Example: `ptx.grid_dependency_wait`";
  let assemblyFormat = "attr-dict";
}

def Ptx_GridLaunchDependentsOp : Ptx_AssemblyOp<"grid_launch_dependents"> {
  let summary = "grids that depend on this one may start once all its blocks have said so or ended";
  let description = [{
    It releases nothing: what they may read, they wait for. The scheduler takes less than one a nanosecond from the whole GPU, as measured on an H200, so many
    short blocks should leave it to the last of them.

    Example: `ptx.grid_launch_dependents if %last`
  }];
  let arguments = (ins Optional<I1>:$predicate);
  let assemblyFormat = "(`if` $predicate^)? attr-dict";
}

#endif
