// SPDX-License-Identifier: MIT
// Blocks of a resident launch take every n-th block of the grid; what does not depend on the block stays in front.
// RUN: tilegym-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(make-persistent))' | FileCheck %s

// CHECK-LABEL: tile.kernel @two
// CHECK-SAME: resident 2
tile.kernel @two grid 2 [-1, -1] facts <fast> warps 4 params [#tile.param<extent 0, "N", i64>,
    #tile.param<grid 0, "grid0", i64, upper = 2147483647>] knobs {persistent = 1 : i64, occupancy = 2 : i64} {
  // CHECK: %[[G0:.*]] = tile.param 1 : i64
  // CHECK: %[[X:.*]] = arith.trunci %[[G0]] : i64 to i32
  // CHECK: %[[G1:.*]] = tile.param 2 : i64
  // CHECK: %[[Y:.*]] = arith.trunci %[[G1]] : i64 to i32
  // CHECK: %[[XY:.*]] = arith.muli %[[X]], %[[Y]] : i32
  // CHECK: %[[TOTAL:.*]] = arith.extui %[[XY]] : i32 to i64
  // CHECK: %[[FIRST:.*]] = tile.linear_block_id
  // CHECK: %[[COUNT:.*]] = tile.launch_size
  // CHECK: %[[TWICE:.*]] = arith.addi %N, %N
  // CHECK: scf.for %[[B:.*]] = %[[FIRST]] to %[[TOTAL]] step %[[COUNT]] : i64 {
  // CHECK: tile.print "{} {}" %[[B]], %[[TWICE]]
  %N = tile.param 0 : i64
  %b = tile.linear_block_id
  %twice = arith.addi %N, %N : i64
  tile.print "{} {}" %b, %twice : i64, i64
  tile.return
}

// CHECK-LABEL: tile.kernel @plain
// CHECK-NOT: scf.for
tile.kernel @plain grid 1 [-1] facts <fast> warps 4 params [] {
  %b = tile.linear_block_id
  tile.print "{}" %b : i64
  tile.return
}

// -----

// expected-error @below {{blocks that take parts of a sum do not stay for more than one block of the grid}}
// expected-note @below {{give this kernel `split_k = 1` where it is persistent}}
tile.kernel @parts grid 1 [-1] facts <fast> warps 4 params [] knobs {persistent = 1 : i64, split_k = 2 : i64} {
  tile.return
}

// -----

// What every block reads of a tensor that nothing writes is loaded once; what is written may change.
// CHECK-LABEL: tile.kernel @alike
// CHECK: %[[W:.*]] = tile.load %w
// CHECK: %[[F:.*]] = arith.extf %[[W]]
// CHECK: scf.for
// CHECK: tile.load %y
// CHECK: tile.store
tile.kernel @alike grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "w", !tile.ptr<bf16>, readonly>, #tile.param<base 1, "y", !tile.ptr<f32>>,
    #tile.param<extent 0, "N", i64>] knobs {persistent = 1 : i64, ctas = 2 : i64} {
  %w = tile.param 0 : !tile.ptr<bf16>
  %y = tile.param 1 : !tile.ptr<f32>
  %n = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %none = arith.constant 0.0 : bf16
  %pad = arith.constant 0.0 : f32
  %b = tile.linear_block_id
  %v = tile.load %w [span(%zero, 64) stride %one below(%zero, %n)] pad(%none : bf16) : !tile.ptr<bf16> -> tensor<64xbf16>
  %f = arith.extf %v : tensor<64xbf16> to tensor<64xf32>
  %before = tile.load %y [span(%zero, 64) stride %one below(%zero, %n)] pad(%pad : f32) : !tile.ptr<f32> -> tensor<64xf32>
  %s = arith.addf %f, %before : tensor<64xf32>
  tile.store %s to %y [point(%b) stride %n within(%zero, %n), span(%zero, 64) stride %one below(%zero, %n)] : tensor<64xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// Which tensor of a list a block works on is worked out in the loop.
// CHECK-LABEL: tile.kernel @list
// CHECK: scf.for %[[B:.*]] = %{{.*}} to
// CHECK-NEXT: %M = tile.param 0[%[[B]]] : i64
// CHECK-NEXT: tile.print "{}" %M
tile.kernel @list grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "M", i64, list = 64>] knobs {persistent = 1 : i64} {
  %b = tile.linear_block_id
  %M = tile.param 0[%b] : i64
  tile.print "{}" %M : i64
  tile.return
}
