// SPDX-License-Identifier: MIT
// Passes on the tile dialect, for every target. Each record is a contract: what it does, before ==> after, what it needs and leaves, whether it
// keeps every bit of the result.
#ifndef TILEGYM_TRANSFORMS_PASSES_TD
#define TILEGYM_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignLayouts : Pass<"assign-layouts", "::mlir::ModuleOp"> {
  let summary = "which thread holds which element, for every tile";
  let description = [{
    ```mlir
    %t = tile.load %x [span(%c, 1024) stride %one within(%zero, %n)] : !tile.ptr<f32> -> tensor<1024xf32>
    %u = arith.negf %t : tensor<1024xf32>
    ==>
    %t = tile.load %x [...] : !tile.ptr<f32> -> tensor<1024xf32, #layout>
    %u = arith.negf %t : tensor<1024xf32, #layout>
    ```
    Values that meet elementwise, or are carried by a loop, get one layout. It is chosen for the loads and stores among them: 16-byte vectors where
    the facts prove them, adjacent lanes on adjacent vectors, warps on other rows than the reduced ones. Tiles that are broadcast, reduced,
    reshaped or permuted from others follow those, so that they need no move; where an access would suffer too much, it keeps a layout of its own
    and a `tile.convert_layout` stands between, or what little work makes (splats, `iota`, masks of them) is made again.

    Needs: tiles without layouts; the kernel's `warps`. Leaves: a layout on every tile; elementwise ops of one layout, masks and gather indices
    in that of their access, broadcast operands lying along the result. Numerics: fixes the order of reductions, else bit-equal. Runs after all passes
    that make tiles; before tiles-to-threads.
  }];
  let dependentDialects = ["::tilegym::tile::TileDialect"];
}

