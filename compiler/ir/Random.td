// SPDX-License-Identifier: MIT
// Counter-based random numbers.
#ifndef TILEGYM_IR_RANDOM_TD
#define TILEGYM_IR_RANDOM_TD

include "compiler/ir/TileAttrs.td"

def Tile_PhiloxOp : Tile_Op<"philox", [Pure]> {
  let summary = "Philox4x32-10 bits for each counter";
  let description = [{
    With n = 128 / bits, an element is field `c mod n` of Philox4x32-10 with key `seed` (low word first) at counter `c div n` (its 64 bits in the low two
    words, the high two zero). `bits` is the result's width: 32, 16 or 8. Neighbours share a call where a thread holds them.

    Example:
    ```mlir
    %r = tile.philox %seed, %c : tensor<128xi64> to tensor<128xi32>
    ```
  }];
  let arguments = (ins I64:$seed, AnyTypeOf<[I64, StaticShapeTensorOf<[I64]>]>:$counter);
  let results = (outs AnyTypeOf<[I32, I16, I8, StaticShapeTensorOf<[I32, I16, I8]>]>:$result);
  let assemblyFormat = "$seed `,` $counter attr-dict `:` type($counter) `to` type($result)";
  let hasVerifier = 1;
}

#endif
