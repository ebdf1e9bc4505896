// SPDX-License-Identifier: MIT
// Facts, checks and inline PTX.
#ifndef TILEGYM_IR_DEBUG_TD
#define TILEGYM_IR_DEBUG_TD

include "compiler/ir/Reduce.td"

def Tile_AssumeOp : Tile_Op<"assume"> {
  let summary = "a fact the author states";
  let description = [{
    The condition holds wherever the block gets here; the interpreter checks it.

    Example:
    ```mlir
    tile.assume %c
    ```
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

def Tile_AssertOp : Tile_Op<"assert"> {
  let summary = "stops the launch where the condition is false";
  let description = [{
    Lowered only with checks on.

    Example:
    ```mlir
    tile.assert %c, "row out of range"
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$text);
  let assemblyFormat = "$condition `,` $text attr-dict";
}

def Tile_PrintOp : Tile_Op<"print"> {
  let summary = "prints values, each in place of a `{}`";
  let description = [{
    Lowered only with checks on.

    Example:
    ```mlir
    tile.print "row {} max {}" %row, %m : i64, f32
    ```
  }];
  let arguments = (ins StrAttr:$text, Variadic<Tile_Value>:$values);
  let assemblyFormat = "$text ($values^ `:` type($values))? attr-dict";
}

def Tile_InlinePtxOp : Tile_Op<"inline_ptx", [Pure, Elementwise, SingleBlock]> {
  let summary = "an instruction the language has no word for, and what it means";
  let description = [{
    Elementwise: `text` runs for each element, `$0` being the result and `$1` ... the operands. `meaning` computes the same from scalars; where there is no PTX, it
    runs instead.

    Example:
    ```mlir
    %r = tile.inline_ptx "ex2.approx.ftz.f32 $0, $1;" %x : tensor<128xf32> to tensor<128xf32> {
    ^bb0(%a: f32):
      %e = math.exp2 %a : f32
      tile.yield %e : f32
    }
    ```
  }];
  let arguments = (ins StrAttr:$text, Variadic<Tile_Value>:$values);
  let results = (outs Tile_Value:$result);
  let regions = (region SizedRegion<1>:$meaning);
  let assemblyFormat = "$text $values attr-dict `:` type($values) `to` type($result) $meaning";
  let hasVerifier = 1;
}

#endif
