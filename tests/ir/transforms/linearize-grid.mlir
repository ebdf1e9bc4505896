// SPDX-License-Identifier: MIT
// RUN: tilegym-opt %s --pass-pipeline='builtin.module(tile.kernel(linearize-grid))' | FileCheck %s

// CHECK-LABEL: tile.kernel @one
// CHECK-SAME: params [#tile.param<extent 0, "N", i64>, #tile.param<grid 0, "grid0", i64, upper = 2147483647>]
tile.kernel @one grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "N", i64>] {
  // CHECK: %grid0 = tile.param 1 : i64
  // CHECK: %[[b:.*]] = tile.linear_block_id
  // CHECK: tile.print "{} of {}" %[[b]], %grid0
  %i = tile.block_id 0
  %n = tile.num_blocks 0
  tile.print "{} of {}" %i, %n : i64, i64
  tile.return
}

// CHECK-LABEL: tile.kernel @three
tile.kernel @three grid 3 [-1, -1, -1] facts <fast> warps 4 params [] {
  // CHECK: %[[b:.*]] = tile.linear_block_id
  // CHECK: %[[n:.*]] = arith.trunci %[[b]] : i64 to i32
  // CHECK: %[[g0:.*]] = arith.trunci %grid0 : i64 to i32
  // CHECK: %[[x:.*]] = arith.remui %[[n]], %[[g0]] : i32
  // CHECK: %[[q:.*]] = arith.divui %[[n]], %[[g0]] : i32
  // CHECK: %[[x64:.*]] = arith.extui %[[x]] : i32 to i64
  // CHECK: %[[g1:.*]] = arith.trunci %grid1 : i64 to i32
  // CHECK: %[[y:.*]] = arith.remui %[[q]], %[[g1]] : i32
  // CHECK: %[[z:.*]] = arith.divui %[[q]], %[[g1]] : i32
  // CHECK: %[[y64:.*]] = arith.extui %[[y]] : i32 to i64
  // CHECK: %[[z64:.*]] = arith.extui %[[z]] : i32 to i64
  // CHECK: tile.print "{} {} {}" %[[x64]], %[[y64]], %[[z64]]
  %x = tile.block_id 0
  %y = tile.block_id 1
  %z = tile.block_id 2
  tile.print "{} {} {}" %x, %y, %z : i64, i64, i64
  tile.return
}
