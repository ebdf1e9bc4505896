// SPDX-License-Identifier: MIT
// RUN: tilegym-opt %s --pass-pipeline='builtin.module(tile.kernel(narrow-loops))' | FileCheck %s

// CHECK-LABEL: tile.kernel @narrow
tile.kernel @narrow grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "N", i64, upper = 2146435072>,
    #tile.param<extent 1, "M", i64, upper = 2147483647>, #tile.param<scalar 0, "k", i64>] {
  %n = tile.param 0 : i64
  %m = tile.param 1 : i64
  %k = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %step = arith.constant 2048 : i64
  // CHECK: %[[n:.*]] = arith.trunci %N : i64 to i32
  // CHECK: scf.for %[[i:.*]] = %{{.*}} to %[[n]] step %{{.*}} : i32
  // CHECK-NEXT: %[[wide:.*]] = arith.extsi %[[i]] : i32 to i64
  // CHECK-NEXT: tile.print "{}" %[[wide]] : i64
  scf.for %i = %zero to %n step %step : i64 {
    tile.print "{}" %i : i64
  }
  // One more step would not fit; nothing is known of a scalar.
  // CHECK: scf.for %{{.*}} = %c0_i64 to %M step %{{.*}} : i64
  scf.for %i = %zero to %m step %step : i64 {
    tile.print "{}" %i : i64
  }
  // CHECK: scf.for %{{.*}} = %c0_i64 to %k step %{{.*}} : i64
  scf.for %i = %zero to %k step %step : i64 {
    tile.print "{}" %i : i64
  }
  tile.return
}
