// SPDX-License-Identifier: MIT
// What the loop over the grid holds is copied into a ring, two trips ahead of three slots.
// RUN: tilegym-opt %s --pass-pipeline='builtin.module(tile.kernel(hold-ahead,canonicalize,cse))' | FileCheck %s

#l = #tile.layout<"64 unit 64 reg [1] lane [2] [4] [8] [16] [32]">
// CHECK-LABEL: tile.kernel @rows
// CHECK: %[[FIRST:.*]] = tile.linear_block_id
// CHECK: %[[STEP:.*]] = tile.launch_size
// CHECK: %[[RING:.*]] = tile.hold_ring 3
// CHECK: %[[SOME:.*]] = arith.cmpi ult, %[[FIRST]], %[[R:.*]] : i64
// The number of the row is worked out for each trip.
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %c2{{.*}} : i64
// CHECK: tile.hold %x [point(%[[ROW]]) {{.*}}] ring(%[[RING]][%c0{{.*}}] if %[[SOME]])
// CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %[[STEP]] : i64
// CHECK: %[[MORE:.*]] = arith.cmpi ult, %[[SECOND]], %[[R]] : i64
// CHECK: %[[EXISTING:.*]] = arith.select %[[MORE]], %[[SECOND]], %[[FIRST]] : i64
// CHECK: tile.hold {{.*}} ring(%[[RING]][%c1{{.*}}] if %[[MORE]])
// CHECK: scf.for %[[I:.*]] = %[[FIRST]] to %[[R]] step %[[STEP]] iter_args(%[[SLOT:.*]] = %c0{{.*}}, %[[PARITY:.*]] = %c0{{.*}}) -> (i32, i32)
// All threads have read what the slot held a trip ago.
// CHECK-NEXT: tile.barrier
// CHECK: %[[BEFORE:.*]] = arith.select %{{.*}}, %c2{{.*}}, %{{.*}} : i32
// CHECK: %[[TWO:.*]] = arith.muli %[[STEP]], %c2{{.*}} : i64
// CHECK: %[[THIRD:.*]] = arith.addi %[[I]], %[[TWO]] : i64
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[THIRD]], %[[R]] : i64
// CHECK: tile.hold {{.*}} ring(%[[RING]][%[[BEFORE]]] if %[[EXISTS]])
// CHECK: %[[H:.*]] = tile.await %[[RING]] turn(%[[SLOT]], %[[PARITY]])
// CHECK: tile.load {{.*}} held(%[[H]])
// CHECK: %[[G:.*]] = tile.await %[[RING]] turn(%[[SLOT]], %[[PARITY]])
// CHECK: tile.load {{.*}} held(%[[G]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[SLOT]], %c1{{.*}} : i32
// CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[NEXT]], %c3{{.*}} : i32
// CHECK: scf.yield
tile.kernel @rows grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16, readonly>, #tile.param<base 1, "y", !tile.ptr<f32>>,
    #tile.param<extent 0, "R", i64>] knobs {persistent = 1 : i64} {
  %x = tile.param 0 : !tile.ptr<f32>
  %y = tile.param 1 : !tile.ptr<f32>
  %r = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %first = tile.linear_block_id
  %step = tile.launch_size
  scf.for %i = %first to %r step %step : i64 {
    %row = arith.addi %i, %two : i64
    %c = tile.hold %x [point(%row) stride %r within(%zero, %r), span(%zero, 64) stride %one within(%zero, %r)] : !tile.ptr<f32>
    %h = tile.await %c
    %t = tile.load %x [point(%row) stride %r within(%zero, %r), span(%zero, 64) stride %one within(%zero, %r)] held(%h) : !tile.ptr<f32> -> tensor<64xf32, #l>
    tile.store %t to %y [span(%zero, 64) stride %one within(%zero, %r)] : tensor<64xf32, #l> to !tile.ptr<f32>
    %g = tile.await %c
    %u = tile.load %x [point(%row) stride %r within(%zero, %r), span(%zero, 64) stride %one within(%zero, %r)] held(%g) : !tile.ptr<f32> -> tensor<64xf32, #l>
    tile.store %u to %y [span(%one, 64) stride %one within(%zero, %r)] : tensor<64xf32, #l> to !tile.ptr<f32>
  }
  tile.return
}

// Another loop's are left alone.
// CHECK-LABEL: tile.kernel @once
// CHECK-NOT: tile.hold_ring
tile.kernel @once grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16, readonly>, #tile.param<extent 0, "R", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %r = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  scf.for %i = %zero to %r step %one : i64 {
    %c = tile.hold %x [point(%i) stride %r within(%zero, %r), span(%zero, 64) stride %one within(%zero, %r)] : !tile.ptr<f32>
    %h = tile.await %c
  }
  tile.return
}
