// SPDX-License-Identifier: MIT
// Warps with different work: one that feeds shared memory, others that compute, and the barriers by which slots change hands. Targets with a copy
// engine only.
#ifndef TILEGYM_IR_ROLES_TD
#define TILEGYM_IR_ROLES_TD

include "compiler/ir/Shared.td"
include "compiler/ir/TensorMaps.td"

def Tile_Mbarriers : Tile_Type<"Mbarriers", "mbarriers"> {
  let summary = "barriers in shared memory that count arrivals and bytes, one a slot";
  let description = "Example: `!tile.mbarriers<4>`";
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
  let genVerifyDecl = 1;
}

def Tile_MakeMbarriersOp : Tile_Op<"make_mbarriers"> {
  let summary = "barriers whose phases need so many arrivals each, for the kernel's whole run";
  let description = [{
    Phases have parities 0, 1, 0 ...; the first is not complete. In the kernel's own block, before `tile.roles`, at whose start all threads meet.

    Example: `%full = tile.make_mbarriers arrivals 1 : !tile.mbarriers<4>`
  }];
  let arguments = (ins Tile_Int:$arrivals);
  let results = (outs Tile_Mbarriers:$result);
  let assemblyFormat = "`arrivals` $arrivals attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_MbarrierWaitOp : Tile_Op<"mbarrier_wait"> {
  let summary = "waits until the phase of that parity is complete";
  let description = [{
    It returns at once where the phase before the current one has that parity. What was released and copied before it completed is seen.

    Example: `tile.mbarrier_wait %full[%slot] parity %p : !tile.mbarriers<4>`
  }];
  let arguments = (ins Tile_Mbarriers:$barriers, I32:$index, I32:$parity);
  let assemblyFormat = "$barriers `[` $index `]` `parity` $parity attr-dict `:` qualified(type($barriers))";
}

def Tile_MbarrierArriveOp : Tile_Op<"mbarrier_arrive"> {
  let summary = "each warp arrives once, after all that its threads have read and written";
  let description = [{
    Without the condition nothing happens. `reads`: its threads read, by themselves, what the copy engine may overwrite from now on. `everywhere`: at the same
    barrier of each block of the cluster, which says nothing of what its threads have written or read themselves.

    Example: `tile.mbarrier_arrive %empty[%slot] if %more reads : !tile.mbarriers<4>`
  }];
  let arguments = (ins Tile_Mbarriers:$barriers, I32:$index, Optional<I1>:$condition, UnitAttr:$reads, UnitAttr:$everywhere);
  let assemblyFormat = [{
    $barriers `[` $index `]` (`if` $condition^)? (`reads` $reads^)? (`everywhere` $everywhere^)? attr-dict `:` qualified(type($barriers))
  }];
  let hasVerifier = 1;
}

def Tile_MbarrierExpectOp : Tile_Op<"mbarrier_expect"> {
  let summary = "the producer arrives; the phase completes only after so many bytes of copies, too";
  let description = "Example: `tile.mbarrier_expect %full[%slot] bytes 49152 : !tile.mbarriers<4>`";
  let arguments = (ins Tile_Mbarriers:$barriers, I32:$index, Tile_Int:$bytes);
  let assemblyFormat = "$barriers `[` $index `]` `bytes` $bytes attr-dict `:` qualified(type($barriers))";
}

def Tile_TensorLoadOp : Tile_Op<"tensor_load"> {
  let summary = "the producer begins to copy a region to a slot; its bytes are counted at a barrier";
  let description = [{
    Coordinates are where the region begins, one for each axis of the map; what lies outside the tensor becomes zero. The slot is filled by as many copies as it has
    boxes of the map. With `shared` each block of the cluster copies an equal part of the boxes to the same place in all of them, and each one's bytes are counted at the same
    barrier there: the slot must be empty in each block.

    Example:
    ```mlir
    tile.tensor_load %map[%i, %k] into %slot signal %full[%s]
        : !tile.tensor_map<bf16, [128 of dim 0 by 0, 64 of dim 2], swizzle 128> into !tile.shared<1, tensor<128x64xbf16, #l>>, !tile.mbarriers<4>
    ```
  }];
  let arguments = (ins Tile_TensorMap:$map, Variadic<I32>:$coordinates, Tile_Shared:$slot, Tile_Mbarriers:$barriers, I32:$index, UnitAttr:$shared);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `into` $slot `signal` $barriers `[` $index `]` (`shared` $shared^)? attr-dict `:` qualified(type($map)) `into` qualified(type($slot)) `,`
    qualified(type($barriers))
  }];
  let hasVerifier = 1;
}

def Tile_RolesOp : Tile_Op<"roles", [NoRegionArguments, SingleBlock, NoTerminator]> {
  let summary = "one thread feeds the others";
  let description = [{
    The consumer is run by the kernel's `warps`, which meet at its barriers among themselves; the producer, scalar work and copies only, by one
    thread of a further warp. With `shift_registers` that warp has three idle ones beside it, and all four give most of their registers to the consumers, which are
    whole warpgroups.

    Of several `teams` each is as many warps as hold a tile and runs the consumer's program, as another block of threads would; `tile.team` tells them apart. Each takes blocks of the grid of its own.

    Example:
    ```mlir
    tile.roles producer {
      tile.mbarrier_wait %empty[%s] parity %p : !tile.mbarriers<4>
      ...
    } consumer {
      tile.mbarrier_wait %full[%s] parity %p : !tile.mbarriers<4>
      ...
    }
    ```
  }];
  let arguments = (ins UnitAttr:$shiftsRegisters, DefaultValuedAttr<Tile_Int, "1">:$teams);
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumer);
  let assemblyFormat = "(`shift_registers` $shiftsRegisters^)? (`teams` $teams^)? `producer` $producer `consumer` $consumer attr-dict";
  let hasVerifier = 1;
}

def Tile_TeamOp : Tile_Op<"team", [Pure]> {
  let summary = "which of the consumers' teams runs this, from 0 on";
  let description = "Example: `%t = tile.team`";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Tile_TakeTurnOp : Tile_Op<"take_turn"> {
  let summary = "a warpgroup of the consumers, or a team where there are several, goes on when it has its turn";
  let description = [{
    So that one issues its products while another does other work. The first has the first turn. Turns go round: each takes and passes as many as those before it, at least.

    Example: `tile.take_turn`
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Tile_PassTurnOp : Tile_Op<"pass_turn"> {
  let summary = "the warpgroup or team that has the turn gives it to the next one, and the last to the first";
  let description = "Example: `tile.pass_turn`";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

#endif
