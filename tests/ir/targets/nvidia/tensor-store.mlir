// SPDX-License-Identifier: MIT
// One thread stores a slot box by box, to which fragments went by stmatrix.
// RUN: tilegym-opt --tiles-to-threads --cse %s | FileCheck %s

#acc = #tile.layout<"16x128 unit 16x128 reg [0,1] [8,0] [0,8] [0,16] [0,32] [0,64] lane [0,2] [0,4] [1,0] [2,0] [4,0]">
#s = #tile.layout<"16x128 unit 16x128 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32] [8,0] [0,64]">

// The innermost coordinate first; the second box has the next 64 columns, 2 KB further on.
// CHECK-LABEL: llvm.func @boxes(
// CHECK-SAME: %[[MAP:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// CHECK-COUNT-8: ptx.store_matrix %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} to
// CHECK: ptx.fence_proxy_async <shared_cta>
// CHECK-NEXT: ptx.barrier
// CHECK: scf.if
// CHECK: ptx.tensor_store %[[MAP]][%[[J:.*]], %[[I:.*]]], %
// CHECK: ptx.tensor_store %[[MAP]][%{{.*}}, %[[I]]], %
// CHECK-NEXT: ptx.bulk_commit
// CHECK: ptx.bulk_wait 0 read
tile.kernel @boxes grid 1 [-1] facts <fast> warps 1 params [#tile.param<tensor_map 0, "c", !tile.tensor_map<bf16, [16 of dim 0 by 0, 64 of dim 1], swizzle 128>>,
    #tile.param<scalar 0, "i", i32>, #tile.param<scalar 1, "j", i64>, #tile.param<scalar 2, "x", bf16>] {
  %c = tile.param 0 : !tile.tensor_map<bf16, [16 of dim 0 by 0, 64 of dim 1], swizzle 128>
  %i = tile.param 1 : i32
  %j = tile.param 2 : i64
  %x = tile.param 3 : bf16
  %t = tile.splat %x : tensor<16x128xbf16, #acc>
  %a = tile.alloc at 0 : !tile.shared<1, tensor<16x128xbf16, #s>>
  tile.put %t into %a : tensor<16x128xbf16, #acc> into !tile.shared<1, tensor<16x128xbf16, #s>>
  tile.barrier async
  tile.tensor_store %a to %c[%i, %j : i32, i64] : !tile.shared<1, tensor<16x128xbf16, #s>> to !tile.tensor_map<bf16, [16 of dim 0 by 0, 64 of dim 1], swizzle 128>
  tile.tensor_store_wait 0
  tile.dealloc %a : !tile.shared<1, tensor<16x128xbf16, #s>>
  tile.return
}

#groups = #tile.layout<"128x64 unit 128x64 reg [0,1] [8,0] [0,8] [0,16] [0,32] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0] [64,0]">
#rows = #tile.layout<"128x64 unit 128x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32] [8,0] [16,0] [32,0] [64,0]">

// The first thread of each warpgroup stores the box that the group wrote: 64 rows further on, 8 KB behind the group before. They meet at barriers 4 and 5.
// CHECK-LABEL: llvm.func @apart(
// CHECK-SAME: %[[MAP:.*]]: !llvm.ptr {llvm.align = 64
// CHECK: %[[GROUP:.*]] = ptx.shuffle
// CHECK: ptx.fence_proxy_async <shared_cta>
// CHECK: %[[AT:.*]] = arith.addi %[[GROUP]], %c4_i32
// CHECK: ptx.named_barrier <sync> %[[AT]]
// CHECK-SAME: 128
// CHECK: %[[THREAD:.*]] = arith.andi %{{.*}}, %c127_i32
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[THREAD]], %c0_i32
// CHECK: scf.if %[[IS_FIRST]]
// CHECK: %[[STEP:.*]] = arith.muli %[[GROUP]], %c64_i32
// CHECK: %[[ROW:.*]] = arith.addi %arg1, %[[STEP]]
// CHECK: %[[BYTES:.*]] = arith.muli %[[GROUP]], %c8192_i32
// CHECK: %[[FROM:.*]] = llvm.getelementptr %{{.*}}[%[[BYTES]]]
// CHECK: ptx.tensor_store %[[MAP]][%arg1, %[[ROW]]], %[[FROM]]
// CHECK-NEXT: ptx.bulk_commit
tile.kernel @apart grid 1 [-1] facts <fast> warps 8 params [#tile.param<tensor_map 0, "c", !tile.tensor_map<bf16, [64 of dim 0 by 0, 64 of dim 1], swizzle 128>>,
    #tile.param<scalar 0, "i", i32>, #tile.param<scalar 1, "x", bf16>] {
  %c = tile.param 0 : !tile.tensor_map<bf16, [64 of dim 0 by 0, 64 of dim 1], swizzle 128>
  %i = tile.param 1 : i32
  %x = tile.param 2 : bf16
  %a = tile.alloc at 0 : !tile.shared<1, tensor<128x64xbf16, #rows>>
  tile.roles producer {
  } consumer {
    %t = tile.splat %x : tensor<128x64xbf16, #groups>
    tile.put %t into %a : tensor<128x64xbf16, #groups> into !tile.shared<1, tensor<128x64xbf16, #rows>>
    tile.barrier async apart
    tile.tensor_store %a to %c[%i, %i : i32, i32] apart : !tile.shared<1, tensor<128x64xbf16, #rows>> to !tile.tensor_map<bf16, [64 of dim 0 by 0, 64 of dim 1], swizzle 128>
    tile.tensor_store_wait 0
  }
  tile.dealloc %a : !tile.shared<1, tensor<128x64xbf16, #rows>>
  tile.return
}
