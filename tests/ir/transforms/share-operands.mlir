// SPDX-License-Identifier: MIT
// Operands go through buffers that are laid out for both sides: rows along what is contiguous, swizzled; the product's own results stay in registers.
// RUN: tilegym-opt --split-input-file --share-operands %s | FileCheck %s

// CHECK-DAG: #[[A:.*]] = #tile.layout<"64x64 unit 64x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32] [8,0] [16,0] [32,0]">
// CHECK-DAG: #[[BT:.*]] = #tile.layout<"64x32 unit 64x32 reg [1,0] [2,0] [4,0] [8,0] [16,0] [32,0] [8,1] [16,2] [32,4] [0,8] [0,16]">
// CHECK-LABEL: tile.kernel @transposed
tile.kernel @transposed grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<bf16>, divisor = 16, readonly>,
    #tile.param<base 1, "b", !tile.ptr<bf16>, divisor = 16, readonly>, #tile.param<base 2, "c", !tile.ptr<f32>>, #tile.param<extent 0, "n", i64, divisor = 8>] {
  %a = tile.param 0 : !tile.ptr<bf16>
  %b = tile.param 1 : !tile.ptr<bf16>
  %c = tile.param 2 : !tile.ptr<f32>
  %n = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 64 : i64
  %pad = arith.constant 0.0 : bf16
  %none = arith.constant dense<0.0> : tensor<64x32xf32>
  // CHECK: %[[BUFA:.*]] = tile.alloc : !tile.shared<1, tensor<64x64xbf16, #[[A]]>>
  // CHECK: %[[BUFB:.*]] = tile.alloc : !tile.shared<1, tensor<64x32xbf16, #[[BT]]>>
  // CHECK: scf.for
  %d = scf.for %k = %zero to %n step %step iter_args(%sum = %none) -> (tensor<64x32xf32>) : i64 {
    %x = tile.load %a[span(%zero, 64) stride %n in(%zero, %n), span(%k, 64) stride %one in(%zero, %n)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<64x64xbf16>
    // The transposed load is a load of the transposed region.
    // CHECK: %[[Y:.*]] = tile.load %{{.*}} [span(%{{.*}}, 64) stride %{{.*}} in(%{{.*}}, %{{.*}}), span(%{{.*}}, 32) stride %{{.*}} in(%{{.*}}, %{{.*}})] {{.*}} -> tensor<64x32xbf16>
    // CHECK-NOT: tile.permute
    %y = tile.load %b[span(%zero, 32) stride %n in(%zero, %n), span(%k, 64) stride %one in(%zero, %n)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<32x64xbf16>
    %t = tile.permute %y [1, 0] : tensor<32x64xbf16> to tensor<64x32xbf16>
    // CHECK: %[[SA:.*]] = tile.slot %[[BUFA]][
    // CHECK: tile.put %{{.*}} into %[[SA]]
    // CHECK: %[[SB:.*]] = tile.slot %[[BUFB]][
    // CHECK: tile.put %[[Y]] into %[[SB]]
    // CHECK: tile.dot %[[SA]], %[[SB]], %{{.*}} : !tile.shared<1, {{.*}}>, !tile.shared<1, {{.*}}>, tensor<64x32xf32>
    %e = tile.dot %x, %t, %sum : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    scf.yield %e : tensor<64x32xf32>
  }
  // CHECK: }
  // CHECK-DAG: tile.dealloc %[[BUFA]]
  // CHECK-DAG: tile.dealloc %[[BUFB]]
  tile.store %d to %c[span(%zero, 64) stride %n in(%zero, %n), span(%zero, 32) stride %one in(%zero, %n)] : tensor<64x32xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @chained
tile.kernel @chained grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<f32>>] {
  %a = tile.param 0 : !tile.ptr<f32>
  %zero = arith.constant 0 : i64
  %n = arith.constant 64 : i64
  %x = arith.constant dense<1.0> : tensor<64x64xf16>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: tile.dot %{{.*}} : !tile.shared<1, {{.*}}>, !tile.shared<1,
  %s = tile.dot %x, %x, %none : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  // CHECK: tile.dot %{{.*}} : tensor<64x64xf16>, !tile.shared<1,
  %o = tile.dot %p, %x, %none : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  // A loop may carry what it follows from.
  %one = arith.constant 1 : i64
  %l = scf.for %i = %zero to %n step %one iter_args(%c = %s) -> (tensor<64x64xf32>) : i64 {
    %h = arith.truncf %c : tensor<64x64xf32> to tensor<64x64xf16>
    // CHECK: tile.dot %{{.*}} : tensor<64x64xf16>, !tile.shared<1,
    %e = tile.dot %h, %x, %none : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %e : tensor<64x64xf32>
  }
  tile.store %o to %a[span(%zero, 64) stride %n within(%zero, %n), span(%zero, 64) stride %n within(%zero, %n)] : tensor<64x64xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// For the instructions of warpgroups an operand of 16 bits may lie across K, in whole rows of what one instruction takes (96 columns: 64 bytes);
// one of 8 bits lies along K wherever it comes from.
// CHECK-DAG: #[[B:.*]] = #tile.layout<"64x96 unit 64x32 reg {{.*}} repeat 1x3">
// CHECK-DAG: #[[F8:.*]] = #tile.layout<"32x16 unit 32x16 reg [1,0] [2,0] [4,0] [8,0] [16,0] [0,1] [0,2]{{.*}}">
// CHECK-LABEL: tile.kernel @warpgroups
tile.kernel @warpgroups grid 1 [-1] facts <fast> warps 4 params [] {
  %a = arith.constant dense<1.0> : tensor<64x64xbf16>
  %b = arith.constant dense<1.0> : tensor<64x96xbf16>
  %c = arith.constant dense<0.0> : tensor<64x96xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} warpgroups : !tile.shared<1, tensor<64x64xbf16, #{{.*}}>>, !tile.shared<1, tensor<64x96xbf16, #[[B]]>>
  %d = tile.dot %a, %b, %c warpgroups : tensor<64x64xbf16>, tensor<64x96xbf16>, tensor<64x96xf32>
  %x = arith.constant dense<1.0> : tensor<64x32xf8E4M3FN>
  %y = arith.constant dense<1.0> : tensor<32x16xf8E4M3FN>
  %z = arith.constant dense<0.0> : tensor<64x16xf32>
  // CHECK: tile.dot {{.*}}!tile.shared<1, tensor<32x16xf8E4M3FN, #[[F8]]>>
  %e = tile.dot %x, %y, %z warpgroups : tensor<64x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>, tensor<64x16xf32>
  tile.return
}

// -----

// Warpgroups read `a` or `b` as tf32 from its slot; what that cuts has a slot of its own, filled in front of each product.
// CHECK-LABEL: tile.kernel @rests
tile.kernel @rests grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<f32>, divisor = 16, readonly>, #tile.param<extent 0, "n", i64, divisor = 8>,
    #tile.param<base 1, "c", !tile.ptr<f32>>] {
  %a = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %c = tile.param 2 : !tile.ptr<f32>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 32 : i64
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: %[[BUFA:.*]] = tile.alloc
  // CHECK: %[[BUFB:.*]] = tile.alloc
  // CHECK: %[[REST:.*]] = tile.alloc
  // CHECK: scf.for
  %d = scf.for %k = %zero to %n step %step iter_args(%sum = %none) -> (tensor<64x64xf32>) : i64 {
    %x = tile.load %a[span(%zero, 64) stride %n in(%zero, %n), span(%k, 32) stride %one in(%zero, %n)] pad(%pad : f32) : !tile.ptr<f32> -> tensor<64x32xf32>
    %y = tile.load %a[span(%k, 32) stride %one in(%zero, %n), span(%zero, 64) stride %n in(%zero, %n)] pad(%pad : f32) : !tile.ptr<f32> -> tensor<32x64xf32>
    // CHECK: %[[SA:.*]] = tile.slot %[[BUFA]][
    // CHECK: %[[SB:.*]] = tile.slot %[[BUFB]][
    // CHECK: %[[SR:.*]] = tile.slot %[[REST]][
    // CHECK: tile.put_rest %[[SB]] into %[[SR]] : !tile.shared<1, tensor<32x64xf32
    // CHECK: tile.dot %[[SA]], %[[SB]], %{{.*}} rest %[[SR]] : !tile.shared<1, tensor<32x64xf32, {{.*}}>> precision <tf32x3> warpgroups
    %e = tile.dot %x, %y, %sum precision <tf32x3> warpgroups : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    scf.yield %e : tensor<64x64xf32>
  }
  // CHECK: tile.dealloc %[[REST]]
  tile.store %d to %c[span(%zero, 64) stride %n in(%zero, %n), span(%zero, 64) stride %one in(%zero, %n)] : tensor<64x64xf32> to !tile.ptr<f32>
  tile.return
}
