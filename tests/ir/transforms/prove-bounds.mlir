// SPDX-License-Identifier: MIT
// RUN: tilegym-opt %s --pass-pipeline='builtin.module(tile.kernel(prove-bounds))' | FileCheck %s

// CHECK-LABEL: tile.kernel @prove
tile.kernel @prove grid 2 [1, -1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>>, #tile.param<extent 0, "R", i64, upper = 2147483647>,
    #tile.param<extent 1, "N", i64, upper = 2147483647>, #tile.param<scalar 0, "k", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %r = tile.param 1 : i64
  %n = tile.param 2 : i64
  %k = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %pad = arith.constant 0.0 : f32
  %i = tile.block_id 0
  %j = tile.block_id 1
  // The grid's first extent is R, so its position is a row; of the second nothing but its sign is known. A load that cannot miss needs no pad.
  // CHECK: tile.load %x [point({{.*}}) stride {{.*}} within({{.*}}), span(%c64{{.*}}, 64) stride {{.*}} within({{.*}})] : !tile.ptr<f32> -> tensor<64xf32>
  %a = tile.load %x [point(%i) stride %one in(%zero, %r), span(%c64, 64) stride %one in(%zero, %c128)] pad(%pad : f32) : !tile.ptr<f32> -> tensor<64xf32>
  // CHECK: tile.load %x [point({{.*}}) stride {{.*}} below({{.*}}), span({{.*}}, 64) stride {{.*}} below({{.*}})] pad({{.*}} : f32)
  %b = tile.load %x [point(%j) stride %one in(%zero, %r), span(%c64, 64) stride %one in(%zero, %n)] pad(%pad : f32) : !tile.ptr<f32> -> tensor<64xf32>
  // A scalar may be anything; one past the end is not inside.
  // CHECK: tile.load %x [point({{.*}}) stride {{.*}} in({{.*}}), span({{.*}}, 65) stride {{.*}} below({{.*}})] pad({{.*}} : f32)
  %c = tile.load %x [point(%k) stride %one in(%zero, %r), span(%c64, 65) stride %one in(%zero, %c128)] pad(%pad : f32) : !tile.ptr<f32> -> tensor<65xf32>
  scf.for %l = %zero to %n step %one : i64 {
    // CHECK: scf.for
    // CHECK: tile.store {{.*}} [point(%{{.*}}) stride {{.*}} within({{.*}})]
    tile.store %pad to %x [point(%l) stride %one in(%zero, %n)] : f32 to !tile.ptr<f32>
    // CHECK: tile.store {{.*}} [point(%{{.*}}) stride {{.*}} below({{.*}})]
    tile.store %pad to %x [point(%l) stride %one in(%zero, %r)] : f32 to !tile.ptr<f32>
  }
  // A gather's indices have a range, too.
  // CHECK: tile.load %x [gather({{.*}}) stride {{.*}} within({{.*}})] : !tile.ptr<f32> -> tensor<128xf32>
  %rows = tile.iota 0 : tensor<128xi64>
  %d = tile.load %x [gather(%rows : tensor<128xi64>) stride %one in(%zero, %c128)] pad(%pad : f32) : !tile.ptr<f32> -> tensor<128xf32>
  tile.print "{} {} {} {}" %a, %b, %c, %d : tensor<64xf32>, tensor<64xf32>, tensor<65xf32>, tensor<128xf32>
  tile.return
}
