// SPDX-License-Identifier: MIT
// Ops that make, move and reshape tiles.
#ifndef TILEGYM_IR_SHAPE_TD
#define TILEGYM_IR_SHAPE_TD

include "compiler/ir/TileAttrs.td"

def Tile_IotaOp : Tile_Op<"iota", [Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "0, 1, 2 ... along an axis";
  let description = [{
    Example:
    ```mlir
    %i = tile.iota 0 : tensor<128xi64>
    ```
  }];
  let arguments = (ins Tile_Int:$axis);
  let results = (outs Tile_IntTile:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    TypesMatchWith<"element type", "result", "value", "::mlir::cast<::mlir::RankedTensorType>($_self).getElementType()">]> {
  let summary = "a tile of one scalar";
  let description = [{
    Example:
    ```mlir
    %t = tile.splat %s : tensor<128x64xf32>
    ```
  }];
  let arguments = (ins Tile_Scalar:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure, SameOperandsAndResultElementType, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "repeats a tile along axes where its extent is 1";
  let description = [{
    Example:
    ```mlir
    %b = tile.broadcast %m : tensor<8x1xf32> to tensor<8x1024xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `to` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure, SameOperandsAndResultElementType, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "another shape, elements in row-major order";
  let description = [{
    To and from a scalar is a reshape, too, where the tile has one element.

    Example:
    ```mlir
    %r = tile.reshape %t : tensor<128xf32> to tensor<128x1xf32>
    ```
  }];
  let arguments = (ins Tile_Value:$value);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `to` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Tile_PermuteOp : Tile_Op<"permute", [Pure, SameOperandsAndResultElementType, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "reorders axes";
  let description = [{
    Axis i of the result is axis `order[i]` of the operand.

    Example:
    ```mlir
    %p = tile.permute %t [1, 0] : tensor<128x64xf32> to tensor<64x128xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$value, DenseI64ArrayAttr:$order);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value $order attr-dict `:` type($value) `to` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_CatOp : Tile_Op<"cat", [Pure, SameOperandsAndResultElementType, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "tiles one after another along an axis";
  let description = [{
    Example:
    ```mlir
    %c = tile.cat 1 %a, %b : tensor<8x32xf32>, tensor<8x32xf32> to tensor<8x64xf32>
    ```
  }];
  let arguments = (ins Tile_Int:$axis, Variadic<Tile_Tile>:$values);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$axis $values attr-dict `:` type($values) `to` type($result)";
  let hasVerifier = 1;
}

def Tile_ExtractOp : Tile_Op<"extract", [Pure, SameOperandsAndResultElementType, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "a part of a tile at compile-time offsets";
  let description = [{
    Example:
    ```mlir
    %e = tile.extract %t [0, 32] : tensor<8x64xf32> to tensor<8x32xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$value, DenseI64ArrayAttr:$offsets);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value $offsets attr-dict `:` type($value) `to` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_BitcastOp : Tile_Op<"bitcast", [Pure]> {
  let summary = "the same bits as elements of another size";
  let description = [{
    The last axis is rescaled; the first of the small elements is the low bits of the large one. Between dtypes of one size it is `arith.bitcast`.

    Example:
    ```mlir
    %b = tile.bitcast %t : tensor<8x64xf32> to tensor<8x128xi16>
    ```
  }];
  let arguments = (ins Tile_Tile:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `to` type($result)";
  let hasVerifier = 1;
}

#endif
