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
