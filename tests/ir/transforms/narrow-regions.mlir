// SPDX-License-Identifier: MIT
// RUN: tilegym-opt %s --pass-pipeline='builtin.module(tile.kernel(narrow-regions,canonicalize))' | FileCheck %s

// CHECK-LABEL: tile.kernel @fast
tile.kernel @fast grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>>, #tile.param<extent 0, "N", i64, upper = 2146435072>,
    #tile.param<scalar 0, "k", i64>, #tile.param<scalar 1, "j", i32>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %k = tile.param 2 : i64
  %j = tile.param 3 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : f32
  // What fits is cut to 32 bits; the index of 32 bits that was widened is itself.
  // CHECK: %[[b:.*]] = tile.linear_block_id
  // CHECK: %[[b32:.*]] = arith.trunci %[[b]] : i64 to i32
  // CHECK: tile.load %x [point(%[[b32]] : i32)
  %b = tile.linear_block_id
  %t = tile.load %x [point(%b) stride %one in(%zero, %n)] pad(%pad : f32) : !tile.ptr<f32> -> f32
  // CHECK: tile.load %x [point(%j : i32)
  %wide = arith.extsi %j : i32 to i64
  %u = tile.load %x [point(%wide) stride %one in(%zero, %n)] pad(%pad : f32) : !tile.ptr<f32> -> f32
  // What may not is clamped: 2^31 - 64 is the last start of a span of 64 that does not overflow. An unchecked bound stays.
  // CHECK: %[[low:.*]] = arith.maxsi %k, %c-2147483648_i64
  // CHECK: %[[high:.*]] = arith.minsi %[[low]], %c2147483584_i64
  // CHECK: %[[k32:.*]] = arith.trunci %[[high]] : i64 to i32
  // CHECK: %[[bound:.*]] = arith.maxsi %k, %c-2147483648_i64
  // CHECK: %[[upper:.*]] = arith.minsi %[[bound]], %c2147483647_i64
  // CHECK: tile.load %x [span(%[[k32]] : i32, 64) stride %{{.*}} below(%k, %[[upper]])]
  %v = tile.load %x [span(%k, 64) stride %one below(%k, %k)] pad(%pad : f32) : !tile.ptr<f32> -> tensor<64xf32>
  // CHECK: tile.load %x [gather(%{{.*}} : tensor<8xi32>)
  %rows = tile.iota 0 : tensor<8xi64>
  %w = tile.load %x [gather(%rows : tensor<8xi64>) stride %one in(%zero, %n)] pad(%pad : f32) : !tile.ptr<f32> -> tensor<8xf32>
  tile.print "{} {} {} {}" %t, %u, %v, %w : f32, f32, tensor<64xf32>, tensor<8xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @general
tile.kernel @general grid 1 [-1] facts <general> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>>, #tile.param<extent 0, "N", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : f32
  // CHECK: tile.store %{{.*}} to %x [point(%{{[^ :]*}}) stride
  %b = tile.linear_block_id
  tile.store %pad to %x [point(%b) stride %one in(%zero, %n)] : f32 to !tile.ptr<f32>
  tile.return
}
