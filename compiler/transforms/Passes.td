// SPDX-License-Identifier: MIT
// Passes on the tile dialect that no target owns. Each record is a contract: what it does, before ==> after, what it needs and leaves.
#ifndef TILEGYM_TRANSFORMS_PASSES_TD
#define TILEGYM_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignLayouts : Pass<"assign-layouts", "::mlir::ModuleOp"> {
  let summary = "which thread holds which element, for every tile";
  let description = [{
    ```mlir
    %t = tile.load %x [span(%c, 1024) stride %one within(%zero, %n)] : !tile.ptr<f32> -> tensor<1024xf32>
    %u = arith.negf %t : tensor<1024xf32>
    ==>
    %t = tile.load %x [...] : !tile.ptr<f32> -> tensor<1024xf32, #layout>
    %u = arith.negf %t : tensor<1024xf32, #layout>
    ```
    Values that meet elementwise, or are carried by a loop, get one layout. It is chosen for the loads and stores among them: 16-byte vectors where
    the facts prove them, adjacent lanes on adjacent vectors, warps on other rows than the reduced ones. Tiles that are broadcast, reduced,
    reshaped or permuted from others follow those, so that they need no move; where an access would suffer too much, it keeps a layout of its own
    and a `tile.convert_layout` stands between. Splats and `iota` are made once for each use.

    Needs: tiles without layouts; the kernel's `warps`. Leaves: a layout on every tile; elementwise ops of one layout, masks and gather indices
    in that of their access, broadcast operands lying along the result. Numerics: fixes the order of reductions, else bit-equal. Runs after all passes
    that make tiles; before tiles-to-threads.
  }];
  let dependentDialects = ["::tilegym::tile::TileDialect"];
}

#endif
