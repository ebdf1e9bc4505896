// SPDX-License-Identifier: MIT
// Rows of a group whose dims are known at run time alone.
// RUN: tilegym-opt --split-input-file --tiles-to-threads --canonicalize --cse %s | FileCheck %s

#w = #tile.layout<"4x64 unit 4x64 reg [0,32] [2,0] lane [0,1] [0,2] [0,4] [0,8] [0,16] warp [1,0]">
#r = #tile.layout<"4 unit 4 reg [2] lane [0] [0] [0] [0] [0] warp [1]">

// One loop over the dims splits the two rows of a thread for three tensors, one of them of rows alone: one division a dim, rows multiply by its reciprocal.
// Columns share it.
// CHECK-LABEL: llvm.func @shared(
// CHECK-SAME: %[[N:[^:]*]]: i64, %[[RANK:[^:]*]]: i64, %[[E0:[^:]*]]: i64, %[[E1:[^:]*]]: i64, %[[E2:[^:]*]]: i64,
// CHECK-DAG: %[[ALL:.*]] = arith.constant -1 : i64
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK: %[[TURNS:.*]] = arith.trunci %[[RANK]] : i64 to i32
// CHECK: %[[SPLIT:.*]]:8 = scf.for %[[I:.*]] = %{{.*}} to %[[TURNS]] step
// CHECK:   %[[DIM:.*]] = arith.subi %[[TURNS]], %[[I]] : i32
// CHECK:   %[[LAST:.*]] = arith.cmpi eq, %[[DIM]], %[[TWO]] : i32
// CHECK:   %[[EXTENT:.*]] = arith.select %[[LAST]], %[[E2]], %[[E1]] : i64
// CHECK:   %[[RECIPROCAL:.*]] = arith.divui %[[ALL]], %[[EXTENT]] : i64
// CHECK:   %[[LOW:.*]], %[[HIGH:.*]] = arith.mului_extended %[[ROW:.*]], %[[RECIPROCAL]] : i64
// CHECK:   %[[TIMES:.*]] = arith.muli %[[HIGH]], %[[EXTENT]] : i64
// CHECK:   %[[DIGIT:.*]] = arith.subi %[[ROW]], %[[TIMES]] : i64
// CHECK:   %[[MORE:.*]] = arith.cmpi uge, %[[DIGIT]], %[[EXTENT]] : i64
// CHECK:   %[[LESS:.*]] = arith.subi %[[DIGIT]], %[[EXTENT]] : i64
// CHECK:   %[[ONE:.*]] = arith.extui %[[MORE]] : i1 to i64
// CHECK:   arith.addi %[[HIGH]], %[[ONE]] : i64
// CHECK:   arith.select %[[MORE]], %[[LESS]], %[[DIGIT]] : i64
// CHECK:   arith.mului_extended
// CHECK:   scf.yield
// CHECK-NOT: scf.for
// CHECK-NOT: divui
// CHECK-COUNT-4: ptx.load_global
// CHECK-COUNT-4: ptx.store_global
// CHECK-COUNT-2: ptx.store_global
// CHECK-NOT: divui
// CHECK: llvm.return
tile.kernel @shared grid 1 [-1] facts <general> warps 2 params [#tile.param<extent 1, "n", i64>, #tile.param<group_rank 0, "R.rank", i64, upper = 7>,
    #tile.param<group_extent 0, "R.extent0", i64>, #tile.param<group_extent 0:1, "R.extent1", i64>, #tile.param<group_extent 0:2, "R.extent2", i64>,
    #tile.param<base 0, "x", !tile.ptr<f32>, readonly>, #tile.param<group_stride 0, "x.group_stride0", i64>, #tile.param<group_stride 0:1, "x.group_stride1", i64>,
    #tile.param<group_stride 0:2, "x.group_stride2", i64>, #tile.param<stride 0:1, "x.stride1", i64>,
    #tile.param<base 1, "y", !tile.ptr<f32>>, #tile.param<group_stride 1, "y.group_stride0", i64>, #tile.param<group_stride 1:1, "y.group_stride1", i64>,
    #tile.param<group_stride 1:2, "y.group_stride2", i64>,
    #tile.param<base 2, "z", !tile.ptr<f32>>, #tile.param<group_stride 2, "z.group_stride0", i64>, #tile.param<group_stride 2:1, "z.group_stride1", i64>,
    #tile.param<group_stride 2:2, "z.group_stride2", i64>] {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %pad = arith.constant 0.0 : f32
  %n = tile.param 0 : i64
  %rank = tile.param 1 : i64
  %e0 = tile.param 2 : i64
  %e1 = tile.param 3 : i64
  %e2 = tile.param 4 : i64
  %x = tile.param 5 : !tile.ptr<f32>
  %x0 = tile.param 6 : i64
  %x1 = tile.param 7 : i64
  %x2 = tile.param 8 : i64
  %xs = tile.param 9 : i64
  %y = tile.param 10 : !tile.ptr<f32>
  %y0 = tile.param 11 : i64
  %y1 = tile.param 12 : i64
  %y2 = tile.param 13 : i64
  %z = tile.param 14 : !tile.ptr<f32>
  %z0 = tile.param 15 : i64
  %z1 = tile.param 16 : i64
  %z2 = tile.param 17 : i64
  %block = tile.linear_block_id
  %start = arith.muli %block, %four : i64
  %t = tile.load %x[span(%start, 4) stride %one within(%zero, %one), span(%zero, 64) stride %xs below(%zero, %n)]
       group(%rank, %e0, %e1, %e2, %x0, %x1, %x2) pad(%pad : f32) : !tile.ptr<f32> -> tensor<4x64xf32, #w>
  tile.store %t to %y[span(%start, 4) stride %one within(%zero, %one), span(%zero, 64) stride %xs below(%zero, %n)]
       group(%rank, %e0, %e1, %e2, %y0, %y1, %y2) : tensor<4x64xf32, #w> to !tile.ptr<f32>
  %s = arith.constant dense<1.0> : tensor<4xf32, #r>
  tile.store %s to %z[span(%start, 4) stride %one within(%zero, %one)] group(%rank, %e0, %e1, %e2, %z0, %z1, %z2) : tensor<4xf32, #r> to !tile.ptr<f32>
  tile.return
}

