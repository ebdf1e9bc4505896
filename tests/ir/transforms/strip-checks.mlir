// SPDX-License-Identifier: MIT
// RUN: tilegym-opt %s --pass-pipeline='builtin.module(tile.kernel(strip-checks))' | FileCheck %s

// CHECK-LABEL: tile.kernel @strip
tile.kernel @strip grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "N", i64>] {
  %n = tile.param 0 : i64
  %zero = arith.constant 0 : i64
  // CHECK: arith.cmpi
  %c = arith.cmpi sgt, %n, %zero : i64
  // CHECK-NEXT: scf.if
  scf.if %c {
    tile.assert %c, "positive"
    tile.print "{}" %n : i64
  }
  tile.assume %c
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.return
  tile.return
}
