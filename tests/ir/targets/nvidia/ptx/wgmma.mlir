// SPDX-License-Identifier: MIT
// wgmma: types, operands in shared memory and in registers, scale, signs, major-ness.
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s
// RUN: tilegym-opt assemble %s arch=sm_90a emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ tilegym-opt assemble %s arch=sm_90a | FileCheck %s --check-prefix=CUBIN %}

// CUBIN: wgmma integers: assembled for sm_90a

// CHECK-LABEL: llvm.func @wgmma
// PTX-LABEL: .entry wgmma(
llvm.func @wgmma(%da: i64, %db: i64, %x: i32, %more: i1, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %p = llvm.mlir.poison : f32
  %z = arith.constant 0 : i32
  // CHECK: ptx.shared_base : <3>
  %s = ptx.shared_base : !llvm.ptr<3>
  // CHECK: ptx.load_matrix %{{.*}} : i32, i32, i32, i32
  // PTX: ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, [%{{rd[0-9]+}}];
  %l:4 = ptx.load_matrix %s : i32, i32, i32, i32
  // CHECK: ptx.wgmma_fence(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : i32, i32, i32, i32, i32, i32
  // PTX: wgmma.fence.sync.aligned;
  %a:6 = ptx.wgmma_fence (%l#0, %l#1, %l#2, %l#3, %z, %z) : i32, i32, i32, i32, i32, i32
  // CHECK: ptx.wgmma n 8 <bf16>(%{{.*}}) * <bf16>(%{{.*}}) + <f32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) scale %{{.*}}
  // PTX: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, %{{rd[0-9]+}}, %{{rd[0-9]+}}, %{{p[0-9]+}}, 1, 1, 0, 0;
  %d0:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%p, %p, %p, %p) scale %more
  // CHECK: ptx.wgmma n 8 <bf16>(%{{.*}}) * <bf16>(%{{.*}}) + <f32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) transpose_a transpose_b negate_a
  // PTX: { .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, %{{rd[0-9]+}}, %{{rd[0-9]+}}, p, -1, 1, 1, 1; }
  %d1:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%d0#0, %d0#1, %d0#2, %d0#3) transpose_a transpose_b negate_a
  // CHECK: ptx.wgmma n 8 <f16>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) * <f16>(%{{.*}}) + <f32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) transpose_b negate_b
  // PTX: { .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, %{{rd[0-9]+}}, p, 1, -1, 1; }
  %d2:4 = ptx.wgmma n 8 <f16> (%a#0, %a#1, %a#2, %a#3) * <f16> (%db) + <f32> (%d1#0, %d1#1, %d1#2, %d1#3) transpose_b negate_b
  // CHECK: ptx.wgmma n 8 <tf32>(%{{.*}}) * <tf32>(%{{.*}}) + <f32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  // PTX: { .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, %{{rd[0-9]+}}, %{{rd[0-9]+}}, p, 1, 1; }
  %d3:4 = ptx.wgmma n 8 <tf32> (%da) * <tf32> (%db) + <f32> (%d2#0, %d2#1, %d2#2, %d2#3)
  // CHECK: ptx.wgmma n 8 <e4m3>(%{{.*}}) * <e5m2>(%{{.*}}) + <f32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) scale %{{.*}}
  // PTX: wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, %{{rd[0-9]+}}, %{{rd[0-9]+}}, %{{p[0-9]+}}, 1, 1;
  %d4:4 = ptx.wgmma n 8 <e4m3> (%da) * <e5m2> (%db) + <f32> (%d3#0, %d3#1, %d3#2, %d3#3) scale %more
  // CHECK: ptx.wgmma_commit
  // PTX: wgmma.commit_group.sync.aligned;
  ptx.wgmma_commit
  // CHECK: ptx.wgmma n 8 <f16>(%{{.*}}) * <f16>(%{{.*}}) + <f16>(%{{.*}}, %{{.*}})
  // PTX: { .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%{{r[0-9]+}}, %{{r[0-9]+}}}, %{{rd[0-9]+}}, %{{rd[0-9]+}}, p, 1, 1, 0, 0; }
  %h0:2 = ptx.wgmma n 8 <f16> (%da) * <f16> (%db) + <f16> (%a#4, %a#5)
  // CHECK: ptx.wgmma n 8 <e5m2>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) * <e5m2>(%{{.*}}) + <f16>(%{{.*}}, %{{.*}})
  // PTX: { .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k32.f16.e5m2.e5m2 {%{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, %{{rd[0-9]+}}, p, 1, 1; }
  %h1:2 = ptx.wgmma n 8 <e5m2> (%a#0, %a#1, %a#2, %a#3) * <e5m2> (%db) + <f16> (%h0#0, %h0#1)
  // CHECK: ptx.wgmma_commit
  // PTX: wgmma.commit_group.sync.aligned;
  ptx.wgmma_commit
  // CHECK: ptx.wgmma_wait 0(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : f32, f32, f32, f32, i32, i32
  // PTX: wgmma.wait_group.sync.aligned 0;
  %r:6 = ptx.wgmma_wait 0 (%d4#0, %d4#1, %d4#2, %d4#3, %h1#0, %h1#1) : f32, f32, f32, f32, i32, i32
  llvm.store volatile %r#0, %out : f32, !llvm.ptr<1>
  llvm.store volatile %r#4, %out : i32, !llvm.ptr<1>
  llvm.return
}

// CHECK-LABEL: llvm.func @integers
// PTX-LABEL: .entry integers(
llvm.func @integers(%da: i64, %db: i64, %x: i32, %more: i1, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %i = llvm.mlir.poison : i32
  // CHECK: ptx.wgmma_fence
  // PTX: wgmma.fence.sync.aligned;
  ptx.wgmma_fence
  // CHECK: ptx.wgmma n 8 <s8>(%{{.*}}) * <u8>(%{{.*}}) + <s32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) scale %{{.*}} saturate
  // PTX: wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.u8 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, %{{rd[0-9]+}}, %{{rd[0-9]+}}, %{{p[0-9]+}};
  %d0:4 = ptx.wgmma n 8 <s8> (%da) * <u8> (%db) + <s32> (%i, %i, %i, %i) scale %more saturate
  // CHECK: ptx.wgmma n 8 <u8>(%{{.*}}) * <s8>(%{{.*}}) + <s32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  // PTX: { .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, %{{rd[0-9]+}}, %{{rd[0-9]+}}, p; }
  %d1:4 = ptx.wgmma n 8 <u8> (%da) * <s8> (%db) + <s32> (%d0#0, %d0#1, %d0#2, %d0#3)
  // CHECK: ptx.wgmma_commit
  // PTX: wgmma.commit_group.sync.aligned;
  ptx.wgmma_commit
  // CHECK: ptx.wgmma_wait 1
  // PTX: wgmma.wait_group.sync.aligned 1;
  ptx.wgmma_wait 1
  // CHECK: ptx.wgmma_wait 0(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : i32, i32, i32, i32
  // PTX: wgmma.wait_group.sync.aligned 0;
  %r:4 = ptx.wgmma_wait 0 (%d1#0, %d1#1, %d1#2, %d1#3) : i32, i32, i32, i32
  llvm.store volatile %r#0, %out : i32, !llvm.ptr<1>
  llvm.return
}
