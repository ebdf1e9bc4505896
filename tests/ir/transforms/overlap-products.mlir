// SPDX-License-Identifier: MIT
// A loop's last product goes a trip back where its A follows from another product of the trip. A trip and a product stand outside of the loop for it.
// RUN: tilegym-opt --split-input-file --overlap-products %s | FileCheck %s

// CHECK-LABEL: tile.kernel @lags
tile.kernel @lags grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "k", !tile.ptr<f16>, readonly>, #tile.param<extent 0, "n", i64>] knobs {schedule = 1 : i64} {
  %k = tile.param 0 : !tile.ptr<f16>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 16 : i64
  %pad = arith.constant 0.0 : f16
  %q = arith.constant dense<1.0> : tensor<64x16xf16>
  %none = arith.constant dense<0.0> : tensor<64x16xf32>
  // CHECK: %[[ANY:.*]] = arith.cmpi slt, %c0_i64, %n
  // CHECK-NEXT: scf.if %[[ANY]]
  // CHECK: %[[K0:.*]] = tile.load %k [span(%c0_i64, 16)
  // CHECK-NEXT: %[[S0:.*]] = tile.dot %{{.*}}, %[[K0]], %{{.*}} warpgroups :
  // CHECK-NEXT: %[[E0:.*]] = math.exp2 %[[S0]]
  // CHECK-NEXT: %[[R0:.*]] = arith.mulf
  // CHECK: %[[LOOP:.*]]:2 = scf.for %[[I:.*]] = %{{.*}} to %n step %{{.*}} iter_args(%[[SUM:.*]] = %[[R0]], %[[E:.*]] = %[[E0]])
  // CHECK-NEXT: %[[K:.*]] = tile.load %k [span(%[[I]], 16)
  // CHECK-NEXT: %[[S:.*]] = tile.dot %{{.*}}, %[[K]], %{{.*}} warpgroups in_flight
  // CHECK-NEXT: %[[BEFORE:.*]] = arith.subi %[[I]], %c16_i64
  // CHECK-NEXT: %[[V:.*]] = tile.load %k [span(%[[BEFORE]], 16)
  // CHECK-NEXT: %[[P:.*]] = arith.truncf %[[E]]
  // CHECK-NEXT: %[[D:.*]] = tile.dot %[[P]], %[[V]], %[[SUM]] warpgroups in_flight
  // CHECK-NEXT: %[[S1:.*]] = tile.dot_wait 1(%[[S]])
  // CHECK-NEXT: %[[E1:.*]] = math.exp2 %[[S1]]
  // What the next A is made of is complete before the product is waited for.
  // CHECK-NEXT: %[[E2:.*]] = tile.dot_wait 1(%[[E1]])
  // CHECK-NEXT: %[[DONE:.*]] = tile.dot_wait 0(%[[D]])
  // CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[DONE]],
  // CHECK-NEXT: scf.yield %[[SCALED]], %[[E2]]
  // CHECK: %[[VN:.*]] = tile.load %k
  // CHECK-NEXT: %[[PN:.*]] = arith.truncf %[[LOOP]]#1
  // CHECK-NEXT: %[[LAST:.*]] = tile.dot %[[PN]], %[[VN]], %[[LOOP]]#0 warpgroups :
  // CHECK-NEXT: scf.yield %[[LAST]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield
  %half = arith.constant dense<0.5> : tensor<64x16xf32>
  %r = scf.for %i = %zero to %n step %step iter_args(%sum = %none) -> (tensor<64x16xf32>) : i64 {
    %b = tile.load %k[span(%i, 16) stride %one below(%zero, %n), span(%zero, 16) stride %one within(%zero, %n)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16>
    %s = tile.dot %q, %b, %none warpgroups : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    %e = math.exp2 %s : tensor<64x16xf32>
    %p = arith.truncf %e : tensor<64x16xf32> to tensor<64x16xf16>
    %v = tile.load %k[span(%i, 16) stride %one below(%zero, %n), span(%zero, 16) stride %one within(%zero, %n)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16>
    %scaled = arith.mulf %sum, %half : tensor<64x16xf32>
    %d = tile.dot %p, %v, %scaled warpgroups : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    scf.yield %d : tensor<64x16xf32>
  }
  tile.return
}

// -----

// Not where the trip itself needs the sum.
// CHECK-LABEL: tile.kernel @needed
// CHECK-NOT: in_flight
tile.kernel @needed grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "n", i64>] knobs {schedule = 1 : i64} {
  %n = tile.param 0 : i64
  %zero = arith.constant 0 : i64
  %step = arith.constant 16 : i64
  %q = arith.constant dense<1.0> : tensor<64x16xf16>
  %q2 = arith.constant dense<1.0> : tensor<16x16xf16>
  %none = arith.constant dense<0.0> : tensor<64x16xf32>
  %r = scf.for %i = %zero to %n step %step iter_args(%sum = %none) -> (tensor<64x16xf32>) : i64 {
    %s = tile.dot %q, %q2, %none warpgroups : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    %e = arith.addf %s, %sum : tensor<64x16xf32>
    %p = arith.truncf %e : tensor<64x16xf32> to tensor<64x16xf16>
    %d = tile.dot %p, %q2, %sum warpgroups : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    scf.yield %d : tensor<64x16xf32>
  }
  tile.return
}

// -----

// Nor where the warps that multiply bring the operands themselves, which gains nothing by it.
// CHECK-LABEL: tile.kernel @pipelined
// CHECK-NOT: in_flight
tile.kernel @pipelined grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "n", i64>] {
  %n = tile.param 0 : i64
  %zero = arith.constant 0 : i64
  %step = arith.constant 16 : i64
  %q = arith.constant dense<1.0> : tensor<64x16xf16>
  %q2 = arith.constant dense<1.0> : tensor<16x16xf16>
  %none = arith.constant dense<0.0> : tensor<64x16xf32>
  %r = scf.for %i = %zero to %n step %step iter_args(%sum = %none) -> (tensor<64x16xf32>) : i64 {
    %s = tile.dot %q, %q2, %none warpgroups : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    %p = arith.truncf %s : tensor<64x16xf32> to tensor<64x16xf16>
    %d = tile.dot %p, %q2, %sum warpgroups : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    scf.yield %d : tensor<64x16xf32>
  }
  tile.return
}

// -----

// Nor where nothing follows from the first in the loop but its sum, as in a plain product.
// CHECK-LABEL: tile.kernel @plain
// CHECK-NOT: in_flight
tile.kernel @plain grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "k", !tile.ptr<f16>, readonly>, #tile.param<extent 0, "n", i64>] knobs {schedule = 1 : i64} {
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
