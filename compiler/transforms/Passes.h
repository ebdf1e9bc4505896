// SPDX-License-Identifier: MIT
// The passes of Passes.td: create...Pass() for pipelines, registerTransformsPasses() for tools.
#pragma once
#include "compiler/ir/Tile.h"
#include "mlir/Pass/Pass.h"

namespace tilegym::transforms {

#define GEN_PASS_DECL
#include "compiler/transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/transforms/Passes.h.inc"

} // namespace tilegym::transforms
