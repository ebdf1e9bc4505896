// Each block of the cluster takes a part of the loop; what follows the sum is for the first alone.
// RUN: tilegym-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(split-reduction))' | FileCheck %s

// CHECK-LABEL: tile.kernel @split
tile.kernel @split grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<f16>, readonly>, #tile.param<base 1, "c", !tile.ptr<f32>>,
    #tile.param<extent 0, "n", i64>] knobs {split_k = 3 : i64} {
  %a = tile.param 0 : !tile.ptr<f16>
  %n = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 16 : i64
  %pad = arith.constant 0.0 : f16
  %q = arith.constant dense<1.0> : tensor<64x16xf16>
  %none = arith.constant dense<0.0> : tensor<64x16xf32>
  // CHECK: %[[RANK:.*]] = tile.cluster_rank
  // CHECK: %[[SPAN:.*]] = arith.subi %n, %[[ZERO:.*]] : i64
  // CHECK: %[[TRIPS:.*]] = arith.divui %{{.*}}, %[[STEP:.*]] : i64
  // CHECK: %[[TWO:.*]] = arith.constant 2 : i64
  // CHECK: arith.addi %[[TRIPS]], %[[TWO]]
  // CHECK: %[[THREE:.*]] = arith.constant 3 : i64
  // CHECK: %[[PART:.*]] = arith.divui %{{.*}}, %[[THREE]]
  // CHECK: %[[LENGTH:.*]] = arith.muli %[[PART]], %[[STEP]]
  // CHECK: %[[BEGIN:.*]] = arith.muli %[[RANK]], %[[LENGTH]]
  // CHECK: %[[FROM:.*]] = arith.addi %[[ZERO]], %[[BEGIN]]
  // CHECK: %[[NEXT:.*]] = arith.addi %[[FROM]], %[[LENGTH]]
  // CHECK: %[[TO:.*]] = arith.minsi %n, %[[NEXT]]
  // CHECK: %[[ACC:.*]] = scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %[[STEP]]
  %r = scf.for %i = %zero to %n step %step iter_args(%sum = %none) -> (tensor<64x16xf32>) : i64 {
    %b = tile.load %a[span(%i, 16) stride %one below(%zero, %n), span(%zero, 16) stride %one within(%zero, %n)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16>
    %s = tile.dot %q, %b, %sum : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    scf.yield %s : tensor<64x16xf32>
  }
  // CHECK: %[[SUM:.*]] = tile.split_sum %[[ACC]] : tensor<64x16xf32>
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[RANK]],
  // CHECK: %c = tile.param 1
  // CHECK-NEXT: scf.if %[[FIRST]] {
  // CHECK-NEXT: tile.store %[[SUM]] to %c [
  // CHECK: tile.return
  %c = tile.param 1 : !tile.ptr<f32>
  tile.store %r to %c[span(%zero, 64) stride %n within(%zero, %n), span(%zero, 16) stride %one within(%zero, %n)] : tensor<64x16xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// What is stored before the loop would be stored by all.