def ExpandDivision : Pass<"expand-division", "::tilegym::tile::KernelOp"> {
  let summary = "divisions that round down or up, from those that truncate";
  let description = [{
    ```mlir
    %q = arith.ceildivui %a, %b : i32
    ==>
    %z = arith.cmpi eq, %a, %zero : i32
    %p = arith.subi %a, %one : i32
    %d = arith.divui %p, %b : i32
    %r = arith.addi %d, %one : i32
    %q = arith.select %z, %zero, %r : i32
    ```
    Must follow the passes that find out which operands are not negative: an unsigned floor division is a plain one. Leaves no floordivsi, ceildivsi and
    ceildivui. Numerics: bit-equal.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def DivideByReciprocals : Pass<"divide-by-reciprocals", "::tilegym::tile::KernelOp"> {
  let summary = "divisions in the loop over the grid by what all its turns share, or by one of few numbers, become products";
  let description = [{
    ```mlir
    scf.for %block = ... {
      %q = arith.divui %n, %d : i32
    }
    ==>
    %r = arith.divui %largest, %d : i32
    scf.for %block = ... {
      %p = arith.muli (%n and %r in 64 bits)
      %h = (the upper half of %p) : i32
      %left = arith.subi %n, (%h * %d) : i32
      %less = arith.cmpi uge, %left, %d : i32
      %q = arith.select %less, (%h + 1), %h : i32
    }
    ```
    A divisor from 1 to 8, as the rows of a group of tiles are, has its reciprocal chosen from constants. Remainders likewise.

    Needs: narrowed arithmetic, `make-persistent`. Numerics: bit-equal.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def HoldInShared : Pass<"hold-in-shared", "::tilegym::tile::KernelOp"> {
  let summary = "rows that are needed again after a reduction live in shared memory, and threads hold a strip at a time";
  let description = [{
    Under `hold = shared`. Reductions of wide tiles part a kernel into phases. What more than one phase needs of a tensor that differs from block to block is
    copied to shared memory once; each phase is a loop over strips that loads them from there, and makes again what
    little lies between. So no register lives across a reduction, and how many bytes are on their way is up to shared memory.

    ```mlir
    %t = tile.load %x [span(%zero, 65536) stride %one in(%zero, %n)] pad(%ninf : f32) : !tile.ptr<f32> -> tensor<65536xf32>
    %m = tile.reduce <max> %t [0] : tensor<65536xf32> to f32
    use %t, %m
    ==>
    %c = tile.hold %x [span(%zero, 65536) stride %one in(%zero, %n)] : !tile.ptr<f32>
    %h = tile.await %c
    %a = scf.for %k = %zero to %end step %c1024 iter_args(%b = %least) -> (tensor<256x1xf32>) {
      %t = tile.load %x [span(%k, 1024) stride %one in(%zero, %n)] pad(%ninf : f32) held(%h) : !tile.ptr<f32> -> tensor<1024xf32>
      ... the maximum of each 4 neighbours, and of that and %b
    }
    %m = tile.reduce <max> %a [0, 1] : tensor<256x1xf32> to f32
    scf.for %k = ... { load the strip again, use it and %m }
    ```
    Loops end with the row where a strip beyond it would add nothing to a reduction, or what one of its elements tells. Of a single row that need not
    begin or end at whole 16-byte vectors threads hold single elements, and a partial result for each. Left as they are: kernels
    without facts; several such rows at once; tensors that the kernel writes; wide tiles whose elements change places, or that control flow
    carries; what would need a transcendental function more than twice.

    `vectors`: 16-byte vectors of a strip that a thread holds (2 unless given). Needs canonical form; best before split-masked-loops. Numerics: fixes the order of
    reductions, else bit-equal.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def LinearizeGrid : Pass<"linearize-grid", "::tilegym::tile::KernelOp"> {
  let summary = "positions on a grid of several axes, from the one number of the block";
  let description = [{
    Launches are one-dimensional, so that no axis stops at 65535. Adds the extents that it needs to the kernel's parameters.

    ```mlir
    %i = tile.block_id 0
    ==>
    %b = tile.linear_block_id
    %g = tile.param 7 : i64           // #tile.param<grid 0, "grid0", i64>
    %i = arith.remui %b, %g : i64     // in 32 bits
    ```
    Must follow prove-bounds, which knows `tile.block_id`. Leaves no `tile.block_id` and no `tile.num_blocks`. Numerics: bit-equal.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def MakePersistent : Pass<"make-persistent", "::tilegym::tile::KernelOp"> {
  let summary = "blocks stay, and take further blocks of the grid";
  let description = [{
    Under `persistent = true`. The launch then has at most `occupancy` blocks (1 unless given) a multiprocessor.

    ```mlir
    tile.kernel @k ... {
      %b = tile.linear_block_id
      use %b
    ==>
    tile.kernel @k ... resident 1 {
      %total = tile.param 3 : i64                // #tile.param<grid 0, "grid0", i64>
      %first = tile.linear_block_id
      %n = tile.launch_size
      scf.for %b = %first to %total step %n { use %b }
    ```
    Must follow linearize-grid. What does not depend on the block is computed once. Numerics: bit-equal.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def HoldAhead : Pass<"hold-ahead", "::tilegym::tile::KernelOp"> {
  let summary = "what a persistent kernel holds in shared memory is copied several trips ahead";
  let description = [{
    Each `tile.hold` of the loop over the grid gets a ring of `stages` slots (3 unless given, at least 2).

    ```mlir
    scf.for %b = %first to %total step %n {
      %c = tile.hold %x [point(%b) ...]
      %h = tile.await %c
    ==>
    %ring = tile.hold_ring 3
    tile.hold %x [point(%first) ...] ring(%ring[%c0] if %true)
    tile.hold %x [point(%second) ...] ring(%ring[%c1] if %has_second)
    scf.for %b = %first to %total step %n iter_args(%slot = %c0, %parity = %c0) {
      tile.barrier                               // all have read the slot before this one
      tile.hold %x [point(%b + 2 * %n) ...] ring(%ring[%slot - 1] if %exists)
      %h = tile.await %ring turn(%slot, %parity)
    ```
    Must follow assign-layouts. Numerics: bit-equal.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SplitReduction : Pass<"split-reduction", "::tilegym::tile::KernelOp"> {
  let summary = "the blocks of a cluster take a part of a product's loop each";
  let description = [{
    Under `split_k`. The loop is one of the kernel's own that adds products to zeros; block 0 adds what the others have, in order, and does all that follows.

    ```mlir
    %d = scf.for %k = %zero to %n step %one iter_args(%acc = %zeros) { ... tile.dot %a, %b, %acc ... }
    tile.store %y [...], %d
    ==>
    %r = tile.cluster_rank
    %d = scf.for %k = %r * ceil(%n / 4) to min(%n, (%r + 1) * ceil(%n / 4)) step %one iter_args(%acc = %zeros) { ... }
    %sum = tile.split_sum %d : tensor<64x64xf32>
    scf.if %r == %zero { tile.store %y [...], %sum }
    ```
    Numerics: other sums, always the same ones.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SpreadProducts : Pass<"spread-products", "::tilegym::tile::KernelOp"> {
  let summary = "the blocks of a cluster make equal parts of a product each";
  let description = [{
    Under `ctas`, of kernels that have a product. Its result is cut along the rows where each block keeps 64 of them for each of its warpgroups, else along the
    columns; what other tiles are cut along follows from the ops between them. Tiles that no block needs a part of alone, as the other operand, are whole in each.

    ```mlir
    tile.kernel @k ... knobs {ctas = 2 : i64} {
      %a = tile.load %x [span(%i, 256), span(%k, 64)] ... -> tensor<256x64xbf16>
      %d = tile.dot %a, %b, %acc : tensor<256x64xbf16>, tensor<64x128xbf16>, tensor<256x128xf32>
    ==>
    tile.kernel @k ... knobs {spread = 2 : i64} {
      %r = tile.cluster_rank
      %a = tile.load %x [span(%i + %r * 128, 128), span(%k, 64)] ... -> tensor<128x64xbf16>
      %d = tile.dot %a, %b, %acc : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    ```
    Numerics: bit-equal.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def NarrowLoops : Pass<"narrow-loops", "::tilegym::tile::KernelOp"> {
  let summary = "induction variables of 32 bits where bounds and step are proved to fit";
  let description = [{
    ```mlir
    scf.for %c = %zero to %N step %BN : i64 { use %c }
    ==>
    %n = arith.trunci %N : i64 to i32
    scf.for %k = %zero32 to %n step %BN32 : i32 { %c = arith.extsi %k : i32 to i64  use %c }
    ```
    Only where the last addition of the step fits as well. Best after split-masked-loops, which reads the bounds. Numerics: bit-equal.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def NarrowRegions : Pass<"narrow-regions", "::tilegym::tile::KernelOp"> {
  let summary = "regions of fast kernels indexed in 32 bits";
  let description = [{
    There every position in bounds fits in 32 bits, so targets compare and multiply in 32. An index that may not fit is first clamped to what does,
    far out of bounds as it was; and so are bounds.

    ```mlir
    tile.load %x [point(%i) stride %s in(%zero, %N)] ...
    ==>
    %a = arith.maxsi %i, %least : i64
    %b = arith.minsi %a, %most : i64
    %c = arith.trunci %b : i64 to i32
    tile.load %x [point(%c : i32) stride %s in(%zero, %N)] ...
    ```
    Must follow prove-bounds, which reads where an index came from. Leaves every index of a fast kernel as i32. Numerics: bit-equal.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ProveBounds : Pass<"prove-bounds", "::tilegym::tile::KernelOp"> {
  let summary = "drops bound checks that always hold";
  let description = [{
    By ranges of integers, by `block_id < extent` where the grid's extent is a parameter, and by `induction variable < upper bound`. A load
    that nothing can mask loses its pad.

    ```mlir
    tile.load %x [point(%row) stride %s in(%zero, %R), span(%c, 64) stride %one in(%zero, %N)] ...
    ==>
    tile.load %x [point(%row) stride %s within(%zero, %R), span(%c, 64) stride %one below(%zero, %N)] ...
    ```
    Best after canonicalize and split-masked-loops. Numerics: bit-equal.
  }];
}

def PruneParams : Pass<"prune-params", "::tilegym::tile::KernelOp"> {
  let summary = "parameters that nothing reads leave the kernel's list";
  let description = [{
    ```mlir
    tile.kernel @k ... params [#tile.param<extent 0, "R", i64>, #tile.param<extent 1, "N", i64>] { %N = tile.param 1 : i64 ... }
    ==>
    tile.kernel @k ... params [#tile.param<extent 1, "N", i64>] { %N = tile.param 0 : i64 ... }
    ```
    Follows every pass that may drop a use; the calling convention is read after it. Numerics: bit-equal.
  }];
}

def ShareOperands : Pass<"share-operands", "::tilegym::tile::KernelOp"> {
  let summary = "operands of matrix products go through shared memory";
  let description = [{
    ```mlir
    %a = tile.load %x [...] : !tile.ptr<bf16> -> tensor<128x64xbf16>
    %d = tile.dot %a, %b, %c : tensor<128x64xbf16>, ...
    ==>
    %buffer = tile.alloc : !tile.shared<1, tensor<128x64xbf16, #layout>>
    %a = tile.load %x [...] : !tile.ptr<bf16> -> tensor<128x64xbf16>
    %s = tile.slot %buffer[%zero] : ...
    tile.put %a into %s
    %d = tile.dot %s, %b, %c : !tile.shared<1, tensor<128x64xbf16, #layout>>, ...
    tile.dealloc %buffer
    ```
    A buffer is in rows along the axis that is contiguous where the operand comes from, swizzled so that neither side has bank conflicts. It is made in front of the
    innermost loop that fills it. A load that only a transposition reads becomes a load of the transposed region. An A that follows from another product stays in
    registers. Of `tf32x3` by warpgroups, what tf32 cuts from the operand that the instructions read from its slot gets a slot, too:

    ```mlir
    tile.put_rest %s into %r
    %d = tile.dot %a, %s, %c rest %r : !tile.shared<1, ...> precision <tf32x3> warpgroups : ...
    ```

    Needs: tiles without layouts. Leaves: the barriers that the buffers need to place-barriers. Numerics: bit-equal.
  }];
  let dependentDialects = ["::tilegym::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def PipelineLoads : Pass<"pipeline-loads", "::tilegym::tile::KernelOp"> {
  let summary = "loads that fill shared memory run ahead of the loop that reads it";
  let description = [{
    With `stages` = 3 (the knob; 1 leaves loops as they are), copies of the next two trips are on their way while one is worked on:

    ```mlir
    scf.for %k = %lo to %hi step %s {
      %a = tile.load %x [... %k ...]
      %slot = tile.slot %buffer[%zero]
      tile.put %a into %slot
      tile.dot %slot, ...
    }
    ==>
    tile.copy_async %x [... %lo ...] into (slot 0) if %lo < %hi          tile.copy_commit
    tile.copy_async %x [... %lo + %s ...] into (slot 1) if %lo + %s < %hi  tile.copy_commit
    scf.for %k = %lo to %hi step %s iter_args(%read = 0) {
      tile.copy_wait 1
      tile.copy_async %x [... %k + 2 * %s ...] into (slot before %read) if %k + 2 * %s < %hi   tile.copy_commit
      %slot = tile.slot %buffer[%read]
      tile.dot %slot, ...
    }
    ```
    Loads of what nothing writes, in vectors of 4 bytes or more, padded with zeros, at places that follow from the induction variable. Other loads stay where they are.

    Needs: layouts (assign-layouts). Must precede place-barriers, which finds that one barrier a trip is enough. Numerics: bit-equal.
  }];
  let dependentDialects = ["::tilegym::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PlaceBarriers : Pass<"place-barriers", "::tilegym::tile::KernelOp"> {
  let summary = "barriers between what fills and what reads shared memory";
  let description = [{
    ```mlir
    tile.put %a into %s
    %d = tile.dot %s, %b, %c
    ==>
    tile.put %a into %s
    tile.barrier
    %d = tile.dot %s, %b, %c
    ```
    In front of a read whose buffer was written since the last barrier on some way there (`async` where a warpgroup's instructions or the copy engine read it), and in front of a write whose buffer was read. A copy counts as a write
    of what it fills from its wait on; that its slot is not read meanwhile is the pipeline's to see to.
    Before the buffer of a tensor store is written again or ends, there is a `tile.tensor_store_wait`. Numerics: bit-equal.
  }];
  let dependentDialects = ["::tilegym::tile::TileDialect"];
}

def StageStores : Pass<"stage-stores", "::tilegym::tile::KernelOp"> {
  let summary = "results of products are stored by the copy engine";
  let description = [{
    The registers of a product's result make short accesses. Where the region has a tensor map, its tile goes to shared memory, whole or strip by strip, and from there
    to the tensor in whole rows of 128 bytes:

    ```mlir
    tile.store %t to %y [...] : tensor<128x256xbf16, #l> to !tile.ptr<bf16>
    ==>
    %a = tile.alloc : !tile.shared<1, tensor<128x64xbf16, #s>>
    %b = tile.alloc : !tile.shared<1, tensor<128x64xbf16, #s>>
    %part = tile.extract %t [0, 0] : ...
    %slot = tile.slot %a[%zero]
    tile.put %part into %slot
    tile.tensor_store %slot to %map[%i, %j]
    (three more strips, in %b, %a and %b)
    tile.dealloc %a
    tile.dealloc %b
    ```
    Tiles of two axes, without a mask or a negative index, whose tensor nothing else in the kernel touches. As many strips, if need be of half the rows, as it takes for two of them to need
    no more shared memory than the loops before did, or, where their buffers live on, than a block may have beside the others that the multiprocessor is meant to hold.

    Needs: layouts, and buffers that are final but for their places. Leaves: their order to place-barriers. Numerics: bit-equal.
  }];
  let dependentDialects = ["::tilegym::tile::TileDialect", "::mlir::arith::ArithDialect"];
  let options = [Option<"sharedBytes", "shared-bytes", "int64_t", "232448", "shared memory of a block">];
}

def PlanShared : Pass<"plan-shared", "::tilegym::tile::KernelOp"> {
  let summary = "where in shared memory each buffer lies";
  let description = [{
    ```mlir
    %a = tile.alloc : !tile.shared<3, tensor<128x64xbf16, #layout>>
    %b = tile.alloc : !tile.shared<3, tensor<64x128xbf16, #layout1>>
    ==>
    %a = tile.alloc at 0 : !tile.shared<3, tensor<128x64xbf16, #layout>>
    %b = tile.alloc at 49152 : !tile.shared<3, tensor<64x128xbf16, #layout1>>
    ```
    Buffers that live at different times may share memory. Whether it is there is asked when all is known, as tiles that move between threads need some, too.
    Numerics: bit-equal.
  }];
}

def StripChecks : Pass<"strip-checks", "::tilegym::tile::KernelOp"> {
  let summary = "removes asserts, assumptions and prints";
  let description = [{
    ```mlir
    tile.assert %c, "row out of range"
    ==>
    (nothing)
    ```
    For kernels compiled without checks. Numerics: bit-equal.
  }];
}

def SplitMaskedLoops : Pass<"split-masked-loops", "::tilegym::tile::KernelOp"> {
  let summary = "a loop whose last trips cross a bound becomes one without checks and one with them";
  let description = [{
    Where a span moves with the induction variable and only its upper bound is in doubt, the trips that stay inside are counted
    beforehand; masks `start + iota < N` of the same bound hold there. Innermost loops with constant steps; the body is copied once, so not where it is large or has matrix products, nor in
    kernels that promise nothing, which read element by element.

    ```mlir
    scf.for %c = %zero to %N step %BN { tile.load %x [span(%c, 1024) stride %one in(%zero, %N)] pad(%p : f32) ... }
    ==>
    %whole = %N / BN * BN
    scf.for %c = %zero to %whole step %BN { tile.load %x [span(%c, 1024) stride %one from(%zero, %N)] pad(%p : f32) ... }
    scf.for %c = %whole to %N step %BN { tile.load %x [span(%c, 1024) stride %one in(%zero, %N)] pad(%p : f32) ... }
    ```
    Needs canonical form (an index is the induction variable, times a constant, plus an invariant). Numerics: bit-equal.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [Option<"maxOps", "max-ops", "int64_t", "400", "largest body, in operations, that is copied">];
}

def SpecializeLoads : Pass<"specialize-loads", "::tilegym::tile::KernelOp"> {
  let summary = "a producer's warp feeds shared memory, the kernel's warps compute";
  let description = [{
    Under `schedule = cooperative` or `pingpong`, for loads that tensor maps describe. The producer runs a copy of the loops and conditions that its loads stand in; each load
    fills the next slot of a ring of `stages` (4 unless given) once that is empty. The work waits until it is full and says when it is read:

    ```mlir
    scf.for %k = %lo to %hi step %s {
      %a = tile.load %x [... %k ...]
      %slot = tile.slot %buffer[%zero]
      tile.put %a into %slot
      tile.dot %slot, ...
    }
    ==>
    tile.roles producer {
      scf.for %k = %lo to %hi step %s iter_args(%at = 0, %p = 1) {
        tile.mbarrier_wait %empty[%at] parity %p
        tile.mbarrier_expect %full[%at] bytes 16384
        tile.tensor_load %map[... %k ...] into (slot %at) signal %full[%at]
      }
    } consumer {
      scf.for %k = %lo to %hi step %s iter_args(%at = 0, %p = 0) {
        tile.mbarrier_wait %full[%at] parity %p
        tile.dot (slot %at), ...
        tile.mbarrier_arrive %empty[%at]
      }
    }
    ```
    Loads of what nothing writes, padded with zeros, at places that follow from parameters and induction variables; others stay where they are. Loads that are
    read by the same products share a ring, and so do places, one behind the other, that load the same of a tensor. A ring within whose turn others turn has one slot, or two where a
    loop comes back to it and they fit in `shared-bytes`, with as much again for results.

    A product in flight has read its slots when a `tile.dot_wait` of its block ends it, which is where they are released; where there is none, the load stays. Kernels with such products are short
    of registers: the producer has a whole warpgroup, which gives away most of its own, and arithmetic is done where it is needed. Under `schedule = pingpong` warpgroups issue a trip's products in turns.

    A persistent kernel of one warpgroup gets two teams of it under `pingpong` (Teams.cpp), which take the blocks of the grid alternately: the producer fills for all of them in order, and a team
    skips what was filled for the other. One team multiplies while the other stores its results:

    ```mlir
    %t = tile.team
    scf.for %block = %first + %t * %blocks to %grid step 2 * %blocks iter_args(%at = (trips of %first, for team 1) mod slots, %p = ...) {
      tile.take_turn
      %d = scf.for %k ... { ... tile.dot ... in_flight ... }
      tile.pass_turn
      tile.dot_wait 0(%d)
      tile.store ...
      scf.yield (slot and parity so many turns on as the other's next block has trips)
    }
    ```
    That needs all rings in the one loop over the grid, trips that a block's number says, and no other buffers in shared memory; else `pingpong` is `cooperative` there.

    Needs: layouts (assign-layouts). Must precede pipeline-loads, which takes what is left, and place-barriers. Numerics: bit-equal.
  }];
  let dependentDialects = ["::tilegym::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [Option<"tensorCopies", "tensor-copies", "bool", "true", "the target copies boxes of tensors by itself">,
    Option<"sharedBytes", "shared-bytes", "int64_t", "232448", "shared memory of a block">];
}

def UseWarpgroups : Pass<"use-warpgroups", "::tilegym::tile::KernelOp"> {
  let summary = "matrix products by the instructions of warpgroups, where the target has them";
  let description = [{
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    ==>
    %d = tile.dot %a, %b, %c warpgroups : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    ```
    Where a kernel has four warps or a multiple, and its results rows in multiples of 64: all of its products on tensor cores, or none, as results may be one
    accumulator.

    Needs: widen-operands. Must precede share-operands, which lays slots out for them. Numerics: tf32 is cut, not rounded, to its 11 bits where an operand is in shared
    memory; 8-bit floats, unless `fast`, are added up in f32 every 128 of K.
  }];
}

def OverlapProducts : Pass<"overlap-products", "::tilegym::tile::KernelOp"> {
  let summary = "a loop's last product runs a trip later, beside that trip's first one and all that is done with it";
  let description = [{
    ```mlir
    %r = scf.for %k = %lo to %hi step %s iter_args(%sum = %init) {
      %p = tile.dot %a, (load at %k), %zeros warpgroups
      %q = ... elementwise work and reductions of %p
      %t = arith.truncf %q
      %next = tile.dot %t, (load at %k), (%sum times something) warpgroups
      scf.yield %next
    }
    ==>
    %r = scf.if %lo < %hi {
      (the first trip, but for its last product)
      %l:2 = scf.for %k = %lo + %s to %hi step %s iter_args(%sum = ..., %q = ...) {
        %p = tile.dot %a, (load at %k), %zeros warpgroups in_flight
        %t = arith.truncf %q
        %before = tile.dot %t, (load at %k - %s), %sum warpgroups in_flight
        %p1 = tile.dot_wait 1 (%p)
        %q1 = ... of %p1
        %q2 = tile.dot_wait 1 (%q1)
        %done = tile.dot_wait 0 (%before)
        scf.yield (%done times something), %q2
      }
      (the last trip's last product)
    } else {
      %init
    }
    ```
    Under a `schedule` with a producer, in kernels with facts. Where the last product's A follows from another of the trip, nothing else in the trip needs the sum, and the induction variable alone
    decides what B is. Attention is such a loop. Costs the registers of A, as the loop holds it beside what the next one is made of.

    Needs: use-warpgroups. Must precede share-operands and specialize-loads, to which the loads are as any. Numerics: bit-equal.
  }];
  let dependentDialects = ["::tilegym::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def WidenOperands : Pass<"widen-operands", "::tilegym::tile::KernelOp"> {
  let summary = "8-bit floats as f16 where no instruction multiplies them";
  let description = [{
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E5M2>, tensor<64x64xf32>
    ==>
    %x = arith.extf %a : tensor<64x64xf8E4M3FN> to tensor<64x64xf16>
    %y = arith.extf %b : tensor<64x64xf8E5M2> to tensor<64x64xf16>
    %d = tile.dot %x, %y, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    ```
    Where the target has no such instruction, or the extents are not its. Numerics: f16 holds every such number; sums are those of f16.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [Option<"float8", "float8", "bool", "false", "the target multiplies 8-bit floats">];
}

#endif
