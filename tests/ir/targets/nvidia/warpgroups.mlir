// SPDX-License-Identifier: MIT
// Products of warpgroups: descriptors from the slots' layouts, one group of instructions, and what waits for it.
// RUN: tilegym-opt --split-input-file --tiles-to-threads --cse --check-wgmma %s | FileCheck %s

#acc = #tile.layout<"128x64 unit 128x64 reg [0,1] [8,0] [0,8] [0,16] [0,32] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0] [64,0]">
#along = #tile.layout<"128x32 unit 128x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0] [64,0]">
#across = #tile.layout<"32x64 unit 32x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32] [8,0] [16,0]">

// A lies along K in rows of 64 bytes (mode 2, 512 bytes from 8 rows to the next), B across it in rows of 128 (mode 1, 1024 bytes from 8 k to the next). The second
// group's rows of A start 4096 bytes later; a step is 32 bytes of A, and 2048 of B.
// CHECK-LABEL: llvm.func @steps
// CHECK: ptx.shuffle <index>
// CHECK: %[[B:.*]] = arith.ori %{{.*}}, %c4611686293305360384_i64
// CHECK: arith.muli %{{.*}}, %c256_i32
// CHECK: %[[A:.*]] = arith.ori %{{.*}}, %c-9223371899415756800_i64
// CHECK: ptx.wgmma_fence(
// CHECK: ptx.wgmma n 64 <bf16>(%[[A]]) * <bf16>(%[[B]]) + <f32>({{.*}}) transpose_b
// CHECK-NOT: fence
// CHECK: %[[A2:.*]] = arith.addi %[[A]], %c2_i64
// CHECK: %[[B2:.*]] = arith.addi %[[B]], %c128_i64
// CHECK: ptx.wgmma n 64 <bf16>(%[[A2]]) * <bf16>(%[[B2]]) + <f32>({{.*}}) transpose_b
// CHECK: ptx.wgmma_commit
// CHECK: ptx.wgmma_wait 0(
tile.kernel @steps grid 1 [-1] facts <fast> warps 8 params [] {
  %a = tile.alloc at 0 : !tile.shared<1, tensor<128x32xbf16, #along>>
  %b = tile.alloc at 8192 : !tile.shared<1, tensor<32x64xbf16, #across>>
  %c = arith.constant dense<1.0> : tensor<128x64xf32, #acc>
  %d = tile.dot %a, %b, %c warpgroups : !tile.shared<1, tensor<128x32xbf16, #along>>, !tile.shared<1, tensor<32x64xbf16, #across>>, tensor<128x64xf32, #acc>
  tile.dealloc %b : !tile.shared<1, tensor<32x64xbf16, #across>>
  tile.dealloc %a : !tile.shared<1, tensor<128x32xbf16, #along>>
  tile.return
}

// -----

#acc = #tile.layout<"64x8 unit 64x8 reg [0,1] [8,0] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#a = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">
#slot = #tile.layout<"32x8 unit 32x8 reg [1,0] [2,0] [4,0] [8,0] [16,0] [0,1] [8,2] [16,4]">

// A loop that keeps one product in flight: its sums pass through no fence, and are values after the last wait.
// CHECK-LABEL: llvm.func @flight
// CHECK: scf.for {{.*}} iter_args(%[[S0:[^ ]*]] = %{{[^,]*}}, %[[S1:[^ ]*]] =
// CHECK: ptx.wgmma_fence{{$}}
// CHECK: %[[D:.*]]:4 = ptx.wgmma n 8 <bf16>(%{{[0-9]*}}) * <bf16>(%{{[0-9]*}}) + <f32>(%[[S0]], %[[S1]],
// CHECK: ptx.wgmma_commit
// CHECK-NEXT: ptx.wgmma_wait 1
// CHECK-NOT: wgmma_wait
// CHECK: scf.yield
// CHECK: ptx.wgmma_wait 0(
tile.kernel @flight grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "n", i64>] {
  %n = tile.param 0 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.alloc at 0 : !tile.shared<1, tensor<64x32xbf16, #a>>
  %b = tile.alloc at 4096 : !tile.shared<1, tensor<32x8xbf16, #slot>>
  %c = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
  %d = scf.for %k = %zero to %n step %one iter_args(%sum = %c) -> (tensor<64x8xf32, #acc>) : i64 {
    %e = tile.dot %a, %b, %sum warpgroups in_flight : !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.shared<1, tensor<32x8xbf16, #slot>>, tensor<64x8xf32, #acc>
    tile.dot_wait 1
    scf.yield %e : tensor<64x8xf32, #acc>
  }
  %r = tile.dot_wait 0 (%d) : tensor<64x8xf32, #acc> to tensor<64x8xf32, #acc>
  tile.dealloc %b : !tile.shared<1, tensor<32x8xbf16, #slot>>
  tile.dealloc %a : !tile.shared<1, tensor<64x32xbf16, #a>>
  tile.return
}

