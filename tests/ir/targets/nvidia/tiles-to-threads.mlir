// SPDX-License-Identifier: MIT
// Tiles as registers of a thread.
// RUN: tilegym-opt --split-input-file --tiles-to-threads --cse %s | FileCheck %s

#v = #tile.layout<"256 unit 256 reg [1] [2] [4] lane [8] [16] [32] [64] [128]">

// Eight bf16 values of a thread are one access of four words; the bound, a multiple of eight, is checked once.
// CHECK-LABEL: llvm.func @vectors(
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 32, 1, 1>
// CHECK: %[[OK:.*]] = arith.cmpi slt
// CHECK: ptx.load_global %{{.*}} + 0 bits 32 if %[[OK]] else {{.*}} readonly : i32, i32, i32, i32
// CHECK-COUNT-8: arith.addf %{{.*}} : bf16
// CHECK: ptx.store_global {{.*}} + 0 bits 32 if %[[OK]] : i32, i32, i32, i32
// CHECK-NOT: ptx.store_global
tile.kernel @vectors grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !tile.ptr<bf16>, divisor = 16, readonly>,
    #tile.param<base 1, "y", !tile.ptr<bf16>, divisor = 16>, #tile.param<extent 0, "n", i64, divisor = 8>] {
  %x = tile.param 0 : !tile.ptr<bf16>
  %y = tile.param 1 : !tile.ptr<bf16>
  %n = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : bf16
  %size = arith.constant 256 : i64
  %block = tile.linear_block_id
  %start = arith.muli %block, %size : i64
  %t = tile.load %x[span(%start, 256) stride %one below(%zero, %n)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<256xbf16, #v>
  %u = arith.addf %t, %t : tensor<256xbf16, #v>
  tile.store %u to %y[span(%start, 256) stride %one below(%zero, %n)] : tensor<256xbf16, #v> to !tile.ptr<bf16>
  tile.return
}

// -----

#w = #tile.layout<"256 unit 256 reg [128] lane [1] [2] [4] [8] [16] warp [32] [64]">
#s = #tile.layout<"1 unit 1 lane [0] [0] [0] [0] [0] warp [0] [0]">

// Registers, five butterflies, then one trip through shared memory with one barrier; the second use has the other buffer and needs no barrier before it.
// CHECK-LABEL: llvm.func @reduces
// CHECK-SAME: tilegym.shared_bytes = 144
// CHECK: arith.maximumf
// CHECK-COUNT-5: ptx.shuffle <xor>
// CHECK: llvm.store
// CHECK: ptx.barrier
// CHECK: llvm.load
// CHECK-COUNT-5: ptx.shuffle <xor>
// CHECK-NOT: ptx.barrier
// CHECK: llvm.store
// CHECK: ptx.barrier
// CHECK-NOT: ptx.barrier
tile.kernel @reduces grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, readonly>, #tile.param<base 1, "y", !tile.ptr<f32>>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %y = tile.param 1 : !tile.ptr<f32>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %t = tile.load %x[span(%zero, 256) stride %one within(%zero, %one)] : !tile.ptr<f32> -> tensor<256xf32, #w>
  %m = tile.reduce <max> %t [0] : tensor<256xf32, #w> to f32
  %s = tile.reduce <sum> %t [0] : tensor<256xf32, #w> to f32
  %r = arith.addf %m, %s : f32
  tile.store %r to %y[point(%zero) stride %one within(%zero, %one)] : f32 to !tile.ptr<f32>
  tile.return
}

// -----

#w = #tile.layout<"64 unit 64 lane [1] [2] [4] [8] [16] warp [32]">

