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

// expected-error @below {{blocks of a cluster stay for more than one block of the grid only where `ctas` spreads a product}}
// expected-note @below {{give this kernel `ctas = 1` and `split_k = 1` where it is persistent}}
tile.kernel @cluster grid 1 [-1] facts <fast> warps 4 params [] knobs {persistent = 1 : i64, ctas = 2 : i64} {
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
