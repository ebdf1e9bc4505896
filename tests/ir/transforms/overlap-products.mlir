// SPDX-License-Identifier: MIT
// A loop's first product goes a trip ahead where another's A follows from it, and nothing but the induction variable decides what it multiplies.
// RUN: tilegym-opt --split-input-file --overlap-products %s | FileCheck %s

// CHECK-LABEL: tile.kernel @ahead
tile.kernel @ahead grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "k", !tile.ptr<f16>, readonly>, #tile.param<extent 0, "n", i64>] {
  %k = tile.param 0 : !tile.ptr<f16>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 16 : i64
  %pad = arith.constant 0.0 : f16
  %q = arith.constant dense<1.0> : tensor<64x16xf16>
  %q2 = arith.constant dense<1.0> : tensor<16x16xf16>
  %none = arith.constant dense<0.0> : tensor<64x16xf32>
  // CHECK: %[[LOAD0:.*]] = tile.load %k [span(%c0_i64, 16)
  // CHECK: %[[FIRST:.*]] = tile.dot %{{.*}}, %[[LOAD0]], %{{.*}} warpgroups :
  // CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[S:.*]] = %[[FIRST]])
  // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[I]], %c16_i64
  // CHECK-NEXT: %[[LOAD:.*]] = tile.load %k [span(%[[NEXT]], 16)
  // CHECK-NEXT: %[[AHEAD:.*]] = tile.dot %{{.*}}, %[[LOAD]], %{{.*}} warpgroups in_flight
  // CHECK-NEXT: %[[P:.*]] = arith.truncf %[[S]]
  // CHECK-NEXT: %[[D:.*]] = tile.dot %[[P]], %{{.*}}, %[[SUM]] warpgroups :
  // CHECK-NEXT: %[[DONE:.*]] = tile.dot_wait 0(%[[AHEAD]])
  // CHECK-NEXT: scf.yield %[[D]], %[[DONE]]
  %r = scf.for %i = %zero to %n step %step iter_args(%sum = %none) -> (tensor<64x16xf32>) : i64 {
    %b = tile.load %k[span(%i, 16) stride %one below(%zero, %n), span(%zero, 16) stride %one within(%zero, %n)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16>
    %s = tile.dot %q, %b, %none warpgroups : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    %p = arith.truncf %s : tensor<64x16xf32> to tensor<64x16xf16>
    %d = tile.dot %p, %q2, %sum warpgroups : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    scf.yield %d : tensor<64x16xf32>
  }
  tile.return
}

// -----

// Not where the load would leave the tensor behind the last trip: its bound was proved by the loop's.
// CHECK-LABEL: tile.kernel @unchecked
// CHECK-NOT: in_flight
tile.kernel @unchecked grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "k", !tile.ptr<f16>, readonly>, #tile.param<extent 0, "n", i64>] {
  %k = tile.param 0 : !tile.ptr<f16>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 16 : i64
  %q = arith.constant dense<1.0> : tensor<64x16xf16>
  %q2 = arith.constant dense<1.0> : tensor<16x16xf16>
  %none = arith.constant dense<0.0> : tensor<64x16xf32>
  %r = scf.for %i = %zero to %n step %step iter_args(%sum = %none) -> (tensor<64x16xf32>) : i64 {
    %b = tile.load %k[span(%i, 16) stride %one within(%zero, %n), span(%zero, 16) stride %one within(%zero, %n)] : !tile.ptr<f16> -> tensor<16x16xf16>
    %s = tile.dot %q, %b, %none warpgroups : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    %p = arith.truncf %s : tensor<64x16xf32> to tensor<64x16xf16>
    %d = tile.dot %p, %q2, %sum warpgroups : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    scf.yield %d : tensor<64x16xf32>
  }
  tile.return
}

// -----

// Nor where nothing follows from it in the loop but its sum, as in a plain product.
// CHECK-LABEL: tile.kernel @plain
// CHECK-NOT: in_flight
tile.kernel @plain grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "k", !tile.ptr<f16>, readonly>, #tile.param<extent 0, "n", i64>] {
  %k = tile.param 0 : !tile.ptr<f16>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 16 : i64
  %pad = arith.constant 0.0 : f16
  %q = arith.constant dense<1.0> : tensor<64x16xf16>
  %none = arith.constant dense<0.0> : tensor<64x16xf32>
  %r = scf.for %i = %zero to %n step %step iter_args(%sum = %none) -> (tensor<64x16xf32>) : i64 {
    %b = tile.load %k[span(%i, 16) stride %one below(%zero, %n), span(%zero, 16) stride %one within(%zero, %n)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16>
    %s = tile.dot %q, %b, %none warpgroups : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    %d = arith.addf %s, %sum : tensor<64x16xf32>
    scf.yield %d : tensor<64x16xf32>
  }
  tile.return
}