// What one thread writes another may read: a barrier stands between a store and a load of the same tensor. (access-order.mlir: where none does.)
// CHECK-LABEL: llvm.func @program_order
// CHECK: ptx.store_global
// CHECK: ptx.barrier
// CHECK: ptx.load_global
// CHECK: ptx.barrier
// CHECK: ptx.store_global
tile.kernel @program_order grid 1 [-1] facts <general> warps 2 params [#tile.param<base 0, "x", !tile.ptr<f32>>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %end = arith.constant 65 : i64
  %f = arith.constant dense<1.0> : tensor<64xf32, #w>
  tile.store %f to %x[span(%zero, 64) stride %one within(%zero, %end)] : tensor<64xf32, #w> to !tile.ptr<f32>
  %t = tile.load %x[span(%one, 64) stride %one within(%zero, %end)] : !tile.ptr<f32> -> tensor<64xf32, #w>
  tile.store %t to %x[span(%zero, 64) stride %one within(%zero, %end)] : tensor<64xf32, #w> to !tile.ptr<f32>
  tile.return
}

// -----

#c = #tile.layout<"512 unit 512 lane [1] [2] [4] [8] [16] warp [32] [64] block [128] [256]">

// A cluster of four is one block of the grid. Each block's sum goes to all four, a lane each, and an mbarrier of each counts the bytes; then the four in order. The
// blocks meet once before, as memory of a block that does not run cannot be written, and once behind, so that none exits while what it sent is on its way. One
// thread of the cluster stores.
// CHECK-LABEL: llvm.func @cluster
// CHECK-SAME: nvvm.cluster_dim = array<i32: 4, 1, 1>
// CHECK-SAME: tilegym.shared_bytes = 152
// CHECK: %[[RANK:.*]] = ptx.cluster_rank
// CHECK: %[[DATA:.*]] = llvm.getelementptr %{{.*}}[%c128_i32]
// CHECK: %[[ALL:.*]] = llvm.getelementptr %[[DATA]][%c16_i32]
// CHECK: ptx.mbarrier_init %[[ALL]], %c1_i32 if
// CHECK: ptx.mbarrier_arrive_expect_tx %[[ALL]], %c16_i32 if
// CHECK: ptx.fence_mbarrier_init
// CHECK-NEXT: ptx.cluster_arrive relaxed
// CHECK: %[[ID:.*]] = ptx.block_id
// CHECK: arith.shrui %[[ID]], %c2
// CHECK: ptx.barrier
// CHECK: ptx.cluster_wait
// CHECK: %[[PEER:.*]] = ptx.map_shared_rank %[[DATA]]
// CHECK: %[[SIGNAL:.*]] = ptx.map_shared_rank %[[ALL]]
// CHECK: ptx.store_async(%{{.*}}) to %{{.*}} signal %[[SIGNAL]] : f32
// CHECK-NOT: store_async
// CHECK: ptx.mbarrier_try_wait %[[ALL]], %c0_i32
// CHECK: ptx.cluster_arrive relaxed
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK-COUNT-3: arith.addf
// CHECK: arith.cmpi eq, %[[RANK]]
// CHECK: ptx.store_global
// CHECK-NEXT: ptx.cluster_wait
tile.kernel @cluster grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, readonly>, #tile.param<base 1, "y", !tile.ptr<f32>>] knobs {ctas = 4 : i64} {
  %x = tile.param 0 : !tile.ptr<f32>
  %y = tile.param 1 : !tile.ptr<f32>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %block = tile.linear_block_id
  %t = tile.load %x[span(%block, 512) stride %one within(%zero, %one)] : !tile.ptr<f32> -> tensor<512xf32, #c>
  %s = tile.reduce <sum> %t [0] : tensor<512xf32, #c> to f32
  tile.store %s to %y[point(%block) stride %one within(%zero, %one)] : f32 to !tile.ptr<f32>
  tile.return
}

// -----

#c = #tile.layout<"512 unit 512 lane [1] [2] [4] [8] [16] warp [32] [64] block [128] [256]">

