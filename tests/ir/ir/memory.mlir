// SPDX-License-Identifier: MIT
// Round trip of kernels, parameters and regions.
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @rows grid 1 [2] facts <fast> warps 4 params
// CHECK-SAME: #tile.param<base 0, "x", !tile.ptr<bf16>, divisor = 16, readonly>
// CHECK-SAME: #tile.param<stride 0:1, "x.stride1", i64, divisor = 8, upper = 2147483647>
// CHECK-SAME: math <approx, ftz> knobs {stages = 2 : i64}
tile.kernel @rows grid 1 [2] facts <fast> warps 4 params [
    #tile.param<base 0, "x", !tile.ptr<bf16>, divisor = 16, readonly>, #tile.param<base 1, "y", !tile.ptr<bf16>, divisor = 16>,
    #tile.param<extent 0, "R", i64, upper = 2147483647>, #tile.param<extent 1, "N", i64, divisor = 8, upper = 2147483647>,
    #tile.param<stride 0:1, "x.stride1", i64, divisor = 8, upper = 2147483647>]
    math <approx, ftz> knobs {stages = 2 : i64} {
  // CHECK: %[[x:.*]] = tile.param 0 : !tile.ptr<bf16>
  %x = tile.param 0 : !tile.ptr<bf16>
  %y = tile.param 1 : !tile.ptr<bf16>
  %r = tile.param 2 : i64
  %n = tile.param 3 : i64
  %s = tile.param 4 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %inf = arith.constant 0xFF80 : bf16
  // CHECK: %[[i:.*]] = tile.block_id 0
  %i = tile.block_id 0
  %p = tile.num_blocks 0
  %b = tile.linear_block_id
  // CHECK: %[[t:.*]] = tile.load %[[x]] [point(%[[i]]) stride %{{.*}} within(%c0_i64, %{{.*}}), span(%c0_i64, 1024) stride %c1_i64 below(%c0_i64, %{{.*}})] pad(%{{.*}} : bf16) : !tile.ptr<bf16> -> tensor<1024xbf16>
  %t = tile.load %x[point(%i) stride %s within(%zero, %r), span(%zero, 1024) stride %one below(%zero, %n)] pad(%inf : bf16) : !tile.ptr<bf16> -> tensor<1024xbf16>
  // CHECK: tile.load %{{.*}} [point({{.*}}) stride {{.*}} within({{.*}}), point({{.*}}) stride {{.*}} within({{.*}})] : !tile.ptr<bf16> -> bf16
  %e = tile.load %x[point(%i) stride %s within(%zero, %r), point(%zero) stride %one within(%zero, %n)] : !tile.ptr<bf16> -> bf16
  %m = arith.constant dense<true> : tensor<1024xi1>
  // CHECK: tile.store %[[t]] to %{{.*}} [point({{.*}}) stride {{.*}} from({{.*}}), span({{.*}}, 1024) stride {{.*}} in({{.*}})] mask(%{{.*}} : tensor<1024xi1>) : tensor<1024xbf16> to !tile.ptr<bf16>
  tile.store %t to %y[point(%i) stride %s from(%zero, %r), span(%zero, 1024) stride %one in(%zero, %n)] mask(%m : tensor<1024xi1>) : tensor<1024xbf16> to !tile.ptr<bf16>
  tile.return
}

// CHECK-LABEL: tile.kernel @held
tile.kernel @held grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<bf16>, readonly>, #tile.param<extent 0, "N", i64>] {
  %x = tile.param 0 : !tile.ptr<bf16>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : bf16
  // CHECK: %[[c:.*]] = tile.hold %{{.*}} [point(%{{.*}}) stride %{{.*}} within(%{{.*}}, %{{.*}}), span(%{{.*}}, 4096) stride %{{.*}} below(%{{.*}}, %{{.*}})] : !tile.ptr<bf16>
  %c = tile.hold %x[point(%zero) stride %n within(%zero, %one), span(%zero, 4096) stride %one below(%zero, %n)] : !tile.ptr<bf16>
  // CHECK: %[[r:.*]] = tile.hold_ring 2
  %r = tile.hold_ring 2
  %slot = arith.constant 1 : i32
  %yes = arith.constant true
  // CHECK: tile.hold %{{.*}} [span(%{{.*}}, 64) stride %{{.*}} below(%{{.*}}, %{{.*}})] ring(%[[r]][%{{.*}}] if %{{.*}}) : !tile.ptr<bf16>
  %d = tile.hold %x[span(%zero, 64) stride %one below(%zero, %n)] ring(%r[%slot] if %yes) : !tile.ptr<bf16>
  // CHECK: tile.await %[[r]] turn(%{{.*}}, %{{.*}})
  %i = tile.await %r turn(%slot, %slot)
  // CHECK: %[[h:.*]] = tile.await %[[c]]
  %h = tile.await %c
  // CHECK: tile.load {{.*}} pad(%{{.*}} : bf16) held(%[[h]]) : !tile.ptr<bf16> -> tensor<1024xbf16>
  %t = tile.load %x[point(%zero) stride %n within(%zero, %one), span(%one, 1024) stride %one below(%zero, %n)] pad(%pad : bf16) held(%h) : !tile.ptr<bf16> -> tensor<1024xbf16>
  tile.return
}

// CHECK-LABEL: tile.kernel @gather
tile.kernel @gather grid 1 [-1] facts <general> warps 4 params [#tile.param<base 0, "x", !tile.ptr<i32>>, #tile.param<extent 0, "N", i64>] {
  %x = tile.param 0 : !tile.ptr<i32>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %pad = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %rows = tile.iota 0 : tensor<16xi64>
  %cols = tile.iota 0 : tensor<16xi32>
  // CHECK: tile.load %{{.*}} [gather(%{{.*}} : tensor<16xi64>) stride %{{.*}} in({{.*}}), span({{.*}}, 8) stride {{.*}} in({{.*}}), gather(%{{.*}} : tensor<16xi32>) stride {{.*}} in({{.*}})] group({{.*}}) pad({{.*}} : i32) : !tile.ptr<i32> -> tensor<16x8xi32>
  %t = tile.load %x[gather(%rows : tensor<16xi64>) stride %one in(%zero, %n), span(%zero, 8) stride %one in(%zero, %n), gather(%cols : tensor<16xi32>) stride %one in(%zero, %n)]
       group(%one, %n, %one) pad(%pad : i32) : !tile.ptr<i32> -> tensor<16x8xi32>
  // CHECK: tile.atomic_rmw <add> %{{.*}} to %{{.*}} [gather
  %old = tile.atomic_rmw <add> %cols to %x[gather(%rows : tensor<16xi64>) stride %one in(%zero, %n)] : tensor<16xi32> to !tile.ptr<i32>
  // CHECK: tile.atomic_cas %{{.*}}, %{{.*}} to %{{.*}} [point
  %was = tile.atomic_cas %pad, %pad to %x[point(%zero) stride %one in(%zero, %n)] : i32 to !tile.ptr<i32>
  tile.return
}
