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

    An operand is a tile, or a slot of shared memory that holds one. `warpgroups`: by the instructions that four warps issue together and that read slots
    themselves (`use-warpgroups`). With `in_flight` they may still run when the op is over: the result may be carried by loops and be an accumulator, and is a value once
    a `tile.dot_wait` gives it; until then what they read must stay as it is. `rest`, of `tf32x3` by warpgroups: a slot with what tf32 cuts from the operand that instructions read
    from its slot (`tile.put_rest`); of the other one threads make both halves in registers.

    Example:
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_Tile, Tile_Shared]>:$a, AnyTypeOf<[Tile_Tile, Tile_Shared]>:$b, Tile_Tile:$accumulator,
    Optional<Tile_Shared>:$rest, DefaultValuedAttr<Tile_PrecisionAttr, "::tilegym::tile::Precision::Full">:$precision, UnitAttr:$warpgroups, UnitAttr:$inFlight);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $accumulator (`rest` $rest^ `:` qualified(type($rest)))? (`precision` $precision^)? (`warpgroups` $warpgroups^)? (`in_flight` $inFlight^)? attr-dict `:` type($a) `,` type($b) `,` type($accumulator)
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

def Tile_SplitSumOp : Tile_Op<"split_sum", [SameOperandsAndResultType]> {
  let summary = "the sum of what the blocks of a cluster hold, in the order of their ranks; known to rank 0 alone";
  let description = [{
    All blocks of the cluster come here once. None uses its shared memory for anything that began before, nor a rank other than 0 the result.

    Example: `%sum = tile.split_sum %acc : tensor<64x64xf32>`
  }];
  let arguments = (ins Tile_Tile:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Tile_DotWaitOp : Tile_Op<"dot_wait"> {
  let summary = "waits until at most so many of the youngest products in flight are not over; gives results of those that are";
  let description = [{
    Each thread waits for the products of its own warpgroup.

    Example: `%r = tile.dot_wait 0 (%d) : tensor<128x128xf32> to tensor<128x128xf32>`
  }];
  let arguments = (ins Tile_Int:$pending, Variadic<Tile_Tile>:$values);
  let results = (outs Variadic<Tile_Tile>:$results);
  let assemblyFormat = "$pending (`(` $values^ `)` `:` type($values) `to` type($results))? attr-dict";
  let hasVerifier = 1;
}

#endif
