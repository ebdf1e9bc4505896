// SPDX-License-Identifier: MIT
// Tiles in shared memory: buffers of several slots, what fills them, and the order of the two sides. A `tile.dot` reads them.
#ifndef TILEGYM_IR_SHARED_TD
#define TILEGYM_IR_SHARED_TD

include "compiler/ir/Memory.td"
include "compiler/ir/Layout.td"

def Tile_Shared : Tile_Type<"Shared", "shared"> {
  let summary = "slots of a block's shared memory, each for one tile";
  let description = [{
    The tile's layout says where in the slot an element is: a layout without threads, whose register is the element's offset.

    Example: `!tile.shared<3, tensor<128x64xbf16, #layout>>`
  }];
  let parameters = (ins "int64_t":$slots, "::mlir::RankedTensorType":$tile);
  let assemblyFormat = "`<` $slots `,` $tile `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::tilegym::layout::Layout getLayout() const;
    int64_t getSlotBytes() const;
    int64_t getBytes() const { return getSlots() * getSlotBytes(); }
    /// One slot of it.
    SharedType getSlotType() const { return get(getContext(), 1, getTile()); }
  }];
}

def Tile_AllocOp : Tile_Op<"alloc"> {
  let summary = "shared memory for tiles, until its `tile.dealloc`";
  let description = [{
    `plan-shared` gives it the offset of its first byte.

    Example:
    ```mlir
    %ring = tile.alloc at 32768 : !tile.shared<3, tensor<128x64xbf16, #layout>>
    ```
  }];
  let arguments = (ins OptionalAttr<Tile_Int>:$offset);
  let results = (outs Tile_Shared:$buffer);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` qualified(type($buffer))";
}

def Tile_DeallocOp : Tile_Op<"dealloc"> {
  let summary = "ends the life of a buffer; in the block of its `tile.alloc`";
  let description = "Example: `tile.dealloc %ring : !tile.shared<3, tensor<128x64xbf16, #layout>>`";
  let arguments = (ins Tile_Shared:$buffer);
  let assemblyFormat = "$buffer attr-dict `:` qualified(type($buffer))";
}

def Tile_SlotOp : Tile_Op<"slot", [Pure,
    TypesMatchWith<"one slot", "buffer", "slot", "::mlir::cast<SharedType>($_self).getSlotType()">]> {
  let summary = "one slot of a buffer";
  let description = "Example: `%s = tile.slot %ring[%i] : !tile.shared<3, tensor<128x64xbf16, #layout>>`";
  let arguments = (ins Tile_Shared:$buffer, I32:$index);
  let results = (outs Tile_Shared:$slot);
  let assemblyFormat = "$buffer `[` $index `]` attr-dict `:` qualified(type($buffer))";
}

def Tile_PutOp : Tile_Op<"put"> {
  let summary = "writes a tile to a slot";
  let description = [{
    Other threads see it after a barrier.

    Example: `tile.put %t into %s : tensor<128x64xbf16, #l> into !tile.shared<1, tensor<128x64xbf16, #layout>>`
  }];
  let arguments = (ins Tile_Tile:$value, Tile_Shared:$slot);
  let assemblyFormat = "$value `into` $slot attr-dict `:` type($value) `into` qualified(type($slot))";
  let hasVerifier = 1;
}

def Tile_PutRestOp : Tile_Op<"put_rest", [SameTypeOperands]> {
  let summary = "writes what tf32 cuts from each f32 of one slot to another";
  let description = [{
    Tensor cores read the upper 19 bits of what a slot holds; the rest is the number less those, as near as those can be. Other threads see it after a barrier.

    Example: `tile.put_rest %s into %r : !tile.shared<1, tensor<128x32xf32, #layout>>`
  }];
  let arguments = (ins Tile_Shared:$from, Tile_Shared:$slot);
  let assemblyFormat = "$from `into` $slot attr-dict `:` qualified(type($slot))";
  let hasVerifier = 1;
}

def Tile_CopyAsyncOp : Tile_RegionOp<"copy_async"> {
  let summary = "begins to copy a region to a slot; what is out of bounds becomes zero";
  let description = [{
    `by` says which thread copies which elements. Complete once a `tile.copy_wait` lets no more groups than were committed after it be pending; other threads see
    it after a barrier. Without the condition nothing happens.

    Example:
    ```mlir
    tile.copy_async %x [span(%i, 128) stride %s in(%zero, %m), span(%k, 64) stride %one in(%zero, %n)] into %slot if %c by #layout
         : !tile.ptr<bf16> into !tile.shared<1, tensor<128x64xbf16, #layout1>>
    ```
  }];
  let arguments = (ins Arg<Tile_Ptr, "", [MemRead]>:$base, DenseI32ArrayAttr:$kinds, Variadic<Tile_Index>:$indices,
    DenseI64ArrayAttr:$lengths, Variadic<I64>:$strides, Variadic<I64>:$lowers, Variadic<I64>:$uppers, DenseI32ArrayAttr:$checks,
    Variadic<I64>:$group, Arg<Tile_Shared, "", [MemWrite]>:$slot, Optional<I1>:$condition, Tile_Layout:$by);
  let assemblyFormat = !strconcat(regionFormat, [{
    `into` $slot (`if` $condition^)? `by` $by attr-dict `:` qualified(type($base)) `into` qualified(type($slot))
  }]);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getMask() { return {}; }
  }];
}

def Tile_CopyCommitOp : Tile_Op<"copy_commit"> {
  let summary = "the copies begun since the last commit become a group";
  let description = "Example: `tile.copy_commit`";
  let assemblyFormat = "attr-dict";
}

def Tile_CopyWaitOp : Tile_Op<"copy_wait"> {
  let summary = "waits until at most so many of the youngest groups are pending";
  let description = "Example: `tile.copy_wait 2`";
  let arguments = (ins Tile_Int:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Tile_BarrierOp : Tile_Op<"barrier"> {
  let summary = "the threads of the block meet: what any did to shared memory before, all see after it";
  let description = [{
    With `async`, the tensor cores and the copy engine see it, too, where they read shared memory by themselves. With `apart` the threads of each of the
    consumers' warpgroups meet among themselves, for what no other warpgroup touches.

    Example: `tile.barrier`
  }];
  let arguments = (ins UnitAttr:$async, UnitAttr:$apart);
  let assemblyFormat = "(`async` $async^)? (`apart` $apart^)? attr-dict";
  let hasVerifier = 1;
}

#endif
