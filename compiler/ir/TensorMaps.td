// SPDX-License-Identifier: MIT
// The copy engine's view of a tensor.
#ifndef TILEGYM_IR_TENSORMAP_TD
#define TILEGYM_IR_TENSORMAP_TD

include "compiler/ir/TileAttrs.td"

def Tile_TensorMap : Tile_Type<"TensorMap", "tensor_map"> {
  let summary = "what the copy engine knows of a tensor: its axes, and the box of it that one copy takes";
  let description = [{
    One entry for each axis of the regions that are copied through it, in their order: the box's extent along it (1 where regions have a point), the extent of
    the tensor (a run-time dim of the op or a number), and the axis of the tensor whose stride it has. One axis has none: there, neighbours are neighbours in
    memory, and it is the copies' innermost whichever place it has; then come the others, the last first. In shared memory a copy lies in rows along the
    innermost axis, swizzled by so many bytes (0: not).

    Example: `!tile.tensor_map<bf16, [1 of dim 0 by 0, 128 of dim 1 by 1, 64 of 4096], swizzle 128>`
  }];
  let parameters = (ins "::mlir::Type":$elementType, ArrayRefParameter<"::tilegym::tile::MapAxis">:$axes, "int64_t":$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The axis along which neighbours are neighbours in memory.
    int64_t getInnermost() const;
    /// Axes in the order of a copy's coordinates, the innermost first.
    ::llvm::SmallVector<int64_t> getOrder() const;
    /// Of one copy.
    int64_t getBoxBytes() const;
  }];
}

#endif
