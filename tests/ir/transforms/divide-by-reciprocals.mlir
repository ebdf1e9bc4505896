// SPDX-License-Identifier: MIT
// RUN: tilegym-opt --divide-by-reciprocals %s | FileCheck %s

// A divisor that all blocks share has its reciprocal made once, for quotient and remainder; one of at most 8 has it chosen; others, and those of other loops, stay.
// CHECK-LABEL: tile.kernel @divides
// CHECK: %[[D:.*]] = tile.param 0 : i32
// CHECK: %[[SAFE:.*]] = arith.maxui %[[D]], %{{.*}} : i32
// CHECK: %[[ALL:.*]] = arith.constant -1 : i32
// CHECK: %[[R:.*]] = arith.divui %[[ALL]], %[[SAFE]] : i32
// CHECK-NOT: arith.divui
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[N:.*]] = arith.trunci %[[I]]
// CHECK: %[[N64:.*]] = arith.extui %[[N]]
// CHECK: %[[R64:.*]] = arith.extui %[[R]]
// CHECK: %[[P:.*]] = arith.muli %[[N64]], %[[R64]] : i64
// CHECK: %[[HIGH:.*]] = arith.shrui %[[P]], %c32{{.*}} : i64
// CHECK: %[[Q:.*]] = arith.trunci %[[HIGH]]
// CHECK: %[[QD:.*]] = arith.muli %[[Q]], %[[D]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %[[QD]]
// CHECK: %[[LESS:.*]] = arith.cmpi uge, %[[LEFT]], %[[D]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[Q]], %c1
// CHECK: arith.select %[[LESS]], %[[NEXT]], %[[Q]]
// CHECK-NOT: arith.remui
// CHECK: %[[REST:.*]] = arith.subi %{{.*}}, %[[D]]
// CHECK: arith.select %{{.*}}, %[[REST]], %{{.*}}
// CHECK: %[[ROWS:.*]] = arith.maxui
// CHECK: %[[IS2:.*]] = arith.cmpi eq, %[[ROWS]], %c2
// CHECK: %[[R2:.*]] = arith.select %[[IS2]], %c2147483647
// CHECK: %[[IS3:.*]] = arith.cmpi eq, %[[ROWS]], %c3
// CHECK: arith.select %[[IS3]], %c1431655765{{.*}}, %[[R2]]
// CHECK-NOT: arith.divui
// CHECK: %[[OWN:.*]] = arith.addi %{{.*}}, %[[N]]
// CHECK: arith.divui %[[N]], %[[OWN]]
tile.kernel @divides grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "d", i32>, #tile.param<grid 0, "grid0", i64, upper = 2147483647>] {
  %d = tile.param 0 : i32
  %all = tile.param 1 : i64
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %first = tile.linear_block_id
  %step = tile.launch_size
  scf.for %i = %first to %all step %step : i64 {
    %n = arith.trunci %i : i64 to i32
    %q = arith.divui %n, %d : i32
    %m = arith.remui %n, %d : i32
    %least = arith.minui %m, %three : i32
    %rows = arith.maxui %least, %one : i32
    %s = arith.divui %q, %rows : i32
    %own = arith.addi %q, %n : i32
    %t = arith.divui %n, %own : i32
    %sum = arith.addi %s, %t : i32
    %ok = arith.cmpi ne, %sum, %d : i32
    tile.assert %ok, "used"
  }
  tile.return
}
