// SPDX-License-Identifier: MIT
// The block has a warp more than hold tiles. All meet once, when one thread has made the mbarriers; the consumers then among themselves.
// RUN: tilegym-opt %s --tiles-to-threads --canonicalize --cse | FileCheck %s

// CHECK-LABEL: llvm.func @roles
// CHECK-SAME: nvvm.reqntid = array<i32: 160, 1, 1>
tile.kernel @roles grid 1 [-1] facts <fast> warps 4 params [] {
  // CHECK: %[[THREAD:.*]] = ptx.thread_id
  // CHECK: %[[WARP:.*]] = arith.shrui %[[THREAD]], %c5_i32
  // CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[THREAD]], %c0_i32
  // CHECK: scf.if %[[ZERO]] {
  // CHECK: ptx.mbarrier_init %{{.*}}, %c1_i32{{$}}
  // CHECK: ptx.mbarrier_init %{{.*}}, %c1_i32{{$}}
  // CHECK: ptx.mbarrier_init %{{.*}}, %c4_i32{{$}}
  // CHECK: ptx.mbarrier_init %{{.*}}, %c4_i32{{$}}
  // CHECK-NEXT: }
  // CHECK-NEXT: ptx.fence_mbarrier_init
  // CHECK-NEXT: ptx.barrier
  %full = tile.make_mbarriers arrivals 1 : !tile.mbarriers<2>
  %empty = tile.make_mbarriers arrivals 4 : !tile.mbarriers<2>
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  // CHECK: %[[LAST:.*]] = arith.cmpi uge, %[[WARP]], %c4_i32
  // CHECK: scf.if %[[LAST]] {
  // CHECK: %[[ELECTED:.*]] = ptx.elect
  // CHECK: scf.if %[[ELECTED]] {
  // CHECK: ptx.mbarrier_try_wait %{{.*}}, %c1_i32
  // CHECK: ptx.mbarrier_arrive_expect_tx %{{.*}}, %{{.*}} : !llvm.ptr<3>
  // CHECK: } else {
  tile.roles producer {
    tile.mbarrier_wait %empty[%zero] parity %one : !tile.mbarriers<2>
    tile.mbarrier_expect %full[%zero] bytes 4096 : !tile.mbarriers<2>
  } consumer {
    // CHECK: ptx.mbarrier_try_wait %{{.*}}, %c0_i32
    // CHECK: ptx.warp_barrier
    // CHECK: ptx.mbarrier_arrive %{{.*}} if %{{.*}} : !llvm.ptr<3>
    // CHECK: ptx.named_barrier <sync> %c1_i32 threads 128
    tile.mbarrier_wait %full[%zero] parity %zero : !tile.mbarriers<2>
    tile.mbarrier_arrive %empty[%zero] : !tile.mbarriers<2>
    tile.barrier
  }
  tile.return
}

// Warpgroups take turns at barriers of their own; a producer's warpgroup gives registers away, and one of its warps is the producer.
// CHECK-LABEL: llvm.func @turns
// CHECK-SAME: nvvm.minctasm = 1 : i32
// CHECK-SAME: nvvm.reqntid = array<i32: 384, 1, 1>
tile.kernel @turns grid 1 [-1] facts <fast> warps 8 params [#tile.param<extent 0, "n", i32>] {
  %n = tile.param 0 : i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %empty = tile.make_mbarriers arrivals 8 : !tile.mbarriers<2>
  // CHECK: %[[FEEDS:.*]] = arith.cmpi uge, %[[WARP:.*]], %c8_i32
  // CHECK: scf.if %[[FEEDS]] {
  // CHECK-NEXT: ptx.set_max_registers <decrease> 40
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[WARP]], %c8_i32
  // CHECK-NEXT: scf.if %[[FIRST]] {
  // CHECK-NEXT: %[[ELECTED:.*]] = ptx.elect
  // CHECK: } else {
  // CHECK-NEXT: ptx.set_max_registers <increase> 232
  // CHECK-NEXT: %[[LAST:.*]] = arith.cmpi eq, %[[GROUP:.*]], %c1_i32
  // CHECK-NEXT: scf.if %[[LAST]] {
  // CHECK-NEXT: ptx.named_barrier <arrive> %c2_i32 threads 256
  // What a loop needs is made in it.
  // CHECK: scf.for
  // CHECK: %[[OWN:.*]] = arith.addi %[[GROUP]], %c2_i32
  // CHECK-NEXT: ptx.named_barrier <sync> %[[OWN]] threads 256
  // CHECK: ptx.named_barrier <arrive> %{{.*}} threads 256
  // CHECK: } {llvm.loop_annotation = #{{.*}}}
  tile.roles shift_registers producer {
    tile.mbarrier_wait %empty[%zero] parity %one : !tile.mbarriers<2>
  } consumer {
    scf.for %i = %zero to %n step %one : i32 {
      tile.take_turn
      tile.pass_turn
    }
  }
  tile.return
}

