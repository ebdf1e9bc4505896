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

// A cluster of four is one block of the grid. Each block's sum goes to all four, a lane each; one barrier of the cluster; then the four in order. The blocks
// meet once before, as memory of a block that does not run cannot be written. One thread of the cluster stores.
// CHECK-LABEL: llvm.func @cluster
// CHECK-SAME: nvvm.cluster_dim = array<i32: 4, 1, 1>
// CHECK-SAME: tilegym.shared_bytes = 144
// CHECK: %[[RANK:.*]] = ptx.cluster_rank
// CHECK: ptx.cluster_arrive relaxed
// CHECK: %[[ID:.*]] = ptx.block_id
// CHECK: arith.shrui %[[ID]], %c2
// CHECK: ptx.barrier
// CHECK: ptx.cluster_wait
// CHECK: %[[PEER:.*]] = ptx.map_shared_rank
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<7>
// CHECK-NOT: map_shared_rank
// CHECK: ptx.cluster_arrive
// CHECK-NEXT: ptx.cluster_wait
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK-COUNT-3: arith.addf
// CHECK: arith.cmpi eq, %[[RANK]]
// CHECK: ptx.store_global
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