// In a loop the same mbarrier would be used again: there the blocks meet.
// CHECK-LABEL: llvm.func @exchanges_in_a_loop
// CHECK: scf.for
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<7>
// CHECK: ptx.cluster_arrive
// CHECK-NEXT: ptx.cluster_wait
// CHECK-NOT: mbarrier
tile.kernel @exchanges_in_a_loop grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, readonly>, #tile.param<base 1, "y", !tile.ptr<f32>>] knobs {ctas = 4 : i64} {
  %x = tile.param 0 : !tile.ptr<f32>
  %y = tile.param 1 : !tile.ptr<f32>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %many = arith.constant 4096 : i64
  %step = arith.constant 512 : i64
  scf.for %k = %zero to %many step %step : i64 {
    %t = tile.load %x[span(%k, 512) stride %one within(%zero, %one)] : !tile.ptr<f32> -> tensor<512xf32, #c>
    %s = tile.reduce <sum> %t [0] : tensor<512xf32, #c> to f32
    tile.store %s to %y[point(%k) stride %one within(%zero, %one)] : f32 to !tile.ptr<f32>
  }
  tile.return
}

// -----

#v = #tile.layout<"64 unit 64 reg [1] lane [2] [4] [8] [16] [32]">

// Two of 16 bits that are 0 unless a condition holds are rounded together, then masked; each mask is made where its condition is.
// CHECK-LABEL: llvm.func @kept
// CHECK: arith.cmpf
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.select %{{.*}}, %c65535_i32, %c0_i32 : i32
// CHECK: arith.cmpf
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.select %{{.*}}, %c-65536_i32, %c0_i32 : i32
// CHECK: %[[ROUNDED:.*]] = arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK: %[[MASK:.*]] = arith.ori
// CHECK: %[[WORD:.*]] = llvm.bitcast %[[ROUNDED]] : vector<2xbf16> to i32
// CHECK: %[[KEPT:.*]] = arith.andi %[[WORD]], %[[MASK]]
// CHECK: ptx.store_global %[[KEPT]]
tile.kernel @kept grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !tile.ptr<bf16>, divisor = 16, readonly>,
    #tile.param<base 1, "y", !tile.ptr<bf16>, divisor = 16>] {
  %x = tile.param 0 : !tile.ptr<bf16>
  %y = tile.param 1 : !tile.ptr<bf16>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i64
  %none = arith.constant dense<0.0> : tensor<64xf32, #v>
  %t = tile.load %x[span(%zero, 64) stride %one within(%zero, %size)] : !tile.ptr<bf16> -> tensor<64xbf16, #v>
  %u = arith.extf %t : tensor<64xbf16, #v> to tensor<64xf32, #v>
  %c = arith.cmpf ogt, %u, %none : tensor<64xf32, #v>
  %k = arith.select %c, %u, %none : tensor<64xi1, #v>, tensor<64xf32, #v>
  %r = arith.truncf %k : tensor<64xf32, #v> to tensor<64xbf16, #v>
  tile.store %r to %y[span(%zero, 64) stride %one within(%zero, %size)] : tensor<64xbf16, #v> to !tile.ptr<bf16>
  tile.return
}

// -----

#r = #tile.layout<"2x1024 unit 2x1024 reg [0,1] [0,2] [0,4] [1,0] lane [0,8] [0,16] [0,32] [0,64] [0,128] warp [0,256] [0,512]">

