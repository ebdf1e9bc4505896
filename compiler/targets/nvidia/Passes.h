// SPDX-License-Identifier: MIT
// Declarations of the passes in Passes.td. Heavy dialect headers stay out: a pass's own file includes what it needs.
#pragma once
#include "mlir/Pass/Pass.h"

namespace tilegym::nvidia {
#define GEN_PASS_DECL
#include "compiler/targets/nvidia/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/targets/nvidia/Passes.h.inc"
} // namespace tilegym::nvidia
