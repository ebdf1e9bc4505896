// SPDX-License-Identifier: MIT
// RUN: tilegym-opt %s --pass-pipeline='builtin.module(tile.kernel(split-masked-loops))' | FileCheck %s
// RUN: tilegym-opt %s --pass-pipeline='builtin.module(tile.kernel(split-masked-loops{max-ops=1}))' | FileCheck %s --check-prefix=SMALL

// SMALL-COUNT-5: scf.for
// SMALL-NOT: scf.for

// The first loop runs to the last whole tile; the second goes on from there with what the first has summed.
// CHECK-LABEL: tile.kernel @whole
tile.kernel @whole grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>>, #tile.param<extent 1, "N", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %bn = arith.constant 64 : i64
  %pad = arith.constant 0.0 : f32
  // CHECK: %[[tiles:.*]] = arith.divui %N, %c64{{.*}} : i64
  // CHECK: %[[end:.*]] = arith.muli %[[tiles]], %c64{{.*}} : i64
  // CHECK: %[[main:.*]] = scf.for %{{.*}} = %c0{{.*}} to %[[end]] step %c64{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f32)
  // CHECK: tile.load %x [span(%{{.*}}, 64) stride %{{.*}} from(%{{.*}}, %N)]
  // CHECK: %[[rest:.*]] = scf.for %{{.*}} = %[[end]] to %N step %c64{{.*}} iter_args(%{{.*}} = %[[main]]) -> (f32)
  // CHECK: tile.load %x [span(%{{.*}}, 64) stride %{{.*}} in(%{{.*}}, %N)]
  // CHECK: tile.print "{}" %[[rest]]
  %sum = scf.for %c = %zero to %n step %bn iter_args(%s = %pad) -> (f32) : i64 {
    %t = tile.load %x [span(%c, 64) stride %one in(%zero, %n)] pad(%pad : f32) : !tile.ptr<f32> -> tensor<64xf32>
    %u = tile.reduce <sum> %t [0] : tensor<64xf32> to f32
    %v = arith.addf %s, %u : f32
    scf.yield %v : f32
  }
  tile.print "{}" %sum : f32
  tile.return
}

// Tiles by number, from an offset and a start that are not zero: the trips are counted.
// CHECK-LABEL: tile.kernel @general
tile.kernel @general grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>>, #tile.param<extent 1, "N", i64>,
    #tile.param<scalar 0, "from", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %from = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %bn = arith.constant 64 : i64
  %ones = arith.constant dense<1.0> : tensor<64xf32>
  // CHECK: %[[left:.*]] = arith.subi %N, %from : i64
  // CHECK: %[[room:.*]] = arith.subi %[[left]], %c64{{.*}} : i64
  // CHECK: %[[last:.*]] = arith.floordivsi %[[room]], %c64{{.*}} : i64
  // CHECK: %[[trips:.*]] = arith.ceildivsi %{{.*}}, %c1{{.*}} : i64
  // CHECK: %[[end:.*]] = arith.addi %from, %{{.*}} : i64
  // CHECK: scf.for
  // CHECK: tile.store {{.*}} from(
  // CHECK: scf.for %{{.*}} = %[[end]] to
  // CHECK: tile.store {{.*}} in(
  scf.for %k = %from to %n step %one : i64 {
    %p = arith.muli %k, %bn : i64
    %o = arith.addi %p, %from : i64
    tile.store %ones to %x [span(%o, 64) stride %one in(%zero, %n)] : tensor<64xf32> to !tile.ptr<f32>
  }
  tile.return
}

// What does not move, or is proved to be inside, splits nothing.
// CHECK-LABEL: tile.kernel @fixed
tile.kernel @fixed grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>>, #tile.param<extent 1, "N", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ones = arith.constant dense<1.0> : tensor<64xf32>
  // CHECK-COUNT-2: scf.for
  // CHECK-NOT: scf.for
  scf.for %k = %zero to %n step %one : i64 {
    tile.store %ones to %x [point(%k) stride %one in(%zero, %n), span(%zero, 64) stride %one in(%zero, %n)] : tensor<64xf32> to !tile.ptr<f32>
  }
  scf.for %k = %zero to %n step %one : i64 {
    tile.store %ones to %x [span(%k, 64) stride %one from(%zero, %n)] : tensor<64xf32> to !tile.ptr<f32>
  }
  tile.return
}

// Nor one with a matrix product: its operands are filled with zeros beyond the bounds at no cost.
// CHECK-LABEL: tile.kernel @product
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
tile.kernel @product grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f16>>, #tile.param<extent 0, "n", i64>] {
  %x = tile.param 0 : !tile.ptr<f16>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 16 : i64
  %pad = arith.constant 0.0 : f16
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = scf.for %k = %zero to %n step %step iter_args(%sum = %none) -> (tensor<16x16xf32>) : i64 {
    %a = tile.load %x [span(%zero, 16) stride %n within(%zero, %n), span(%k, 16) stride %one in(%zero, %n)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16>
    %e = tile.dot %a, %a, %sum : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  tile.return
}
