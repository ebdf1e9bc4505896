// SPDX-License-Identifier: MIT
// A tile that little work makes (indices, masks) is better made again in another layout than moved to it.
#pragma once
#include "compiler/ir/Tile.h"
#include "mlir/IR/Builders.h"

namespace tilegym::transforms {

/// The tile's type with another layout.
mlir::RankedTensorType withLayout(mlir::Type tile, const layout::Layout &layout);
/// Gives a tile's value its layout; a constant's attribute follows.
void setLayout(mlir::Value value, const layout::Layout &layout);
/// The layout in a tile's type, which must have one.
layout::Layout layoutOf(mlir::Value tile);

/// The same tile in another layout, from clones of the ops that made it; null if they read memory, reduce, are too many, or are not all
/// in view.
mlir::Value remakeTile(mlir::OpBuilder &b, mlir::Value value, const layout::Layout &layout);

} // namespace tilegym::transforms