// -----

#acc = #tile.layout<"64x8 unit 64x8 reg [0,1] [8,0] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#a = #tile.layout<"64x384 unit 64x128 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [0,64] [1,16] [2,32] [4,64] [8,0] [16,0] [32,0] repeat 1x3">
#b = #tile.layout<"384x8 unit 128x8 reg [1,0] [2,0] [4,0] [8,0] [16,0] [32,0] [64,0] [16,1] [32,2] [64,4] repeat 0x3">

// 8-bit floats are added up outside of the tensor core every 128 of K; from zero on otherwise, and elsewhere, the first step replaces. One part is added while the next is
// multiplied, in the registers of the one before.
// CHECK-LABEL: llvm.func @promoted
// CHECK: ptx.wgmma n 8 <e4m3>{{.*}} scale
// CHECK-COUNT-11: ptx.wgmma n 8 <e4m3>(%{{[0-9]*}}) * <e4m3>(%{{[0-9]*}}) + <f32>(%{{[0-9]*}}#0, %{{[0-9]*}}#1, %{{[0-9]*}}#2, %{{[0-9]*}}#3){{$}}
// CHECK: ptx.wgmma_wait 0
// CHECK-NOT: arith.addf
// CHECK-COUNT-4: ptx.wgmma n 8 <e4m3>
// CHECK: ptx.wgmma_commit
// CHECK-NOT: wait
// CHECK-COUNT-4: ptx.wgmma n 8 <e4m3>
// CHECK: ptx.wgmma_commit
// CHECK: %[[FIRST:.*]]:4 = ptx.wgmma_wait 1
// CHECK-COUNT-4: arith.addf %{{.*}}, %[[FIRST]]
// CHECK: ptx.wgmma_fence
// CHECK: ptx.wgmma n 8 {{.*}} + <f32>(%[[FIRST]]#0, %[[FIRST]]#1, %[[FIRST]]#2, %[[FIRST]]#3) scale
// CHECK-COUNT-3: ptx.wgmma n 8 <e4m3>
// CHECK: ptx.wgmma_commit
// CHECK: ptx.wgmma_wait 1
// CHECK-COUNT-4: arith.addf
// CHECK: ptx.wgmma_wait 0
// CHECK-COUNT-4: arith.addf
tile.kernel @promoted grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "c", !tile.ptr<f32>>] {
  %out = tile.param 0 : !tile.ptr<f32>
  %zero = arith.constant 0 : i64
  %n = arith.constant 64 : i64
  %a = tile.alloc at 0 : !tile.shared<1, tensor<64x384xf8E4M3FN, #a>>
  %b = tile.alloc at 24576 : !tile.shared<1, tensor<384x8xf8E4M3FN, #b>>
  %c = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
  %d = tile.dot %a, %b, %c precision <fast> warpgroups : !tile.shared<1, tensor<64x384xf8E4M3FN, #a>>, !tile.shared<1, tensor<384x8xf8E4M3FN, #b>>, tensor<64x8xf32, #acc>
  %e = tile.dot %a, %b, %d warpgroups : !tile.shared<1, tensor<64x384xf8E4M3FN, #a>>, !tile.shared<1, tensor<384x8xf8E4M3FN, #b>>, tensor<64x8xf32, #acc>
  tile.store %e to %out[span(%zero, 64) stride %n within(%zero, %n), span(%zero, 8) stride %n within(%zero, %n)] : tensor<64x8xf32, #acc> to !tile.ptr<f32>
  tile.dealloc %b : !tile.shared<1, tensor<384x8xf8E4M3FN, #b>>
  tile.dealloc %a : !tile.shared<1, tensor<64x384xf8E4M3FN, #a>>
  tile.return
}

// -----

#acc = #tile.layout<"64x256 unit 64x256 reg [0,1] [8,0] [0,8] [0,16] [0,32] [0,64] [0,128] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#a = #tile.layout<"64x128 unit 64x128 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [0,64] [1,16] [2,32] [4,64] [8,0] [16,0] [32,0]">
#b = #tile.layout<"128x256 unit 128x256 reg [1,0] [2,0] [4,0] [8,0] [16,0] [32,0] [64,0] [16,1] [32,2] [64,4] [0,8] [0,16] [0,32] [0,64] [0,128]">

