// SPDX-License-Identifier: MIT
// RUN: tilegym-opt %s --pass-pipeline='builtin.module(tile.kernel(expand-division))' | FileCheck %s

// CHECK-LABEL: tile.kernel @divide
tile.kernel @divide grid 1 [-1] facts <fast> warps 4 params [#tile.param<scalar 0, "a", i64>, #tile.param<scalar 1, "b", i64>] {
  %a = tile.param 0 : i64
  %b = tile.param 1 : i64
  // CHECK-NOT: floordivsi
  // CHECK-NOT: ceildiv
  // CHECK: arith.divsi
  // CHECK: arith.divui
  %f = arith.floordivsi %a, %b : i64
  %c = arith.ceildivsi %a, %b : i64
  %u = arith.ceildivui %a, %b : i64
  // What a target has, stays.
  // CHECK: arith.maximumf
  %x = arith.sitofp %f : i64 to f32
  %y = arith.sitofp %c : i64 to f32
  %m = arith.maximumf %x, %y : f32
  // CHECK: arith.divsi %{{.*}}, %{{.*}} : tensor<8xi64>
  %t = tile.splat %a : tensor<8xi64>
  %s = tile.splat %b : tensor<8xi64>
  %g = arith.floordivsi %t, %s : tensor<8xi64>
  tile.print "{} {} {}" %m, %u, %g : f32, i64, tensor<8xi64>
  tile.return
}