// Two rows of at most 2048: a lane copies each, as many bytes as the row has, and none of a row beyond the tensor. The others see the mbarrier before they
// wait at it. A strip is read at its place, the second row's 4096 bytes on.
// CHECK-LABEL: llvm.func @held(
// CHECK-SAME: tilegym.shared_bytes = 8200
// CHECK: %[[DATA:.*]] = llvm.getelementptr %{{.*}}[%c0_i32] : (!llvm.ptr<3>, i32)
// CHECK: %[[BARRIER:.*]] = llvm.getelementptr %[[DATA]][%c8192_i32]
// CHECK: scf.if
// CHECK:   ptx.mbarrier_init %[[BARRIER]], %c2{{.*}} if
// CHECK:   ptx.fence_mbarrier_init
// CHECK:   ptx.warp_barrier
// CHECK:   %[[IN:.*]] = arith.cmpi slt
// CHECK:   %[[MOST:.*]] = arith.minsi %{{.*}}, %c2048
// CHECK:   %[[COUNT:.*]] = arith.select %[[IN]], %[[MOST]], %c0
// CHECK:   %[[BYTES:.*]] = arith.muli %[[COUNT]], %c2
// CHECK:   ptx.mbarrier_arrive_expect_tx %[[BARRIER]], %[[BYTES]] if %{{.*}} : !llvm.ptr<3>
// CHECK:   ptx.bulk_load %{{.*}}, %{{.*}}, %[[BYTES]] signal %[[BARRIER]] if
// CHECK-NOT: bulk_load
// CHECK: ptx.barrier
// CHECK: scf.while
// CHECK:   ptx.mbarrier_try_wait %[[BARRIER]], %c0
// CHECK: scf.for
// CHECK:   %[[AT:.*]] = llvm.getelementptr %[[DATA]][%{{.*}}]
// CHECK:   ptx.load_shared %[[AT]] + 0 bits 32 if
// CHECK:   ptx.load_shared %{{.*}} + 4096 bits 32 if
tile.kernel @held grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<bf16>, divisor = 16, readonly>, #tile.param<base 1, "y", !tile.ptr<bf16>, divisor = 16>,
    #tile.param<extent 0, "R", i64>, #tile.param<extent 1, "N", i64, divisor = 8>] {
  %x = tile.param 0 : !tile.ptr<bf16>
  %y = tile.param 1 : !tile.ptr<bf16>
  %r = tile.param 2 : i64
  %n = tile.param 3 : i64
  %zero = arith.constant 0 : i32
  %least = arith.constant 0 : i64
  %end = arith.constant 2048 : i32
  %step = arith.constant 1024 : i32
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : bf16
  %block = tile.linear_block_id
  %row = arith.trunci %block : i64 to i32
  %c = tile.hold %x[span(%row : i32, 2) stride %n below(%least, %r), span(%zero : i32, 2048) stride %one below(%least, %n)] : !tile.ptr<bf16>
  %h = tile.await %c
  scf.for %k = %zero to %end step %step : i32 {
    %t = tile.load %x[span(%row : i32, 2) stride %n below(%least, %r), span(%k : i32, 1024) stride %one below(%least, %n)] pad(%pad : bf16) held(%h) : !tile.ptr<bf16> -> tensor<2x1024xbf16, #r>
    tile.store %t to %y[span(%row : i32, 2) stride %n below(%least, %r), span(%k : i32, 1024) stride %one below(%least, %n)] : tensor<2x1024xbf16, #r> to !tile.ptr<bf16>
  }
  tile.return
}

// -----

#q = #tile.layout<"1024 unit 1024 reg [1] [2] [4] lane [8] [16] [32] [64] [128] block [256] [512]">

// Four blocks of a cluster take turns of 256 elements: of 4096, each copies four runs, a lane each, and reads its part of a strip a quarter as far on.
// CHECK-LABEL: llvm.func @held_in_turns(
// CHECK-SAME: tilegym.shared_bytes = 2056
// CHECK: ptx.mbarrier_init %{{.*}}, %c4
// CHECK: arith.minsi %{{.*}}, %c256
// CHECK: ptx.bulk_load
// CHECK-NOT: bulk_load
// CHECK: scf.for %[[K:.*]] =
// CHECK:   arith.shrui %[[K]], %c2
// CHECK:   ptx.load_shared %{{.*}} + 0 bits 32 :
tile.kernel @held_in_turns grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !tile.ptr<bf16>, divisor = 16, readonly>, #tile.param<base 1, "y", !tile.ptr<bf16>, divisor = 16>,
    #tile.param<extent 1, "N", i64, divisor = 8>] knobs {ctas = 4 : i64} {
  %x = tile.param 0 : !tile.ptr<bf16>
  %y = tile.param 1 : !tile.ptr<bf16>
  %n = tile.param 2 : i64
  %zero = arith.constant 0 : i32
  %least = arith.constant 0 : i64
  %end = arith.constant 4096 : i32
  %step = arith.constant 1024 : i32
  %one = arith.constant 1 : i64
  %c = tile.hold %x[span(%zero : i32, 4096) stride %one below(%least, %n)] : !tile.ptr<bf16>
  %h = tile.await %c
  scf.for %k = %zero to %end step %step : i32 {
    %t = tile.load %x[span(%k : i32, 1024) stride %one within(%least, %n)] held(%h) : !tile.ptr<bf16> -> tensor<1024xbf16, #q>
    tile.store %t to %y[span(%k : i32, 1024) stride %one within(%least, %n)] : tensor<1024xbf16, #q> to !tile.ptr<bf16>
  }
  tile.return
}

