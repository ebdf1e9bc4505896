// Each block of a cluster holds the sum of its part. The first has an mbarrier that counts what the others send; all meet before, as it lands where operands were, and no other
// block exits before all of it has arrived.
// RUN: tilegym-opt %s --tiles-to-threads --canonicalize --cse | FileCheck %s

#v = #tile.layout<"1024 unit 1024 reg [1] [2] [512] lane [4] [8] [16] [32] [64] warp [128] [256]">

// CHECK-LABEL: llvm.func @split
// CHECK-SAME: nvvm.cluster_dim = array<i32: 3, 1, 1>
// CHECK-SAME: tilegym.shared_bytes = 8200
// CHECK: %[[RANK:.*]] = ptx.cluster_rank
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[RANK]], %c0_i32
// CHECK: %[[ONE:.*]] = arith.andi %[[FIRST]],
// CHECK: ptx.mbarrier_init %[[BARRIER:.*]], %c1_i32 if %[[ONE]]
// CHECK: ptx.mbarrier_arrive_expect_tx %[[BARRIER]], %c8192_i32 if %[[ONE]]
// CHECK-NEXT: ptx.fence_mbarrier_init
// CHECK: %[[ID:.*]] = ptx.block_id
// CHECK: arith.divui %[[ID]], %c3_i32
// CHECK: ptx.cluster_arrive
// CHECK-NEXT: ptx.cluster_wait
// CHECK: %[[SUM:.*]]:8 = scf.if %[[FIRST]]
// CHECK: ptx.mbarrier_try_wait %[[BARRIER]], %c0_i32
// CHECK: ptx.cluster_arrive relaxed
// CHECK-COUNT-16: arith.addf
// CHECK-NOT: arith.addf
// CHECK: ptx.barrier
// CHECK: } else {
// CHECK: %[[SIGNAL:.*]] = ptx.map_shared_rank %[[BARRIER]], %c0_i32
// CHECK: ptx.store_async(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) to %{{.*}} signal %[[SIGNAL]] : f32, f32, f32, f32
// CHECK: ptx.store_async(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) to %{{.*}} signal %[[SIGNAL]] : f32, f32, f32, f32
// CHECK-NEXT: ptx.cluster_arrive relaxed
// CHECK-NEXT: ptx.cluster_wait
tile.kernel @split grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16, readonly>,
    #tile.param<base 1, "y", !tile.ptr<f32>, divisor = 16>] knobs {split_k = 3 : i64} {
  %x = tile.param 0 : !tile.ptr<f32>
  %y = tile.param 1 : !tile.ptr<f32>
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i64
  %size = arith.constant 1024 : i64
  %block = tile.linear_block_id
  %rank = tile.cluster_rank
  %start = arith.muli %block, %size : i64
  %t = tile.load %x[span(%start, 1024) stride %one within(%zero, %size)] : !tile.ptr<f32> -> tensor<1024xf32, #v>
  %sum = tile.split_sum %t : tensor<1024xf32, #v>
  %first = arith.cmpi eq, %rank, %zero : i64
  scf.if %first {
    tile.store %sum to %y[span(%start, 1024) stride %one within(%zero, %size)] : tensor<1024xf32, #v> to !tile.ptr<f32>
  }
  tile.return
}
