// SPDX-License-Identifier: MIT
// Two teams of warps that take the blocks of a persistent kernel alternately, and turns at the tensor cores: one multiplies while the other stores its results.
#pragma once
#include "compiler/transforms/LoadRings.h"
#include "compiler/transforms/RingTurns.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilegym::transforms {

/// Whether two teams can share the rings: all of them turn in one loop over the grid, a number of times a block that its number says; and nothing else is in shared memory.
bool canTeamsShare(tile::KernelOp kernel, llvm::ArrayRef<LoadRing> rings);

/// Whether products' sums, with the work on them, need more registers than an equal part of them for a block of three warpgroups.
bool areSumsMany(tile::KernelOp kernel);

/// The consumers' loop over the grid, which carries the turns of all rings behind all else: each team takes every other turn of it, and skips what the rings hold for the other one. Within
/// a turn a team waits for its turn at the products, and gives it away once they are issued.
void alternate(mlir::scf::ForOp loop, llvm::ArrayRef<LoadRing> rings);

} // namespace tilegym::transforms
