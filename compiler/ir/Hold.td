// SPDX-License-Identifier: MIT
// Regions that live in the block's shared memory: copied once by the copy engine, read as often as wanted.
#ifndef TILEGYM_IR_HOLD_TD
#define TILEGYM_IR_HOLD_TD

include "compiler/ir/Memory.td"

def Tile_HoldOp : Tile_RegionOp<"hold"> {
  let summary = "begins to copy a region into shared memory";
  let description = [{
    Elements out of bounds are not copied. Each block of a cluster takes what its threads will load. Nothing may write the tensor while the kernel runs, and whole
    16-byte vectors along the last axis are in bounds or not.

    Example:
    ```mlir
    %c = tile.hold %x [point(%row) stride %s0 within(%zero, %r), span(%zero, 65536) stride %one below(%zero, %n)] : !tile.ptr<bf16>
    ```
  }];
  let arguments = (ins Arg<Tile_Ptr, "", [MemRead]>:$base, DenseI32ArrayAttr:$kinds, Variadic<Tile_Index>:$indices,
    DenseI64ArrayAttr:$lengths, Variadic<I64>:$strides, Variadic<I64>:$lowers, Variadic<I64>:$uppers, DenseI32ArrayAttr:$checks,
    Variadic<I64>:$group);
  let results = (outs Tile_Held:$result);
  let assemblyFormat = !strconcat(regionFormat, [{ attr-dict `:` qualified(type($base)) }]);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getMask() { return {}; }
  }];
}

def Tile_AwaitOp : Tile_Op<"await"> {
  let summary = "waits until a held region is there";
  let description = [{
    Loads take the result.

    Example:
    ```mlir
    %h = tile.await %c
    %t = tile.load %x [point(%row) stride %s0 within(%zero, %r), span(%k, 1024) stride %one below(%zero, %n)] pad(%inf : bf16) held(%h)
         : !tile.ptr<bf16> -> tensor<1024xbf16>
    ```
  }];
  let arguments = (ins Tile_Held:$copy);
  let results = (outs Tile_Held:$result);
  let assemblyFormat = "$copy attr-dict";
  let hasVerifier = 1;
}

#endif
