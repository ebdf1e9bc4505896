// SPDX-License-Identifier: MIT
// Blocks of a cluster share the copies of what all of them load: each fills its part of the slot everywhere, and a slot is empty once every block has read it.
// RUN: tilegym-opt --split-input-file --specialize-loads --canonicalize --cse %s | FileCheck %s
// RUN: sed 's/spread = 2/spread = 1/' %s | tilegym-opt --split-input-file --specialize-loads --canonicalize --cse | FileCheck %s --check-prefix=ALONE

#acc = #tile.layout<"64x32 unit 64x32 reg [0,1] [8,0] [0,8] [0,16] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#by = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [32,0] lane [0,8] [0,16] [1,0] [2,0] [4,0] warp [8,0] [16,0]">
#a = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">
#slot = #tile.layout<"32x32 unit 32x32 reg [1,0] [2,0] [4,0] [8,0] [16,0] [0,1] [8,2] [16,4] [0,8] [0,16]">

// CHECK-LABEL: tile.kernel @halves
// CHECK-SAME: "a.map", !tile.tensor_map<bf16, [64 of dim 0 by 0, 32 of dim 1], swizzle 64>
// CHECK-SAME: "b.map", !tile.tensor_map<bf16, [32 of dim 1, 16 of dim 2 by 0], swizzle 64>
// ALONE-LABEL: tile.kernel @halves
// ALONE-SAME: "b.map", !tile.tensor_map<bf16, [32 of dim 1, 32 of dim 2 by 0], swizzle 64>
// ALONE-NOT: shared :
// ALONE-NOT: everywhere
tile.kernel @halves grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<bf16>, divisor = 16, readonly>,
    #tile.param<base 1, "b", !tile.ptr<bf16>, divisor = 16, readonly>, #tile.param<extent 0, "M", i64, upper = 2146435072>,
    #tile.param<extent 1, "K", i64, divisor = 8, upper = 2146435072>, #tile.param<extent 2, "N", i64, divisor = 8, upper = 2146435072>,
    #tile.param<stride 0, "a.stride0", i64, divisor = 8, upper = 2147483647>,
    #tile.param<stride 1, "b.stride1", i64, divisor = 8, upper = 2147483647>,
    #tile.param<base 2, "c", !tile.ptr<bf16>, divisor = 16>, #tile.param<stride 2, "c.stride0", i64, divisor = 8, upper = 2147483647>]
    knobs {schedule = 1 : i64, stages = 3 : i64, spread = 2 : i64} {
  %a = tile.param 0 : !tile.ptr<bf16>
  %b = tile.param 1 : !tile.ptr<bf16>
  %M = tile.param 2 : i64
  %K = tile.param 3 : i64
  %N = tile.param 4 : i64
  %as = tile.param 5 : i64
  %bs = tile.param 6 : i64
  %c = tile.param 7 : !tile.ptr<bf16>
  %cs = tile.param 8 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 32 : i64
  %rows = arith.constant 64 : i64
  %s0 = arith.constant 0 : i32
  %pad = arith.constant 0.0 : bf16
  %none = arith.constant dense<0.0> : tensor<64x32xf32, #acc>
  %id = tile.linear_block_id
  %rank = tile.cluster_rank
  %part = arith.muli %rank, %rows : i64
  %first = arith.muli %id, %rows : i64
  %at = arith.addi %first, %part : i64
  %as0 = tile.alloc : !tile.shared<1, tensor<64x32xbf16, #a>>
  %bs0 = tile.alloc : !tile.shared<1, tensor<32x32xbf16, #slot>>
  // CHECK: tile.make_mbarriers arrivals 1 : !tile.mbarriers<3>
  // CHECK: %[[EMPTY:.*]] = tile.make_mbarriers arrivals 8 : !tile.mbarriers<3>
  // ALONE: tile.make_mbarriers arrivals 4 : !tile.mbarriers<3>
  // CHECK: tile.roles producer {
  // CHECK: %[[END:.*]]:2 = scf.for
  // All bytes that land in the block, whoever copies them.
  // CHECK: tile.mbarrier_expect %{{.*}} bytes 6144
  // CHECK: tile.tensor_load %a.map[{{.*}}] into %{{.*}} signal %{{[^ ]*}} :
  // CHECK: tile.tensor_load %b.map[{{.*}}] into %{{.*}} signal %{{[^ ]*}} shared :
  // CHECK: scf.yield
  // The block stays until each slot has been released for the last time.
  // CHECK: tile.mbarrier_wait %[[EMPTY]][%[[END]]#0] parity %[[END]]#1
  // CHECK: tile.mbarrier_wait %[[EMPTY]]
  // CHECK: tile.mbarrier_wait %[[EMPTY]]
  // CHECK: } consumer {
  // CHECK-NOT: everywhere
  // CHECK: tile.dot {{.*}} in_flight
  // CHECK-NEXT: tile.dot_wait 1
  // CHECK: tile.mbarrier_arrive %[[EMPTY]][%{{.*}}] if %{{.*}} everywhere
  // CHECK: tile.dot_wait 0
  // CHECK: tile.mbarrier_arrive %[[EMPTY]][%{{.*}}] if %{{.*}} everywhere
  %d = scf.for %k = %zero to %K step %step iter_args(%sum = %none) -> (tensor<64x32xf32, #acc>) : i64 {
    %x = tile.load %a[span(%at, 64) stride %as in(%zero, %M), span(%k, 32) stride %one in(%zero, %K)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<64x32xbf16, #by>
    %y = tile.load %b[span(%k, 32) stride %one in(%zero, %K), span(%zero, 32) stride %bs in(%zero, %N)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<32x32xbf16>
    %xs = tile.slot %as0[%s0] : !tile.shared<1, tensor<64x32xbf16, #a>>
    tile.put %x into %xs : tensor<64x32xbf16, #by> into !tile.shared<1, tensor<64x32xbf16, #a>>
    %ys = tile.slot %bs0[%s0] : !tile.shared<1, tensor<32x32xbf16, #slot>>
    tile.put %y into %ys : tensor<32x32xbf16> into !tile.shared<1, tensor<32x32xbf16, #slot>>
    %e = tile.dot %xs, %ys, %sum warpgroups : !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.shared<1, tensor<32x32xbf16, #slot>>, tensor<64x32xf32, #acc>
    scf.yield %e : tensor<64x32xf32, #acc>
  }
  %t = arith.truncf %d : tensor<64x32xf32, #acc> to tensor<64x32xbf16, #acc>
  tile.store %t to %c[span(%at, 64) stride %cs below(%zero, %M), span(%zero, 32) stride %one below(%zero, %N)] : tensor<64x32xbf16, #acc> to !tile.ptr<bf16>
  tile.dealloc %as0 : !tile.shared<1, tensor<64x32xbf16, #a>>
  tile.dealloc %bs0 : !tile.shared<1, tensor<32x32xbf16, #slot>>
  tile.return
}
