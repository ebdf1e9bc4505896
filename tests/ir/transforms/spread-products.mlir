// SPDX-License-Identifier: MIT
// Each block of a cluster makes a part of a product's rows, or of its columns, with all that is made of them; the other operand is whole in each.
// RUN: tilegym-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(spread-products))' | FileCheck %s

// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: knobs {spread = 2 : i64}
tile.kernel @rows grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<f16>, readonly>, #tile.param<base 1, "c", !tile.ptr<f32>>,
    #tile.param<extent 0, "n", i64>] knobs {ctas = 2 : i64} {
  %a = tile.param 0 : !tile.ptr<f16>
  %c = tile.param 1 : !tile.ptr<f32>
  %n = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 32 : i64
  %pad = arith.constant 0.0 : f16
  %none = arith.constant dense<0.0> : tensor<128x32xf32>
  // CHECK: %[[RANK:.*]] = tile.cluster_rank
  // CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<64x32xf32>)
  %r = scf.for %k = %zero to %n step %step iter_args(%sum = %none) -> (tensor<128x32xf32>) : i64 {
    // CHECK: %[[ROWS:.*]] = arith.constant 64 : i64
    // CHECK: %[[BY:.*]] = arith.muli %[[RANK]], %[[ROWS]]
    // CHECK: %[[I:.*]] = arith.addi %{{.*}}, %[[BY]]
    // CHECK: %[[X:.*]] = tile.load %a [span(%[[I]], 64) {{.*}}, span(%[[K]], 32) {{.*}} -> tensor<64x32xf16>
    %x = tile.load %a[span(%zero, 128) stride %n below(%zero, %n), span(%k, 32) stride %one below(%zero, %n)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<128x32xf16>
    // CHECK: %[[Y:.*]] = tile.load %a [span(%[[K]], 32) {{.*}}, span(%{{.*}}, 32) {{.*}} -> tensor<32x32xf16>
    %y = tile.load %a[span(%k, 32) stride %n below(%zero, %n), span(%zero, 32) stride %one below(%zero, %n)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<32x32xf16>
    // CHECK: tile.dot %[[X]], %[[Y]], %[[ACC]] : tensor<64x32xf16>, tensor<32x32xf16>, tensor<64x32xf32>
    %s = tile.dot %x, %y, %sum : tensor<128x32xf16>, tensor<32x32xf16>, tensor<128x32xf32>
    scf.yield %s : tensor<128x32xf32>
  }
  // The rows' numbers are the block's own; the columns' are the same in each.
  // CHECK: tile.iota 0 : tensor<64xi64>
  // CHECK: %[[BEGIN:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
  // CHECK: tile.splat %[[BEGIN]] : tensor<64xi64>
  // CHECK: %[[OWN:.*]] = arith.addi %{{.*}} : tensor<64xi64>
  // CHECK: tile.reshape %[[OWN]] : tensor<64xi64> to tensor<64x1xi64>
  %i = tile.iota 0 : tensor<128xi64>
  %ic = tile.reshape %i : tensor<128xi64> to tensor<128x1xi64>
  %ib = tile.broadcast %ic : tensor<128x1xi64> to tensor<128x32xi64>
  // CHECK: %[[COLUMNS:.*]] = tile.iota 1 : tensor<1x32xi64>
  // CHECK: tile.broadcast %[[COLUMNS]] : tensor<1x32xi64> to tensor<64x32xi64>
  %j = tile.iota 1 : tensor<1x32xi64>
  %jb = tile.broadcast %j : tensor<1x32xi64> to tensor<128x32xi64>
  %below = arith.cmpi sle, %jb, %ib : tensor<128x32xi64>
  %kept = arith.select %below, %r, %none : tensor<128x32xi1>, tensor<128x32xf32>
  // CHECK: tile.reduce <max> %{{.*}} [1] : tensor<64x32xf32> to tensor<64x1xf32>
  %m = tile.reduce <max> %kept [1] : tensor<128x32xf32> to tensor<128x1xf32>
  %mb = tile.broadcast %m : tensor<128x1xf32> to tensor<128x32xf32>
  %d0 = arith.subf %kept, %mb : tensor<128x32xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<64x32xf32> to tensor<64x4x8xf32>
  %parts = tile.reshape %d0 : tensor<128x32xf32> to tensor<128x4x8xf32>
  %d = tile.reshape %parts : tensor<128x4x8xf32> to tensor<128x32xf32>
  // CHECK: tile.store %{{.*}} to %c [span(%{{.*}}, 64) {{.*}}, span(%{{.*}}, 32) {{.*}} : tensor<64x32xf32>
  tile.store %d to %c[span(%zero, 128) stride %n below(%zero, %n), span(%zero, 32) stride %one below(%zero, %n)] : tensor<128x32xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// Rows that are too few for the warpgroups stay together.
// CHECK-LABEL: tile.kernel @columns
tile.kernel @columns grid 1 [-1] facts <fast> warps 8 params [#tile.param<base 0, "a", !tile.ptr<f16>, readonly>, #tile.param<base 1, "c", !tile.ptr<f32>>,
    #tile.param<extent 0, "n", i64>] knobs {ctas = 4 : i64} {
  %a = tile.param 0 : !tile.ptr<f16>
  %c = tile.param 1 : !tile.ptr<f32>
  %n = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  // CHECK: tile.load {{.*}} -> tensor<128x32xf16>
  // CHECK: tile.load {{.*}} -> tensor<32x16xf16>
  // CHECK: tile.dot {{.*}} : tensor<128x32xf16>, tensor<32x16xf16>, tensor<128x16xf32>
  // CHECK: tile.permute %{{.*}} [1, 0] : tensor<128x16xf32> to tensor<16x128xf32>
  // CHECK: tile.store {{.*}} : tensor<16x128xf32>
  %x = tile.load %a[span(%zero, 128) stride %n within(%zero, %n), span(%zero, 32) stride %one within(%zero, %n)] : !tile.ptr<f16> -> tensor<128x32xf16>
  %y = tile.load %a[span(%zero, 32) stride %n within(%zero, %n), span(%zero, 64) stride %one within(%zero, %n)] : !tile.ptr<f16> -> tensor<32x64xf16>
  %s = tile.dot %x, %y, %none : tensor<128x32xf16>, tensor<32x64xf16>, tensor<128x64xf32>
  %t = tile.permute %s [1, 0] : tensor<128x64xf32> to tensor<64x128xf32>
  tile.store %t to %c[span(%zero, 64) stride %n within(%zero, %n), span(%zero, 128) stride %one within(%zero, %n)] : tensor<64x128xf32> to !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @sums_rows grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "c", !tile.ptr<f32>>, #tile.param<extent 0, "n", i64>] knobs {ctas = 2 : i64} {
  %c = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %x = arith.constant dense<1.0> : tensor<128x32xf16>
  %y = arith.constant dense<1.0> : tensor<32x32xf16>
  %none = arith.constant dense<0.0> : tensor<128x32xf32>
  %s = tile.dot %x, %y, %none : tensor<128x32xf16>, tensor<32x32xf16>, tensor<128x32xf32>
  // expected-error @below {{`ctas` cannot spread this kernel's products: this reduces along what the blocks would share}}
  // expected-note @below {{each block of a cluster makes equal parts of all tiles along the rows, or the columns, of a product: give this kernel `ctas = 1`}}
  %m = tile.reduce <sum> %s [0] : tensor<128x32xf32> to tensor<1x32xf32>
  tile.store %m to %c[span(%zero, 1) stride %n within(%zero, %n), span(%zero, 32) stride %one within(%zero, %n)] : tensor<1x32xf32> to !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @stores_all grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "c", !tile.ptr<f16>>, #tile.param<extent 0, "n", i64>] knobs {ctas = 2 : i64} {
  %c = tile.param 0 : !tile.ptr<f16>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %x = arith.constant dense<1.0> : tensor<128x32xf16>
  %y = arith.constant dense<1.0> : tensor<32x32xf16>
  %none = arith.constant dense<0.0> : tensor<128x32xf32>
  %s = tile.dot %x, %y, %none : tensor<128x32xf16>, tensor<32x32xf16>, tensor<128x32xf32>
  // expected-error @below {{this would be done by each block of the cluster}}
  // expected-note @below {{give this kernel `ctas = 1`}}
  tile.store %y to %c[span(%zero, 32) stride %n within(%zero, %n), span(%zero, 32) stride %one within(%zero, %n)] : tensor<32x32xf16> to !tile.ptr<f16>
  tile.return
}

// -----

tile.kernel @feeds_itself grid 1 [-1] facts <fast> warps 4 params [] knobs {ctas = 2 : i64} {
  %x = arith.constant dense<1.0> : tensor<128x128xf16>
  %none = arith.constant dense<0.0> : tensor<128x128xf32>
  %s = tile.dot %x, %x, %none : tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32>
  %h = arith.truncf %s : tensor<128x128xf32> to tensor<128x128xf16>
  // expected-error @below {{this sums along what the blocks would share}}
  // expected-note @below {{give this kernel `ctas = 1`}}
  %t = tile.dot %x, %h, %none : tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32>
  tile.return
}

// -----

tile.kernel @too_small grid 1 [-1] facts <fast> warps 4 params [] knobs {ctas = 8 : i64} {
  %x = arith.constant dense<1.0> : tensor<64x32xf16>
  %y = arith.constant dense<1.0> : tensor<32x32xf16>
  %none = arith.constant dense<0.0> : tensor<64x32xf32>
  // expected-error @below {{this has 64 rows and 32 columns, neither of which 8 blocks of 4 warps can share}}
  // expected-note @below {{give this kernel `ctas = 1`}}
  %s = tile.dot %x, %y, %none : tensor<64x32xf16>, tensor<32x32xf16>, tensor<64x32xf32>
  tile.return
}

// -----

tile.kernel @scans grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "c", !tile.ptr<f32>>, #tile.param<extent 0, "n", i64>] knobs {ctas = 2 : i64} {
  %c = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %x = arith.constant dense<1.0> : tensor<128x32xf16>
  %y = arith.constant dense<1.0> : tensor<32x32xf16>
  %none = arith.constant dense<0.0> : tensor<128x32xf32>
  %s = tile.dot %x, %y, %none : tensor<128x32xf16>, tensor<32x32xf16>, tensor<128x32xf32>
  // expected-error @below {{this takes or gives a tile as a whole}}
  // expected-note @below {{give this kernel `ctas = 1`}}
  %m = tile.extract %s [0, 0] : tensor<128x32xf32> to tensor<64x32xf32>
  tile.store %m to %c[span(%zero, 64) stride %n within(%zero, %n), span(%zero, 32) stride %one within(%zero, %n)] : tensor<64x32xf32> to !tile.ptr<f32>
  tile.return
}