// Beside 128 sums there are registers for one part of 64.
// CHECK-LABEL: llvm.func @one_part
// CHECK-COUNT-4: ptx.wgmma n 128 <e4m3>
// CHECK: ptx.wgmma_wait 0
// CHECK-COUNT-4: ptx.wgmma n 128 <e4m3>
// CHECK: ptx.wgmma_wait 0
// CHECK-NOT: wait
tile.kernel @one_part grid 1 [-1] facts <fast> warps 4 params [] {
  %a = tile.alloc at 0 : !tile.shared<1, tensor<64x128xf8E4M3FN, #a>>
  %b = tile.alloc at 8192 : !tile.shared<1, tensor<128x256xf8E4M3FN, #b>>
  %c = arith.constant dense<1.0> : tensor<64x256xf32, #acc>
  %d = tile.dot %a, %b, %c warpgroups : !tile.shared<1, tensor<64x128xf8E4M3FN, #a>>, !tile.shared<1, tensor<128x256xf8E4M3FN, #b>>, tensor<64x256xf32, #acc>
  tile.dealloc %b : !tile.shared<1, tensor<128x256xf8E4M3FN, #b>>
  tile.dealloc %a : !tile.shared<1, tensor<64x128xf8E4M3FN, #a>>
  tile.return
}

// -----

#acc = #tile.layout<"64x8 unit 64x8 reg [0,1] [8,0] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#a = #tile.layout<"64x8 unit 64x8 reg [0,1] [0,2] [0,4] [1,0] [2,0] [4,4] [8,0] [16,0] [32,0]">
#slot = #tile.layout<"8x8 unit 8x8 reg [1,0] [2,0] [4,0] [0,1] [0,2] [4,4]">

// tf32x3: threads write what tf32 cuts from B's 64 elements, made larger by what is cut from that on the average, and hold both halves of A; then A's rest times B, A times B's rest, and
// the product of what is large.
// CHECK-LABEL: llvm.func @three
// CHECK: arith.cmpi ult, %{{.*}}, %c16_i32
// CHECK: scf.if
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: arith.andi %{{.*}}, %c-8192_i32
// CHECK: arith.subf
// CHECK: arith.mulf
// CHECK: llvm.store {{.*}} : vector<4xf32>
// CHECK: ptx.fence_proxy_async
// CHECK: arith.addi %{{.*}}, %c4096_i32
// CHECK: %[[F:.*]]:12 = ptx.wgmma_fence(
// CHECK: %[[D:.*]]:4 = ptx.wgmma n 8 <tf32>(%[[F]]#8, %[[F]]#9, %[[F]]#10, %[[F]]#11) * <tf32>(%[[B:.*]]) + <f32>(%[[F]]#0, %[[F]]#1, %[[F]]#2, %[[F]]#3)
// CHECK: %[[E:.*]]:4 = ptx.wgmma n 8 <tf32>(%[[F]]#4, %[[F]]#5, %[[F]]#6, %[[F]]#7) * <tf32>(%[[REST:.*]]) + <f32>(%[[D]]#0, %[[D]]#1, %[[D]]#2, %[[D]]#3)
// CHECK: ptx.wgmma n 8 <tf32>(%[[F]]#4, %[[F]]#5, %[[F]]#6, %[[F]]#7) * <tf32>(%[[B]]) + <f32>(%[[E]]#0,
tile.kernel @three grid 1 [-1] facts <fast> warps 4 params [] {
  %a = tile.alloc at 0 : !tile.shared<1, tensor<64x8xf32, #a>>
  %b = tile.alloc at 2048 : !tile.shared<1, tensor<8x8xf32, #slot>>
  %r = tile.alloc at 3072 : !tile.shared<1, tensor<8x8xf32, #slot>>
  %c = arith.constant dense<1.0> : tensor<64x8xf32, #acc>
  tile.put_rest %b into %r : !tile.shared<1, tensor<8x8xf32, #slot>>
  tile.barrier async
  %d = tile.dot %a, %b, %c rest %r : !tile.shared<1, tensor<8x8xf32, #slot>> precision <tf32x3> warpgroups : !tile.shared<1, tensor<64x8xf32, #a>>, !tile.shared<1, tensor<8x8xf32, #slot>>, tensor<64x8xf32, #acc>
  tile.dealloc %r : !tile.shared<1, tensor<8x8xf32, #slot>>
  tile.dealloc %b : !tile.shared<1, tensor<8x8xf32, #slot>>
  tile.dealloc %a : !tile.shared<1, tensor<64x8xf32, #a>>
  tile.return
}
