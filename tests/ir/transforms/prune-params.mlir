// SPDX-License-Identifier: MIT
// RUN: tilegym-opt %s --pass-pipeline='builtin.module(tile.kernel(prune-params))' | FileCheck %s

// Neither the one never read nor the one whose value nothing uses stays; the grid's extent is told by its new number, or none.
// CHECK-LABEL: tile.kernel @prune grid 2 [-1, 0]
// CHECK-SAME: params [#tile.param<extent 1, "N", i64>, #tile.param<extent 3, "K", i64>]
tile.kernel @prune grid 2 [0, 1] facts <fast> warps 4 params [#tile.param<extent 0, "R", i64>, #tile.param<extent 1, "N", i64>,
    #tile.param<extent 2, "M", i64>, #tile.param<extent 3, "K", i64>] {
  // CHECK: %N = tile.param 0 : i64
  // CHECK: %K = tile.param 1 : i64
  // CHECK-NOT: tile.param
  %n = tile.param 1 : i64
  %m = tile.param 2 : i64
  %k = tile.param 3 : i64
  tile.print "{} {}" %n, %k : i64, i64
  tile.return
}
