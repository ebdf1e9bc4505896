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

    With `ring`, a slot of it is filled, which no thread reads any more, where the condition holds. All that fill a ring copy regions of one shape.

    Example:
    ```mlir
    %c = tile.hold %x [point(%row) stride %s0 within(%zero, %r), span(%zero, 65536) stride %one below(%zero, %n)] : !tile.ptr<bf16>
    %d = tile.hold %x [point(%next) stride %s0 within(%zero, %r), span(%zero, 65536) stride %one below(%zero, %n)] ring(%ring[%slot] if %exists) : !tile.ptr<bf16>
    ```
  }];
  let arguments = (ins Arg<Tile_Ptr, "", [MemRead]>:$base, DenseI32ArrayAttr:$kinds, Variadic<Tile_Index>:$indices,
    DenseI64ArrayAttr:$lengths, Variadic<I64>:$strides, Variadic<I64>:$lowers, Variadic<I64>:$uppers, DenseI32ArrayAttr:$checks,
    Variadic<I64>:$group, Arg<Optional<Tile_Held>, "", [MemWrite]>:$ring, Optional<I32>:$slot, Optional<I1>:$condition);
  let results = (outs Tile_Held:$result);
  let assemblyFormat = !strconcat(regionFormat, [{ (`ring` `(` $ring^ `[` $slot `]` `if` $condition `)`)? attr-dict `:` qualified(type($base)) }]);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getMask() { return {}; }
  }];
}

def Tile_HoldRingOp : Tile_Op<"hold_ring"> {
  let summary = "room for several held regions, as a loop holds one after the other";
  let description = [{
    Every `tile.hold` into it copies what the same loads read.

    Example: `%ring = tile.hold_ring 4`
  }];
  let arguments = (ins Tile_Int:$slots);
  let results = (outs Res<Tile_Held, "", [MemAlloc]>:$result);
  let assemblyFormat = "$slots attr-dict";
  let hasVerifier = 1;
}

def Tile_AwaitOp : Tile_Op<"await"> {
  let summary = "waits until a held region is there";
  let description = [{
    Loads take the result. Of a ring it is the slot's region, once its phase of that parity is complete.

    Example:
    ```mlir
    %h = tile.await %c
    %t = tile.load %x [point(%row) stride %s0 within(%zero, %r), span(%k, 1024) stride %one below(%zero, %n)] pad(%inf : bf16) held(%h)
         : !tile.ptr<bf16> -> tensor<1024xbf16>
    %i = tile.await %ring turn(%slot, %parity)
    ```
  }];
  let arguments = (ins Tile_Held:$copy, Variadic<I32>:$turn);
  let results = (outs Tile_Held:$result);
  let assemblyFormat = "$copy (`turn` `(` $turn^ `)`)? attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What is copied, or the first of what fills its ring; null if nothing does.
    ::tilegym::tile::HoldOp getHold();
    /// Null where it awaits one copy.
    ::tilegym::tile::HoldRingOp getRing();
  }];
}

#endif
