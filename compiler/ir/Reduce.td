// SPDX-License-Identifier: MIT
// Reductions. They keep the reduced axes with extent 1, or give a scalar where every axis is reduced.
#ifndef TILEGYM_IR_REDUCE_TD
#define TILEGYM_IR_REDUCE_TD

include "compiler/ir/TileAttrs.td"

def Tile_ReduceOp : Tile_Op<"reduce", [Pure, SameOperandsAndResultElementType, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "a reduction with a name";
  let description = [{
    Accumulates in the element type, in an order of the target's choice that is fixed for a kernel. `max` and `min` of floats propagate NaN and order
    -0 below +0; of integers they are signed, `umax` and `umin` unsigned. `any` and `all` are of i1.

    Example:
    ```mlir
    %m = tile.reduce <max> %t [1] : tensor<8x1024xf32> to tensor<8x1xf32>
    %s = tile.reduce <sum> %t [0, 1] : tensor<8x1024xf32> to f32
    ```
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Tile:$value, DenseI64ArrayAttr:$axes);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$kind $value $axes attr-dict `:` type($value) `to` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_ArgReduceOp : Tile_Op<"arg_reduce", [Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRangesFromOptional"]>]> {
  let summary = "where the largest or smallest element is";
  let description = [{
    The kind is `max`, `min`, `umax` or `umin`. The first of equals wins (-0 equals +0); a NaN wins over numbers. Along one axis the result is the index on it; over
    all axes, the row-major index.

    Example:
    ```mlir
    %i = tile.arg_reduce <max> %t [1] : tensor<8x1024xf32> to tensor<8x1xi64>
    ```
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Tile:$value, DenseI64ArrayAttr:$axes);
  let results = (outs AnyTypeOf<[I64, StaticShapeTensorOf<[I64]>]>:$result);
  let assemblyFormat = "$kind $value $axes attr-dict `:` type($value) `to` type($result)";
  let hasVerifier = 1;
}

def Tile_ReduceWithOp : Tile_Op<"reduce_with", [Pure, SameVariadicOperandSize, SingleBlock]> {
  let summary = "a reduction by a function";
  let description = [{
    `combiner` takes an accumulator for each tile, then an element of each, all scalars, and yields the new accumulators. It is associative
    and commutative, and `inits` is its identity. The order depends on the layout alone, and all threads get equal bits.

    Example:
    ```mlir
    %r = tile.reduce_with %t init(%zero : f32) [0] : tensor<128xf32> to f32 {
    ^bb0(%a: f32, %x: f32):
      %s = arith.addf %a, %x : f32
      tile.yield %s : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$values, Variadic<Tile_Scalar>:$inits, DenseI64ArrayAttr:$axes);
  let results = (outs Variadic<Tile_Value>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = "$values `init` `(` $inits `:` type($inits) `)` $axes attr-dict `:` type($values) `to` type($results) $combiner";
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "the values of a region";
  let description = "Example: `tile.yield %a : f32`";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