// expected-error @below {{has no reduction that `split_k` can split}}
// expected-note @below {{it splits a loop of the kernel's own, not within another, that adds one product to zeros, before anything is stored, and not with `ctas`: give this kernel `split_k = 1`}}
tile.kernel @stores_before grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<f16>, readonly>, #tile.param<base 1, "c", !tile.ptr<f32>>,
    #tile.param<extent 0, "n", i64>] knobs {split_k = 2 : i64} {
  %a = tile.param 0 : !tile.ptr<f16>
  %c = tile.param 1 : !tile.ptr<f32>
  %n = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 16 : i64
  %pad = arith.constant 0.0 : f16
  %q = arith.constant dense<1.0> : tensor<64x16xf16>
  %none = arith.constant dense<0.0> : tensor<64x16xf32>
  tile.store %none to %c[span(%zero, 64) stride %n within(%zero, %n), span(%zero, 16) stride %one within(%zero, %n)] : tensor<64x16xf32> to !tile.ptr<f32>
  %r = scf.for %i = %zero to %n step %step iter_args(%sum = %none) -> (tensor<64x16xf32>) : i64 {
    %b = tile.load %a[span(%i, 16) stride %one below(%zero, %n), span(%zero, 16) stride %one within(%zero, %n)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16>
    %s = tile.dot %q, %b, %sum : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    scf.yield %s : tensor<64x16xf32>
  }
  tile.store %r to %c[span(%zero, 64) stride %n within(%zero, %n), span(%zero, 16) stride %one within(%zero, %n)] : tensor<64x16xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// A sum that does not begin at zero would be counted once for each part.
// expected-error @below {{has no reduction that `split_k` can split}}
// expected-note @below {{give this kernel `split_k = 1`}}
tile.kernel @from_one grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<f16>, readonly>, #tile.param<extent 0, "n", i64>] knobs {split_k = 2 : i64} {
  %a = tile.param 0 : !tile.ptr<f16>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 16 : i64
  %pad = arith.constant 0.0 : f16
  %q = arith.constant dense<1.0> : tensor<64x16xf16>
  %ones = arith.constant dense<1.0> : tensor<64x16xf32>
  %r = scf.for %i = %zero to %n step %step iter_args(%sum = %ones) -> (tensor<64x16xf32>) : i64 {
    %b = tile.load %a[span(%i, 16) stride %one below(%zero, %n), span(%zero, 16) stride %one within(%zero, %n)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16>
    %s = tile.dot %q, %b, %sum : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    scf.yield %s : tensor<64x16xf32>
  }
  tile.return
}

// -----

// The blocks of a cluster have their ranks once: those of `ctas` cannot be parts, too.
// expected-error @below {{has no reduction that `split_k` can split}}
// expected-note @below {{not with `ctas`}}
tile.kernel @tiles_of_a_cluster grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<f16>, readonly>, #tile.param<extent 0, "n", i64>] knobs {ctas = 2 : i64, split_k = 2 : i64} {
  %a = tile.param 0 : !tile.ptr<f16>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 16 : i64
  %pad = arith.constant 0.0 : f16
  %q = arith.constant dense<1.0> : tensor<64x16xf16>
  %none = arith.constant dense<0.0> : tensor<64x16xf32>
  %r = scf.for %i = %zero to %n step %step iter_args(%sum = %none) -> (tensor<64x16xf32>) : i64 {
    %b = tile.load %a[span(%i, 16) stride %one below(%zero, %n), span(%zero, 16) stride %one within(%zero, %n)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16>
    %s = tile.dot %q, %b, %sum : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    scf.yield %s : tensor<64x16xf32>
  }
  tile.return
}

// -----

// Nor where `ctas` was for a product, which has been spread by now.
// expected-error @below {{has no reduction that `split_k` can split}}
// expected-note @below {{not with `ctas`}}
tile.kernel @product_of_a_cluster grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<f16>, readonly>, #tile.param<extent 0, "n", i64>] knobs {spread = 2 : i64, split_k = 2 : i64} {
  %a = tile.param 0 : !tile.ptr<f16>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 16 : i64
  %pad = arith.constant 0.0 : f16
  %q = arith.constant dense<1.0> : tensor<64x16xf16>
  %none = arith.constant dense<0.0> : tensor<64x16xf32>
  %r = scf.for %i = %zero to %n step %step iter_args(%sum = %none) -> (tensor<64x16xf32>) : i64 {
    %b = tile.load %a[span(%i, 16) stride %one below(%zero, %n), span(%zero, 16) stride %one within(%zero, %n)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16>
    %s = tile.dot %q, %b, %sum : tensor<64x16xf16>, tensor<16x16xf16>, tensor<64x16xf32>
    scf.yield %s : tensor<64x16xf32>
  }
  tile.return
}