// Teams are blocks of threads of their own: each meets at its barrier, takes turns as one, and has its part of what moves between its threads.
// CHECK-LABEL: llvm.func @teams
// CHECK-SAME: nvvm.reqntid = array<i32: 288, 1, 1>
#rows = #tile.layout<"128x2 unit 128x2 reg [0,1] lane [1,0] [2,0] [4,0] [8,0] [16,0] warp [32,0] [64,0]">
#columns = #tile.layout<"128x2 unit 128x2 reg [64,0] lane [0,1] [1,0] [2,0] [4,0] [8,0] warp [16,0] [32,0]">
tile.kernel @teams grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "n", i32>] {
  // CHECK: %[[BLOCK:.*]] = ptx.thread_id
  // CHECK: %[[THREAD:.*]] = arith.andi %[[BLOCK]], %c127_i32
  // CHECK: %[[RAW:.*]] = arith.shrui %[[BLOCK]], %c7_i32
  // CHECK: %[[TEAM:.*]] = ptx.shuffle <index> %[[RAW]], %c0_i32
  // CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[BLOCK]], %c0_i32
  // CHECK: ptx.mbarrier_init %{{.*}}, %c4_i32{{$}}
  // CHECK: %[[WARP:.*]] = arith.shrui %[[BLOCK]], %c5_i32
  // CHECK: arith.cmpi uge, %[[WARP]], %c8_i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %empty = tile.make_mbarriers arrivals 4 : !tile.mbarriers<1>
  tile.roles teams 2 producer {
    tile.mbarrier_wait %empty[%zero] parity %one : !tile.mbarriers<1>
  } consumer {
    // CHECK: } else {
    // CHECK-NEXT: %[[IS_LAST:.*]] = arith.cmpi eq, %[[TEAM]], %c1_i32
    // CHECK-NEXT: scf.if %[[IS_LAST]] {
    // CHECK-NEXT: ptx.named_barrier <arrive> %c3_i32 threads 256
    // CHECK: %[[TURN:.*]] = arith.addi %[[TEAM]], %c3_i32
    // CHECK-NEXT: ptx.named_barrier <sync> %[[TURN]] threads 256
    tile.take_turn
    // CHECK: %[[NEXT:.*]] = arith.addi %[[TEAM]], %c1_i32
    // CHECK: ptx.named_barrier <arrive> %{{.*}} threads 256
    tile.pass_turn
    // CHECK: %[[PART:.*]] = arith.muli %[[TEAM]], %c1024_i32
    // CHECK: %[[OWN:.*]] = llvm.getelementptr %{{.*}}[%[[PART]]]
    // CHECK: llvm.getelementptr %[[OWN]][
    // CHECK: llvm.store
    // CHECK: ptx.named_barrier <sync> %[[NEXT]] threads 128
    // CHECK: llvm.getelementptr %[[OWN]][
    %team = tile.team
    %x = tile.splat %team : tensor<128x2xi32, #rows>
    %y = tile.convert_layout %x : tensor<128x2xi32, #rows> to tensor<128x2xi32, #columns>
    tile.print "{}" %y : tensor<128x2xi32, #columns>
  }
  tile.return
}

// Blocks that share copies meet once their mbarriers are made. Block r copies its part of the slot to both, and lane r of each warp arrives at block r.
// CHECK-LABEL: llvm.func @shared
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
#slot = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">
tile.kernel @shared grid 1 [-1] facts <fast> warps 4 params [#tile.param<tensor_map 0, "a.map", !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64>, readonly>] knobs {spread = 2 : i64} {
  %map = tile.param 0 : !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64>
  // CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32
  // CHECK: %[[RANK:.*]] = ptx.cluster_rank
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ring = tile.alloc at 0 : !tile.shared<2, tensor<64x32xbf16, #slot>>
  // CHECK: ptx.fence_mbarrier_init
  // CHECK-NEXT: ptx.cluster_arrive
  // CHECK-NEXT: ptx.cluster_wait
  // CHECK-NOT: ptx.barrier
  %full = tile.make_mbarriers arrivals 1 : !tile.mbarriers<2>
  %empty = tile.make_mbarriers arrivals 8 : !tile.mbarriers<2>
  tile.roles producer {
    tile.mbarrier_wait %empty[%zero] parity %one : !tile.mbarriers<2>
    tile.mbarrier_expect %full[%zero] bytes 4096 : !tile.mbarriers<2>
    %s = tile.slot %ring[%zero] : !tile.shared<2, tensor<64x32xbf16, #slot>>
    // CHECK: %[[ROW:.*]] = arith.muli %[[RANK]], %c32_i32
    // CHECK: %[[BYTES:.*]] = arith.muli %[[RANK]], %c2048_i32
    // CHECK: %[[TO:.*]] = ptx.map_shared_rank %{{.*}}, %[[RANK]]
    // CHECK: ptx.tensor_load %[[TO]], %{{.*}}[%{{.*}}, %[[ROW]]] signal %{{.*}} multicast %c3_i16 : !llvm.ptr<7>
    tile.tensor_load %map[%zero, %zero] into %s signal %full[%zero] shared : !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64> into !tile.shared<1, tensor<64x32xbf16, #slot>>, !tile.mbarriers<2>
  } consumer {
    tile.mbarrier_wait %full[%zero] parity %zero : !tile.mbarriers<2>
    // CHECK: %[[TURN:.*]] = arith.remui %[[LANE]], %c2_i32
    // CHECK: %[[SPEAKS:.*]] = arith.cmpi ult, %[[LANE]], %c2_i32
    // CHECK: %[[THERE:.*]] = ptx.map_shared_rank %{{.*}}, %[[TURN]]
    // CHECK: ptx.mbarrier_arrive %[[THERE]] if %[[SPEAKS]] relaxed scope <cluster> : !llvm.ptr<7>
    tile.mbarrier_arrive %empty[%zero] everywhere : !tile.mbarriers<2>
  }
  tile.return
}
