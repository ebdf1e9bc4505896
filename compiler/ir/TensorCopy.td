// SPDX-License-Identifier: MIT
// Copies between slots of shared memory and tensors by the copy engine.
#ifndef TILEGYM_IR_TENSORCOPY_TD
#define TILEGYM_IR_TENSORCOPY_TD

include "compiler/ir/Shared.td"
include "compiler/ir/TensorMaps.td"

def Tile_TensorStoreOp : Tile_Op<"tensor_store"> {
  let summary = "begins to copy a slot to a tensor, box by box";
  let description = [{
    `indices` are where the slot's first element goes, one an axis of the map and none negative; a tile's axes are those of the map whose boxes are longer than 1.
    What lies outside the tensor is not written. The engine sees what threads wrote to the slot before a `tile.barrier async`; it reads the slot until a `tile.tensor_store_wait`. With `apart` each of the
    consumers' warpgroups stores an equal part of the boxes, down the tile, which it alone has written.

    Example:
    ```mlir
    tile.tensor_store %slot to %map[%i, %j : i32, i32] : !tile.shared<1, tensor<128x64xbf16, #s>> to !tile.tensor_map<bf16, [128 of dim 0 by 0, 64 of dim 1], swizzle 128>
    ```
  }];
  let arguments = (ins Arg<Tile_Shared, "", [MemRead]>:$slot, Arg<Tile_TensorMap, "", [MemWrite]>:$map,
      Variadic<Tile_IndexScalar>:$indices, UnitAttr:$apart);
  let assemblyFormat = "$slot `to` $map `[` $indices `:` type($indices) `]` (`apart` $apart^)? attr-dict `:` "
                       "qualified(type($slot)) `to` qualified(type($map))";
  let hasVerifier = 1;
}

def Tile_TensorStoreWaitOp : Tile_Op<"tensor_store_wait"> {
  let summary = "waits until the slots of all but so many of the youngest tensor stores have been read";
  let description = [{
    In the thread that began them: the others know after a barrier.

    Example: `tile.tensor_store_wait 1`
  }];
  let arguments = (ins Tile_Int:$pending);
  let assemblyFormat = "$pending attr-dict";
}

#endif
