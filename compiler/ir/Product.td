// SPDX-License-Identifier: MIT
// Matrix products of tiles.
#ifndef TILEGYM_IR_PRODUCT_TD
#define TILEGYM_IR_PRODUCT_TD

include "compiler/ir/Shared.td"

def Tile_DotOp : Tile_Op<"dot", [AllTypesMatch<["accumulator", "result"]>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a matrix product, added to an accumulator";
  let description = [{
    `[M, K]` times `[K, N]` plus `[M, N]`: f16, bf16, f32 and 8-bit floats into f32, i8 into i32, f64 into f64. Products are exact but for `tf32`, which
    rounds f32 operands to 11 bits first, and `tf32x3`, which adds the three largest products of their halves. The order of the sum is the target's. `fast`
    leaves sums of 8-bit floats to the instruction, however it rounds.

    An operand is a tile, or a slot of shared memory that holds one.

    Example:
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_Tile, Tile_Shared]>:$a, AnyTypeOf<[Tile_Tile, Tile_Shared]>:$b, Tile_Tile:$accumulator,
    DefaultValuedAttr<Tile_PrecisionAttr, "::tilegym::tile::Precision::Full">:$precision);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $accumulator (`precision` $precision^)? attr-dict `:` type($a) `,` type($b) `,` type($accumulator)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The tile that an operand is or holds.
    static ::mlir::RankedTensorType tileOf(::mlir::Value operand);
    ::mlir::RankedTensorType getAType() { return tileOf(getA()); }
    ::mlir::RankedTensorType getBType() { return tileOf(getB()); }
    /// Whether its types and extents are those of the matrix instructions; else it is done on the plain cores.
    bool usesTensorCores();
  }];
}

#endif
