// SPDX-License-Identifier: MIT
// Inclusive scans along an axis; the result has the operand's shape.
#ifndef TILEGYM_IR_SCAN_TD
#define TILEGYM_IR_SCAN_TD

include "compiler/ir/Reduce.td"

def Tile_ScanOp : Tile_Op<"scan", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "a scan with a name: sum, prod, max or min";
  let description = [{
    `reverse`: from the last element to the first, and never as a total minus a prefix.

    Example:
    ```mlir
    %c = tile.scan <sum> %t 1 reverse : tensor<8x1024xf32>
    ```
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Tile:$value, Tile_Int:$axis, UnitAttr:$reverse);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$kind $value $axis (`reverse` $reverse^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Tile_ScanWithOp : Tile_Op<"scan_with", [Pure, SameVariadicOperandSize, SingleBlock]> {
  let summary = "a scan by a function";
  let description = [{
    `combiner` is as in `tile.reduce_with`: (accumulators..., elements...) to accumulators, associative, with identity `inits`. The accumulator is
    what came before in the direction of the scan.

    Example:
    ```mlir
    %r = tile.scan_with %t init(%one : f32) 0 : tensor<128xf32> to tensor<128xf32> {
    ^bb0(%a: f32, %x: f32):
      %p = arith.mulf %a, %x : f32
      tile.yield %p : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$values, Variadic<Tile_Scalar>:$inits, Tile_Int:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    $values `init` `(` $inits `:` type($inits) `)` $axis (`reverse` $reverse^)? attr-dict `:` type($values) `to` type($results) $combiner
  }];
  let hasVerifier = 1;
}

#endif
