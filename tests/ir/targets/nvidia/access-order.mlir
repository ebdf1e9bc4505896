// SPDX-License-Identifier: MIT
// Barriers between accesses of which something writes: only where two threads could meet at an element.
// RUN: tilegym-opt --split-input-file --tiles-to-threads --cse %s | FileCheck %s

#w = #tile.layout<"64 unit 64 lane [1] [2] [4] [8] [16] warp [32]">

// An output may be the input's own view: each thread writes what it read.
// CHECK-LABEL: llvm.func @in_place
// CHECK: ptx.load_global
// CHECK-NOT: ptx.barrier
// CHECK: ptx.store_global
tile.kernel @in_place grid 1 [-1] facts <general> warps 2 params [#tile.param<base 0, "x", !tile.ptr<f32>>,
    #tile.param<base 1, "y", !tile.ptr<f32>>, #tile.param<extent 0, "n", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %y = tile.param 1 : !tile.ptr<f32>
  %n = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : f32
  %t = tile.load %x[span(%zero, 64) stride %one below(%zero, %n)] pad(%pad : f32) : !tile.ptr<f32> -> tensor<64xf32, #w>
  tile.store %t to %y[span(%zero, 64) stride %one below(%zero, %n)] : tensor<64xf32, #w> to !tile.ptr<f32>
  tile.return
}

// -----

#w = #tile.layout<"64 unit 64 lane [1] [2] [4] [8] [16] warp [32]">
#v = #tile.layout<"64 unit 64 lane [2] [1] [4] [8] [16] warp [32]">
#c = #tile.layout<"32 unit 32 lane [1] [2] [4] [8] [16] warp [0]">

// Not so where threads hold other elements to write than they read, or where two hold copies and one writes.
// CHECK-LABEL: llvm.func @other_owners
// CHECK: ptx.load_global
// CHECK: ptx.barrier
// CHECK: ptx.store_global
// CHECK: ptx.load_global
// CHECK: ptx.barrier
// CHECK: ptx.store_global
tile.kernel @other_owners grid 1 [-1] facts <general> warps 2 params [#tile.param<base 0, "x", !tile.ptr<f32>>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %next = arith.constant 64 : i64
  %end = arith.constant 128 : i64
  %f = arith.constant dense<1.0> : tensor<64xf32, #v>
  %t = tile.load %x[span(%zero, 64) stride %one within(%zero, %end)] : !tile.ptr<f32> -> tensor<64xf32, #w>
  tile.store %f to %x[span(%zero, 64) stride %one within(%zero, %end)] : tensor<64xf32, #v> to !tile.ptr<f32>
  %u = tile.load %x[span(%next, 32) stride %one within(%zero, %end)] : !tile.ptr<f32> -> tensor<32xf32, #c>
  tile.store %u to %x[span(%next, 32) stride %one within(%zero, %end)] : tensor<32xf32, #c> to !tile.ptr<f32>
  tile.return
}

// -----

#w = #tile.layout<"64 unit 64 lane [1] [2] [4] [8] [16] warp [32]">

// What ends where the other begins keeps apart: below h, from h to p, and from p on, a turn of the loop at a time.
// CHECK-LABEL: llvm.func @parts
// CHECK: ptx.store_global
// CHECK-NOT: ptx.barrier
// CHECK: ptx.load_global
// CHECK-NOT: ptx.barrier
// CHECK: ptx.store_global
// CHECK-NOT: ptx.barrier
// CHECK: scf.for
// CHECK-NOT: ptx.barrier
// CHECK: llvm.return
tile.kernel @parts grid 1 [-1] facts <general> warps 2 params [#tile.param<base 0, "x", !tile.ptr<f32>>, #tile.param<extent 0, "p", i64>,
    #tile.param<extent 1, "d", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %p = tile.param 1 : i64
  %d = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %step = arith.constant 64 : i64
  %pad = arith.constant 0.0 : f32
  %h = arith.divui %p, %two : i64
  %below = arith.minsi %d, %h : i64
  %f = arith.constant dense<1.0> : tensor<64xf32, #w>
  tile.store %f to %x[span(%zero, 64) stride %one below(%zero, %below)] : tensor<64xf32, #w> to !tile.ptr<f32>
  %t = tile.load %x[span(%h, 64) stride %one below(%zero, %p)] pad(%pad : f32) : !tile.ptr<f32> -> tensor<64xf32, #w>
  tile.store %t to %x[span(%h, 64) stride %one below(%zero, %p)] : tensor<64xf32, #w> to !tile.ptr<f32>
  scf.for %i = %p to %d step %step : i64 {
    %u = tile.load %x[span(%i, 64) stride %one below(%zero, %d)] pad(%pad : f32) : !tile.ptr<f32> -> tensor<64xf32, #w>
    tile.store %u to %x[span(%i, 64) stride %one below(%zero, %d)] : tensor<64xf32, #w> to !tile.ptr<f32>
  }
  tile.return
}

// -----

#r = #tile.layout<"1x64 unit 1x64 lane [0,1] [0,2] [0,4] [0,8] [0,16] warp [0,32]">
#s = #tile.layout<"64x1 unit 64x1 lane [1,0] [2,0] [4,0] [8,0] [16,0] warp [32,0]">

// A row in each turn and a column in each turn: one turn's column crosses the next turn's row, so a barrier ends the turn, and one is between the two.
// CHECK-LABEL: llvm.func @crossing
// CHECK: scf.for
// CHECK: ptx.store_global
// CHECK: ptx.barrier
// CHECK: ptx.store_global
// CHECK: ptx.barrier
// CHECK: }
tile.kernel @crossing grid 1 [-1] facts <general> warps 2 params [#tile.param<base 0, "x", !tile.ptr<f32>>, #tile.param<extent 0, "n", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %f = arith.constant dense<1.0> : tensor<1x64xf32, #r>
  %g = arith.constant dense<2.0> : tensor<64x1xf32, #s>
  scf.for %i = %zero to %n step %one : i64 {
    tile.store %f to %x[span(%i, 1) stride %n below(%zero, %n), span(%zero, 64) stride %one below(%zero, %n)] : tensor<1x64xf32, #r> to !tile.ptr<f32>
    tile.store %g to %x[span(%zero, 64) stride %n below(%zero, %n), span(%i, 1) stride %one below(%zero, %n)] : tensor<64x1xf32, #s> to !tile.ptr<f32>
  }
  tile.return
}
