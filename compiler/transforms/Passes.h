// SPDX-License-Identifier: MIT
// Declarations of the passes in Passes.td.
#pragma once
#include "mlir/Pass/Pass.h"

namespace tilegym::transforms {
#define GEN_PASS_DECL
#include "compiler/transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/transforms/Passes.h.inc"
} // namespace tilegym::transforms
