// SPDX-License-Identifier: MIT
// The first `stages` - 1 trips' copies in front of the loop, the others that far ahead in it; a load that cannot be copied asynchronously stays.
// RUN: tilegym-opt --split-input-file --pipeline-loads --cse %s | FileCheck %s

#acc = #tile.layout<"16x16 unit 16x16 reg [0,1] [8,0] [0,8] lane [0,2] [0,4] [1,0] [2,0] [4,0]">
#by = #tile.layout<"16x16 unit 16x16 reg [0,1] [0,2] [0,4] lane [0,8] [1,0] [2,0] [4,0] [8,0]">
#s = #tile.layout<"16x16 unit 16x16 reg [0,1] [0,2] [0,4] [0,8] [1,0] [2,0] [4,8] [8,0]">

// CHECK-LABEL: tile.kernel @ring
tile.kernel @ring grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "a", !tile.ptr<f16>, divisor = 16, readonly>,
    #tile.param<base 1, "b", !tile.ptr<f16>, divisor = 16>, #tile.param<extent 0, "k", i64, divisor = 8>] knobs {stages = 3 : i64} {
  %a = tile.param 0 : !tile.ptr<f16>
  %b = tile.param 1 : !tile.ptr<f16>
  %K = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s0 = arith.constant 0 : i32
  %first = arith.constant 5 : i32
  %step = arith.constant 2 : i32
  %end = arith.trunci %K : i64 to i32
  %pad = arith.constant 0.0 : f16
  %none = arith.constant dense<0.0> : tensor<16x16xf32, #acc>
  // CHECK: %[[RING:.*]] = tile.alloc : !tile.shared<3,
  // What is written meanwhile is loaded where it was, to a buffer of one slot.
  // CHECK: %[[PLAIN:.*]] = tile.alloc : !tile.shared<1,
  %ring = tile.alloc : !tile.shared<1, tensor<16x16xf16, #s>>
  %plain = tile.alloc : !tile.shared<1, tensor<16x16xf16, #s>>
  // CHECK: %[[IN0:.*]] = arith.cmpi slt, %c5_i32, %[[END:.*]] : i32
  // CHECK: %[[SLOT0:.*]] = tile.slot %[[RING]][%c0_i32]
  // CHECK: tile.copy_async %a {{.*}} into %[[SLOT0]] if %[[IN0]] by #
  // CHECK: tile.copy_commit
  // CHECK: %[[IN1:.*]] = arith.cmpi slt, %[[SECOND:.*]], %[[END]] : i32
  // CHECK: %[[SLOT1:.*]] = tile.slot %[[RING]][%c1_i32]
  // CHECK: tile.copy_async %a {{.*}} into %[[SLOT1]] if %[[IN1]] by #
  // CHECK: tile.copy_commit
  // CHECK-NOT: copy
  // CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[READ:.*]] = %c0_i32)
  // CHECK-NEXT: tile.copy_wait 1
  // CHECK: %[[NEXT:.*]] = arith.addi %[[K]], %c4_i32
  // CHECK: %[[BEFORE:.*]] = arith.select %{{.*}}, %c2_i32, %{{.*}} : i32
  // CHECK: %[[IN:.*]] = arith.cmpi slt, %[[NEXT]], %[[END]] : i32
  // CHECK: %[[AHEAD:.*]] = tile.slot %[[RING]][%[[BEFORE]]]
  // CHECK: tile.copy_async %a {{.*}} into %[[AHEAD]] if %[[IN]] by #
  // CHECK: tile.copy_commit
  // CHECK: %[[Y:.*]] = tile.load %b
  // CHECK: %[[X:.*]] = tile.slot %[[RING]][%[[READ]]]
  // CHECK: %[[Z:.*]] = tile.slot %[[PLAIN]][%c0_i32]
  // CHECK-NEXT: tile.put %[[Y]] into %[[Z]]
  // CHECK-NEXT: tile.dot %[[X]], %[[Z]]
  // CHECK: %[[AFTER:.*]] = arith.select %{{.*}}, %c0_i32, %{{.*}} : i32
  // CHECK: scf.yield %{{.*}}, %[[AFTER]] : tensor<16x16xf32, #{{.*}}>, i32
  %d = scf.for %k = %first to %end step %step iter_args(%sum = %none) -> (tensor<16x16xf32, #acc>) : i32 {
    %sixteen = arith.constant 16 : i32
    %at = arith.muli %k, %sixteen : i32
    %x = tile.load %a[span(%zero, 16) stride %K within(%zero, %K), span(%at : i32, 16) stride %one in(%zero, %K)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16, #by>
    %y = tile.load %b[span(%at : i32, 16) stride %K in(%zero, %K), span(%zero, 16) stride %one within(%zero, %K)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16, #by>
    %xs = tile.slot %ring[%s0] : !tile.shared<1, tensor<16x16xf16, #s>>
    tile.put %x into %xs : tensor<16x16xf16, #by> into !tile.shared<1, tensor<16x16xf16, #s>>
    %ys = tile.slot %plain[%s0] : !tile.shared<1, tensor<16x16xf16, #s>>
    tile.put %y into %ys : tensor<16x16xf16, #by> into !tile.shared<1, tensor<16x16xf16, #s>>
    %e = tile.dot %xs, %ys, %sum : !tile.shared<1, tensor<16x16xf16, #s>>, !tile.shared<1, tensor<16x16xf16, #s>>, tensor<16x16xf32, #acc>
    scf.yield %e : tensor<16x16xf32, #acc>
  }
  tile.dealloc %ring : !tile.shared<1, tensor<16x16xf16, #s>>
  tile.dealloc %plain : !tile.shared<1, tensor<16x16xf16, #s>>
  tile.return
}

// -----

#acc = #tile.layout<"16x16 unit 16x16 reg [0,1] [8,0] [0,8] lane [0,2] [0,4] [1,0] [2,0] [4,0]">
#by = #tile.layout<"16x16 unit 16x16 reg [0,1] [0,2] [0,4] lane [0,8] [1,0] [2,0] [4,0] [8,0]">
#s = #tile.layout<"16x16 unit 16x16 reg [0,1] [0,2] [0,4] [0,8] [1,0] [2,0] [4,8] [8,0]">

// Reasons to stay: places that other loads give, pads that are not zero, elements alone. And one stage is no pipeline.
// CHECK-LABEL: tile.kernel @stays
// CHECK-NOT: tile.copy_async
tile.kernel @stays grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "a", !tile.ptr<f16>, divisor = 16, readonly>,
    #tile.param<base 1, "pages", !tile.ptr<i64>, readonly>, #tile.param<extent 0, "k", i64, divisor = 8>, #tile.param<stride 0, "a.stride1", i64>] {
  %a = tile.param 0 : !tile.ptr<f16>
  %pages = tile.param 1 : !tile.ptr<i64>
  %K = tile.param 2 : i64
  %stride = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s0 = arith.constant 0 : i32
  %pad = arith.constant 1.0 : f16
  %none = arith.constant dense<0.0> : tensor<16x16xf32, #acc>
  %page = tile.alloc : !tile.shared<1, tensor<16x16xf16, #s>>
  %padded = tile.alloc : !tile.shared<1, tensor<16x16xf16, #s>>
  %single = tile.alloc : !tile.shared<1, tensor<16x16xf16, #s>>
  %d = scf.for %k = %zero to %K step %one iter_args(%sum = %none) -> (tensor<16x16xf32, #acc>) : i64 {
    %p = tile.load %pages[point(%k) stride %one within(%zero, %K)] : !tile.ptr<i64> -> i64
    %x = tile.load %a[span(%p, 16) stride %K within(%zero, %K), span(%zero, 16) stride %one within(%zero, %K)] : !tile.ptr<f16> -> tensor<16x16xf16, #by>
    %xs = tile.slot %page[%s0] : !tile.shared<1, tensor<16x16xf16, #s>>
    tile.put %x into %xs : tensor<16x16xf16, #by> into !tile.shared<1, tensor<16x16xf16, #s>>
    %y = tile.load %a[span(%k, 16) stride %K in(%zero, %K), span(%zero, 16) stride %one within(%zero, %K)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16, #by>
    %ys = tile.slot %padded[%s0] : !tile.shared<1, tensor<16x16xf16, #s>>
    tile.put %y into %ys : tensor<16x16xf16, #by> into !tile.shared<1, tensor<16x16xf16, #s>>
    %e = tile.dot %xs, %ys, %sum : !tile.shared<1, tensor<16x16xf16, #s>>, !tile.shared<1, tensor<16x16xf16, #s>>, tensor<16x16xf32, #acc>
    %z = tile.load %a[span(%k, 16) stride %K within(%zero, %K), span(%zero, 16) stride %stride within(%zero, %K)] : !tile.ptr<f16> -> tensor<16x16xf16, #by>
    %zs = tile.slot %single[%s0] : !tile.shared<1, tensor<16x16xf16, #s>>
    tile.put %z into %zs : tensor<16x16xf16, #by> into !tile.shared<1, tensor<16x16xf16, #s>>
    %f = tile.dot %zs, %ys, %e : !tile.shared<1, tensor<16x16xf16, #s>>, !tile.shared<1, tensor<16x16xf16, #s>>, tensor<16x16xf32, #acc>
    scf.yield %f : tensor<16x16xf32, #acc>
  }
  tile.return
}
