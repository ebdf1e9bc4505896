// SPDX-License-Identifier: MIT
// The number of blocks along an axis of the grid, as a parameter of the kernel; loops over the grid.
#pragma once
#include "compiler/ir/Tile.h"
#include "mlir/IR/Builders.h"

namespace tilegym::transforms {

/// Adds the parameter where the kernel has none yet; i64.
mlir::Value gridExtent(tile::KernelOp kernel, mlir::OpBuilder &builder, int64_t axis);

/// Whether it is the loop of a persistent kernel: its turns are blocks of the grid.
bool isGridLoop(mlir::Operation *op);

} // namespace tilegym::transforms
