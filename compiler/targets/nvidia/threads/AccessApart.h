// SPDX-License-Identifier: MIT
// Whether two accesses of a block can meet: at one element, from different threads.
#pragma once
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilegym::nvidia {

/// No thread touches through `a` what another one touches through `b`, both in one turn of the loops around them. The accesses are to one
/// tensor, or to two that are the same view of one buffer where they share any of it.
bool keepApart(const ThreadBuilder &t, tile::RegionOp a, tile::RegionOp b);

/// No element is touched through `a` in one turn of the loop and through `b` in another.
bool turnsKeepApart(tile::RegionOp a, tile::RegionOp b, mlir::scf::ForOp loop);

} // namespace tilegym::nvidia
