// SPDX-License-Identifier: MIT
// Two teams share a ring: each takes every other block of the grid, skips the slots that the other's blocks fill, and stores from a buffer of its own.
// RUN: tilegym-opt --split-input-file --specialize-loads --stage-stores --place-barriers --canonicalize --cse %s | FileCheck %s

#acc = #tile.layout<"64x32 unit 64x32 reg [0,1] [8,0] [0,8] [0,16] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#by = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [32,0] lane [0,8] [0,16] [1,0] [2,0] [4,0] warp [8,0] [16,0]">
#a = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">
#slot = #tile.layout<"32x32 unit 32x32 reg [1,0] [2,0] [4,0] [8,0] [16,0] [0,1] [8,2] [16,4] [0,8] [0,16]">

// CHECK-LABEL: tile.kernel @teams
tile.kernel @teams grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<bf16>, divisor = 16, readonly>,
    #tile.param<base 1, "b", !tile.ptr<bf16>, divisor = 16, readonly>, #tile.param<extent 0, "M", i64, upper = 2146435072>,
    #tile.param<extent 1, "K", i64, divisor = 8, upper = 2146435072>, #tile.param<extent 2, "N", i64, divisor = 8, upper = 2146435072>,
    #tile.param<stride 0, "a.stride0", i64, divisor = 8, upper = 2147483647>,
    #tile.param<stride 1, "b.stride1", i64, divisor = 8, upper = 2147483647>,
    #tile.param<base 2, "c", !tile.ptr<bf16>, divisor = 16>, #tile.param<stride 2, "c.stride0", i64, divisor = 8, upper = 2147483647>]
    knobs {schedule = 2 : i64, stages = 3 : i64, persistent = 1 : i64} resident 1 {
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
  // CHECK: %[[FIRST:.*]] = tile.linear_block_id
  // CHECK: %[[BLOCKS:.*]] = tile.launch_size
  %first = tile.linear_block_id
  %blocks = tile.launch_size
  %as0 = tile.alloc : !tile.shared<1, tensor<64x32xbf16, #a>>
  %bs0 = tile.alloc : !tile.shared<1, tensor<32x32xbf16, #slot>>
  // Each team's warps release what it has read.
  // CHECK: tile.make_mbarriers arrivals 4 : !tile.mbarriers<3>
  // CHECK: %[[OUT:.*]] = tile.alloc : !tile.shared<2, tensor<64x32xbf16
  // The producer fills blocks in their order, and works out their places once a block.
  // CHECK: tile.roles teams 2 producer {
  // CHECK: scf.for %[[PI:.*]] = %[[FIRST]] to %M step %[[BLOCKS]] iter_args
  // CHECK: %[[ROW:.*]] = arith.divui %[[PI]], %{{.*}} : i64
  // CHECK: scf.for %{{.*}} = %c0_i64 to %{{.*}} step %c32_i64
  // CHECK-NOT: arith.divui
  // CHECK: tile.tensor_load %a.map
  // CHECK: } consumer {
  // CHECK: %[[TEAM:.*]] = tile.team
  // CHECK: %[[WIDE:.*]] = arith.extui %[[TEAM]] : i32 to i64
  // The trips of the first block, of which the second team fills none.
  // CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1_i64 : i64
  // CHECK: %[[MANY:.*]] = arith.divsi %[[LAST]], %c32_i64 : i64
  // CHECK: %[[TRIPS:.*]] = arith.trunci %{{.*}} : i64 to i32
  // CHECK: %[[SKIPPED:.*]] = arith.muli %[[TRIPS]], %[[TEAM]] : i32
  // CHECK: %[[ROUNDS:.*]] = arith.divui %[[SKIPPED]], %c3_i32 : i32
  // CHECK-DAG: %[[PARITY:.*]] = arith.andi %[[ROUNDS]], %c1_i32 : i32
  // CHECK-DAG: %[[WHOLE:.*]] = arith.muli %[[ROUNDS]], %c3_i32 : i32
  // CHECK-DAG: %[[SLOT:.*]] = arith.subi %[[SKIPPED]], %[[WHOLE]] : i32
  // CHECK-DAG: %[[APART:.*]] = arith.muli %[[BLOCKS]], %[[WIDE]] : i64
  // CHECK-DAG: %[[OWN:.*]] = arith.addi %[[FIRST]], %[[APART]] : i64
  // CHECK-DAG: %[[STRIDE:.*]] = arith.muli %[[BLOCKS]], %c2_i64 : i64
  // CHECK: scf.for %[[I:.*]] = %[[OWN]] to %M step %[[STRIDE]] iter_args(%[[AT:.*]] = %[[SLOT]], %[[P:.*]] = %[[PARITY]])
  // CHECK: tile.take_turn
  // CHECK-NEXT: %[[LOOP:.*]]:3 = scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[AT2:.*]] = %[[AT]], %[[P2:.*]] = %[[P]])
  // CHECK: tile.dot %{{.*}} in_flight
  // CHECK: scf.yield
  // CHECK-NEXT: }
  // The other one issues its products while this one's end, and are stored.
  // CHECK-NEXT: tile.pass_turn
  // CHECK-NEXT: %[[SUM:.*]] = tile.dot_wait 0(%[[LOOP]]#0)
  // CHECK: tile.mbarrier_arrive
  // CHECK: %[[MINE:.*]] = tile.slot %[[OUT]][%[[TEAM]]]
  // CHECK: tile.barrier
  // CHECK: tile.put %{{.*}} into %[[MINE]]
  // CHECK: tile.barrier async
  // CHECK: tile.tensor_store %[[MINE]] to %c.map
  // The trips of the other's next block, or of the last one.
  // CHECK: %[[BEHIND:.*]] = arith.addi %[[I]], %[[BLOCKS]] overflow<nsw> : i64
  // CHECK: %[[THELAST:.*]] = arith.subi %M, %c1_i64 : i64
  // CHECK: %[[THEIRS:.*]] = arith.minsi %[[BEHIND]], %[[THELAST]] : i64
  // CHECK: arith.divui %[[THEIRS]],
  // CHECK: %[[FILLS:.*]] = arith.trunci
  // CHECK: arith.addi %[[LOOP]]#1, %[[FILLS]] : i32
  scf.for %id = %first to %M step %blocks : i64 {
    %row = arith.divui %id, %rows : i64
    %depth = arith.minui %row, %K : i64
    %at = arith.muli %row, %rows : i64
    %d = scf.for %k = %zero to %depth step %step iter_args(%sum = %none) -> (tensor<64x32xf32, #acc>) : i64 {
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
  }
  tile.dealloc %as0 : !tile.shared<1, tensor<64x32xbf16, #a>>
  tile.dealloc %bs0 : !tile.shared<1, tensor<32x32xbf16, #slot>>
  tile.return
}

// -----

#acc = #tile.layout<"64x32 unit 64x32 reg [0,1] [8,0] [0,8] [0,16] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#by = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [32,0] lane [0,8] [0,16] [1,0] [2,0] [4,0] warp [8,0] [16,0]">
#a = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">
#slot = #tile.layout<"32x32 unit 32x32 reg [1,0] [2,0] [4,0] [8,0] [16,0] [0,1] [8,2] [16,4] [0,8] [0,16]">

// How often the inner loop turns follows from the one around it: one team alone.
// CHECK-LABEL: tile.kernel @triangle
// CHECK: tile.roles producer {
// CHECK-NOT: tile.team
tile.kernel @triangle grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<bf16>, divisor = 16, readonly>,
    #tile.param<base 1, "b", !tile.ptr<bf16>, divisor = 16, readonly>, #tile.param<extent 0, "M", i64, upper = 2146435072>,
    #tile.param<extent 1, "K", i64, divisor = 8, upper = 2146435072>, #tile.param<extent 2, "N", i64, divisor = 8, upper = 2146435072>,
    #tile.param<stride 0, "a.stride0", i64, divisor = 8, upper = 2147483647>,
    #tile.param<stride 1, "b.stride1", i64, divisor = 8, upper = 2147483647>]
    knobs {schedule = 2 : i64, stages = 3 : i64, persistent = 1 : i64} resident 1 {
  %a = tile.param 0 : !tile.ptr<bf16>
  %b = tile.param 1 : !tile.ptr<bf16>
  %M = tile.param 2 : i64
  %K = tile.param 3 : i64
  %N = tile.param 4 : i64
  %as = tile.param 5 : i64
  %bs = tile.param 6 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 32 : i64
  %s0 = arith.constant 0 : i32
  %pad = arith.constant 0.0 : bf16
  %none = arith.constant dense<0.0> : tensor<64x32xf32, #acc>
  %first = tile.linear_block_id
  %blocks = tile.launch_size
  %as0 = tile.alloc : !tile.shared<1, tensor<64x32xbf16, #a>>
  %bs0 = tile.alloc : !tile.shared<1, tensor<32x32xbf16, #slot>>
  scf.for %id = %first to %M step %blocks : i64 {
    scf.for %j = %zero to %K step %step : i64 {
      %d = scf.for %k = %zero to %j step %step iter_args(%sum = %none) -> (tensor<64x32xf32, #acc>) : i64 {
        %x = tile.load %a[span(%id, 64) stride %as in(%zero, %M), span(%k, 32) stride %one in(%zero, %K)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<64x32xbf16, #by>
        %y = tile.load %b[span(%k, 32) stride %one in(%zero, %K), span(%zero, 32) stride %bs in(%zero, %N)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<32x32xbf16>
        %xs = tile.slot %as0[%s0] : !tile.shared<1, tensor<64x32xbf16, #a>>
        tile.put %x into %xs : tensor<64x32xbf16, #by> into !tile.shared<1, tensor<64x32xbf16, #a>>
        %ys = tile.slot %bs0[%s0] : !tile.shared<1, tensor<32x32xbf16, #slot>>
        tile.put %y into %ys : tensor<32x32xbf16> into !tile.shared<1, tensor<32x32xbf16, #slot>>
        %e = tile.dot %xs, %ys, %sum warpgroups : !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.shared<1, tensor<32x32xbf16, #slot>>, tensor<64x32xf32, #acc>
        scf.yield %e : tensor<64x32xf32, #acc>
      }
      tile.print "{}" %d : tensor<64x32xf32, #acc>
    }
  }
  tile.dealloc %as0 : !tile.shared<1, tensor<64x32xbf16, #a>>
  tile.dealloc %bs0 : !tile.shared<1, tensor<32x32xbf16, #slot>>
  tile.return
}
