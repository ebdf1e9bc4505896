// SPDX-License-Identifier: MIT
// Fragments from shared memory, and mma.sync of sm_80.
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s
// RUN: tilegym-opt assemble %s arch=sm_80 emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ tilegym-opt assemble %s arch=sm_80 | FileCheck %s --check-prefix=CUBIN %}

// CUBIN: matrix: assembled for sm_80

// CHECK-LABEL: llvm.func @matrix
// PTX-LABEL: .entry matrix(
llvm.func @matrix(%f: f32, %x: i32, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  // CHECK: ptx.shared_base : <3>
  %s = ptx.shared_base : !llvm.ptr<3>
  // CHECK: ptx.load_matrix %{{.*}} : i32, i32, i32, i32
  // PTX: ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, [%{{rd[0-9]+}}];
  %a:4 = ptx.load_matrix %s : i32, i32, i32, i32
  // CHECK: ptx.load_matrix %{{.*}} transposed : i32, i32
  // PTX: ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%{{r[0-9]+}}, %{{r[0-9]+}}}, [%{{rd[0-9]+}}];
  %b:2 = ptx.load_matrix %s transposed : i32, i32
  // CHECK: ptx.load_matrix %{{.*}} : i32
  // PTX: ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {%{{r[0-9]+}}}, [%{{rd[0-9]+}}];
  %c = ptx.load_matrix %s : i32
  // CHECK: ptx.mma k 16 <bf16>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) * <bf16>(%{{.*}}, %{{.*}}) + <f32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  // PTX: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}};
  %d0:4 = ptx.mma k 16 <bf16> (%a#0, %a#1, %a#2, %a#3) * <bf16> (%b#0, %b#1) + <f32> (%f, %f, %f, %f)
  // CHECK: ptx.mma k 8 <f16>(%{{.*}}, %{{.*}}) * <f16>(%{{.*}}) + <f32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  // PTX: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}};
  %d1:4 = ptx.mma k 8 <f16> (%a#0, %a#1) * <f16> (%c) + <f32> (%d0#0, %d0#1, %d0#2, %d0#3)
  // CHECK: ptx.mma k 16 <f16>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) * <f16>(%{{.*}}, %{{.*}}) + <f16>(%{{.*}}, %{{.*}})
  // PTX: mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}};
  %d2:2 = ptx.mma k 16 <f16> (%a#0, %a#1, %a#2, %a#3) * <f16> (%b#0, %b#1) + <f16> (%x, %x)
  // CHECK: ptx.mma k 8 <tf32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) * <tf32>(%{{.*}}, %{{.*}}) + <f32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  // PTX: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}};
  %d3:4 = ptx.mma k 8 <tf32> (%a#0, %a#1, %a#2, %a#3) * <tf32> (%b#0, %b#1) + <f32> (%d1#0, %d1#1, %d1#2, %d1#3)
  // CHECK: ptx.mma k 4 <tf32>(%{{.*}}, %{{.*}}) * <tf32>(%{{.*}}) + <f32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  // PTX: mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}};
  %d4:4 = ptx.mma k 4 <tf32> (%a#0, %a#1) * <tf32> (%c) + <f32> (%d3#0, %d3#1, %d3#2, %d3#3)
  // CHECK: ptx.mma k 32 <s8>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) * <u8>(%{{.*}}, %{{.*}}) + <s32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  // PTX: mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}};
  %d5:4 = ptx.mma k 32 <s8> (%a#0, %a#1, %a#2, %a#3) * <u8> (%b#0, %b#1) + <s32> (%x, %x, %x, %x)
  // CHECK: ptx.mma k 16 <s8>(%{{.*}}, %{{.*}}) * <s8>(%{{.*}}) + <s32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) saturate
  // PTX: mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}};
  %d6:4 = ptx.mma k 16 <s8> (%a#0, %a#1) * <s8> (%c) + <s32> (%d5#0, %d5#1, %d5#2, %d5#3) saturate
  llvm.return
}