// -----

#w = #tile.layout<"64 unit 64 reg [32] lane [1] [2] [4] [8] [16]">

// One row divides plainly, once for a loop that stays in it.
// CHECK-LABEL: llvm.func @one_row
// CHECK: scf.for
// CHECK:   arith.divui
// CHECK-NOT: mului_extended
// CHECK:   scf.yield
// CHECK: scf.for
// CHECK-NOT: divui
// CHECK: ptx.load_global
tile.kernel @one_row grid 1 [-1] facts <general> warps 1 params [#tile.param<extent 1, "n", i64>, #tile.param<group_rank 0, "R.rank", i64, upper = 7>,
    #tile.param<group_extent 0, "R.extent0", i64>, #tile.param<group_extent 0:1, "R.extent1", i64>, #tile.param<base 0, "x", !tile.ptr<f32>, readonly>,
    #tile.param<group_stride 0, "x.group_stride0", i64>, #tile.param<group_stride 0:1, "x.group_stride1", i64>, #tile.param<stride 0:1, "x.stride1", i64>,
    #tile.param<base 1, "y", !tile.ptr<f32>>] {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 64 : i64
  %pad = arith.constant 0.0 : f32
  %n = tile.param 0 : i64
  %rank = tile.param 1 : i64
  %e0 = tile.param 2 : i64
  %e1 = tile.param 3 : i64
  %x = tile.param 4 : !tile.ptr<f32>
  %x0 = tile.param 5 : i64
  %x1 = tile.param 6 : i64
  %xs = tile.param 7 : i64
  %y = tile.param 8 : !tile.ptr<f32>
  %row = tile.linear_block_id
  scf.for %c = %zero to %n step %step : i64 {
    %t = tile.load %x[point(%row) stride %one within(%zero, %one), span(%c, 64) stride %xs below(%zero, %n)] group(%rank, %e0, %e1, %x0, %x1)
         pad(%pad : f32) : !tile.ptr<f32> -> tensor<64xf32, #w>
    tile.store %t to %y[span(%c, 64) stride %one below(%zero, %n)] : tensor<64xf32, #w> to !tile.ptr<f32>
  }
  tile.return
}

// -----

#w = #tile.layout<"512 unit 512 reg [32] [64] [128] [256] lane [1] [2] [4] [8] [16]">

// Sixteen rows a thread would not stay in registers together: eight at a time, each where it is needed. Gathered rows likewise.
// CHECK-LABEL: llvm.func @many
// CHECK: scf.for
// CHECK-COUNT-8: mului_extended
// CHECK-NOT: mului_extended
// CHECK: scf.yield
// CHECK-COUNT-8: ptx.load_global
// CHECK: scf.for
// CHECK-COUNT-8: mului_extended
// CHECK-NOT: mului_extended
// CHECK: scf.yield
// CHECK-COUNT-8: ptx.load_global
// CHECK: scf.for
// CHECK-COUNT-8: mului_extended
// CHECK-NOT: mului_extended
// CHECK: scf.yield
// CHECK-COUNT-8: ptx.store_global
// CHECK: scf.for
tile.kernel @many grid 1 [-1] facts <general> warps 1 params [#tile.param<extent 0, "n", i64>, #tile.param<group_rank 0, "R.rank", i64, upper = 7>,
    #tile.param<group_extent 0, "R.extent0", i64>, #tile.param<group_extent 0:1, "R.extent1", i64>, #tile.param<base 0, "x", !tile.ptr<i64>, readonly>,
    #tile.param<group_stride 0, "x.group_stride0", i64>, #tile.param<group_stride 0:1, "x.group_stride1", i64>, #tile.param<base 1, "y", !tile.ptr<i64>>] {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = tile.param 0 : i64
  %rank = tile.param 1 : i64
  %e0 = tile.param 2 : i64
  %e1 = tile.param 3 : i64
  %x = tile.param 4 : !tile.ptr<i64>
  %x0 = tile.param 5 : i64
  %x1 = tile.param 6 : i64
  %y = tile.param 7 : !tile.ptr<i64>
  %t = tile.load %x[span(%zero, 512) stride %one below(%zero, %n)] group(%rank, %e0, %e1, %x0, %x1) pad(%zero : i64)
       : !tile.ptr<i64> -> tensor<512xi64, #w>
  tile.store %t to %y[gather(%t : tensor<512xi64, #w>) stride %one below(%zero, %n)] group(%rank, %e0, %e1, %x0, %x1) : tensor<512xi64, #w> to !tile.ptr<i64>
  tile.return
}