// -----

#o = #tile.layout<"1024 unit 1024 reg [32] [64] [128] lane [1] [2] [4] [8] [16] block [256] [512]">

// The same with a base and a length that may be any: the row lies as far behind a unit of 16 bytes as in global memory, each turn with a unit more. Copies are of
// the units that are all the row's; up to seven elements before, and seven behind them, are a lane's each, in the block whose turn has them.
// CHECK-LABEL: llvm.func @held_anywhere(
// CHECK-SAME: tilegym.shared_bytes = 2120
// CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint
// CHECK: %[[LOW:.*]] = arith.trunci %[[ADDRESS]] : i64 to i32
// CHECK: %[[SHIFT:.*]] = arith.andi %[[LOW]], %c15
// CHECK: %[[LENGTH:.*]] = arith.muli %{{.*}}, %c2
// CHECK: %[[UP:.*]] = arith.addi %[[SHIFT]], %c15
// CHECK: %[[FIRST:.*]] = arith.andi %[[UP]], %c-16
// CHECK: %[[BEHIND:.*]] = arith.addi %[[SHIFT]], %[[LENGTH]]
// CHECK: %[[LAST:.*]] = arith.andi %[[BEHIND]], %c-16
// CHECK: arith.maxsi %{{.*}}, %[[FIRST]]
// CHECK: arith.minsi %{{.*}}, %[[LAST]]
// CHECK: ptx.bulk_load
// CHECK-NOT: bulk_load
// CHECK: arith.cmpi eq, %{{.*}}, %{{.*}}
// CHECK: scf.if
// CHECK:   ptx.load_global %{{.*}} + 0 bits 16 readonly
// CHECK:   llvm.store %{{.*}} : bf16, !llvm.ptr<3>
// CHECK: ptx.barrier
// CHECK: scf.for
// CHECK:   arith.muli %{{.*}}, %c264
// CHECK:   ptx.load_shared %{{.*}} + 0 bits 16
// CHECK:   ptx.load_shared %{{.*}} + 64 bits 16
tile.kernel @held_anywhere grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !tile.ptr<bf16>, readonly>, #tile.param<base 1, "y", !tile.ptr<bf16>>,
    #tile.param<extent 1, "N", i64>] knobs {ctas = 4 : i64} {
  %x = tile.param 0 : !tile.ptr<bf16>
  %y = tile.param 1 : !tile.ptr<bf16>
  %n = tile.param 2 : i64
  %zero = arith.constant 0 : i32
  %least = arith.constant 0 : i64
  %end = arith.constant 4096 : i32
  %step = arith.constant 1024 : i32
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : bf16
  %c = tile.hold %x[span(%zero : i32, 4096) stride %one below(%least, %n)] : !tile.ptr<bf16>
  %h = tile.await %c
  scf.for %k = %zero to %end step %step : i32 {
    %t = tile.load %x[span(%k : i32, 1024) stride %one below(%least, %n)] pad(%pad : bf16) held(%h) : !tile.ptr<bf16> -> tensor<1024xbf16, #o>
    tile.store %t to %y[span(%k : i32, 1024) stride %one below(%least, %n)] : tensor<1024xbf16, #o> to !tile.ptr<bf16>
  }
  tile.return
}

// -----

// A tensor map stays where the launch put it: its parameter is its address.
// CHECK-LABEL: llvm.func @map(
// CHECK-SAME: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
tile.kernel @map grid 1 [-1] facts <fast> warps 1 params [#tile.param<tensor_map 0, "x", !tile.tensor_map<bf16, [64 of dim 0], swizzle 128>>] {
  tile.return
}
