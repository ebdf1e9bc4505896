// SPDX-License-Identifier: MIT
// Elementwise ops whose meaning arith and math do not have. Everything else elementwise is arith and math:
// their float ops round to nearest even and keep subnormals, `maximumf`/`minimumf` are `max`/`min`, `maxnumf`/`minnumf` are `fmax`/`fmin`.
#ifndef TILEGYM_IR_ELEMENTWISE_TD
#define TILEGYM_IR_ELEMENTWISE_TD

include "compiler/ir/TileAttrs.td"

def Tile_ConvertOp : Tile_Op<"convert", [Pure, SameOperandsAndResultShape, Elementwise]> {
  let summary = "conversions that saturate or round in a direction";
  let description = [{
    - Float to integer: rounds in the direction given, then saturates to the range of the result (`unsigned`: as an unsigned integer); NaN gives 0.
    - Float to float: rounds in the direction given. To f8, `saturate` makes finite values that are too large, and infinities, the largest finite
      value; without it they are infinity, or NaN in f8E4M3FN.
    - Integer to float: rounds in the direction given.

    Conversions to nearest even without saturation, and those that lose nothing, are `arith` ops.

    Example:
    ```mlir
    %q = tile.convert %x <nearest_even> saturate : tensor<128xf32> to tensor<128xf8E4M3FN>
    %i = tile.convert %x <toward_zero> : tensor<128xf32> to tensor<128xi32>
    ```
  }];
  let arguments = (ins Tile_Value:$value, Tile_RoundingAttr:$rounding, UnitAttr:$saturate, UnitAttr:$isUnsigned);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$value $rounding (`saturate` $saturate^)? (`unsigned` $isUnsigned^)? attr-dict `:` type($value) `to` type($result)";
  let hasVerifier = 1;
}

#endif
