// SPDX-License-Identifier: MIT
// Which thread holds which element: the layout attribute that a tile's type carries, and the change from one to another.
#ifndef TILEGYM_IR_LAYOUT_TD
#define TILEGYM_IR_LAYOUT_TD

include "compiler/ir/TileAttrs.td"
include "mlir/IR/TensorEncoding.td"

def Tile_Layout : Tile_Attr<"Layout", "layout", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "a linear layout (compiler/layout) as a tensor's encoding";
  let description = [{
    The text is the layout's own (`Layout::str`).

    Example: `#tile.layout<"128 reg [1] [2] lane [4] [8] [16] [32] [64]">`
  }];
  let parameters = (ins AttrParameter<"::tilegym::layout::Layout", "the layout">:$layout);
  let hasCustomAssemblyFormat = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure, SameOperandsAndResultShape, SameOperandsAndResultElementType]> {
  let summary = "moves a tile to another layout";
  let description = [{
    Example:
    ```mlir
    %b = tile.convert_layout %a : tensor<64xf32, #l0> to tensor<64xf32, #l1>
    ```
  }];
  let arguments = (ins Tile_Tile:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `to` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif
