// SPDX-License-Identifier: MIT
// Every family of target instructions, for TableGen.
include "compiler/targets/nvidia/ptx/Execution.td"
include "compiler/targets/nvidia/ptx/GlobalMemory.td"
include "compiler/targets/nvidia/ptx/Math.td"
