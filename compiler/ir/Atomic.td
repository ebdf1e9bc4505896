// SPDX-License-Identifier: MIT
// Atomic updates of a region: relaxed, device scope. They give the old values.
#ifndef TILEGYM_IR_ATOMIC_TD
#define TILEGYM_IR_ATOMIC_TD

include "compiler/ir/Memory.td"

def Tile_AtomicRMWOp : Tile_RegionOp<"atomic_rmw", [AllTypesMatch<["value", "result"]>]> {
  let summary = "updates each element of a region atomically";
  let description = [{
    The result has the old values, and is undefined where an element is out of bounds or masked. `max` and `min` of floats
    propagate NaN and order -0 below +0, as everywhere.

    Example:
    ```mlir
    %old = tile.atomic_rmw <add> %t to %h [gather(%bins : tensor<256xi64>) stride %one in(%zero, %n)]
           : tensor<256xi32> to !tile.ptr<i32>
    ```
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_Value:$value, Arg<Tile_Ptr, "", [MemRead, MemWrite]>:$base,
    DenseI32ArrayAttr:$kinds, Variadic<Tile_Index>:$indices, DenseI64ArrayAttr:$lengths, Variadic<I64>:$strides, Variadic<I64>:$lowers,
    Variadic<I64>:$uppers, DenseI32ArrayAttr:$checks, Variadic<I64>:$group, Optional<Tile_Mask>:$mask);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = !strconcat("$kind $value `to`", regionFormat, [{
    (`mask` `(` $mask^ `:` type($mask) `)`)? attr-dict `:` type($value) `to` qualified(type($base))
  }]);
  let hasVerifier = 1;
}

def Tile_AtomicCasOp : Tile_RegionOp<"atomic_cas", [AllTypesMatch<["compare", "value", "result"]>]> {
  let summary = "replaces each element of a region that equals another, atomically";
  let description = [{
    Equality is of bits. The result has the old values, and is undefined where an element is out of bounds or masked.

    Example:
    ```mlir
    %old = tile.atomic_cas %free, %mine to %lock [point(%i) stride %one in(%zero, %n)] : i32 to !tile.ptr<i32>
    ```
  }];
  let arguments = (ins Tile_Value:$compare, Tile_Value:$value, Arg<Tile_Ptr, "", [MemRead, MemWrite]>:$base,
    DenseI32ArrayAttr:$kinds, Variadic<Tile_Index>:$indices, DenseI64ArrayAttr:$lengths, Variadic<I64>:$strides, Variadic<I64>:$lowers,
    Variadic<I64>:$uppers, DenseI32ArrayAttr:$checks, Variadic<I64>:$group, Optional<Tile_Mask>:$mask);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = !strconcat("$compare `,` $value `to`", regionFormat, [{
    (`mask` `(` $mask^ `:` type($mask) `)`)? attr-dict `:` type($value) `to` qualified(type($base))
  }]);
  let hasVerifier = 1;
}

#endif
