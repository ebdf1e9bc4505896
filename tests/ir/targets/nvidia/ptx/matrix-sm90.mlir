// SPDX-License-Identifier: MIT
// What later targets add to matrix fragments: 8-bit floats (sm_89) and stores (sm_90).
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s
// RUN: tilegym-opt assemble %s arch=sm_90a emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ tilegym-opt assemble %s arch=sm_90a | FileCheck %s --check-prefix=CUBIN %}

// CUBIN: matrix: assembled for sm_90a

// CHECK-LABEL: llvm.func @matrix
// PTX-LABEL: .entry matrix(
llvm.func @matrix(%f: f32, %x: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  // CHECK: ptx.shared_base : <3>
  %s = ptx.shared_base : !llvm.ptr<3>
  // CHECK: ptx.mma k 32 <e4m3>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) * <e5m2>(%{{.*}}, %{{.*}}) + <f32>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  // PTX: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}};
  %d0:4 = ptx.mma k 32 <e4m3> (%x, %x, %x, %x) * <e5m2> (%x, %x) + <f32> (%f, %f, %f, %f)
  // CHECK: ptx.convert_pair %{{.*}}, %{{.*}} to <e5m2>
  // PTX: cvt.rn.satfinite.e5m2x2.f32 %{{rs[0-9]+}}, %[[HIGH:r[0-9]+]], %[[HIGH]];
  %w = ptx.convert_pair %d0#0, %d0#0 to <e5m2>
  llvm.store volatile %w, %s : i16, !llvm.ptr<3>
  // CHECK: ptx.store_matrix %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} to %{{.*}}
  // PTX: stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%{{rd[0-9]+}}], {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}};
  ptx.store_matrix %x, %x, %x, %x to %s
  // CHECK: ptx.store_matrix %{{.*}}, %{{.*}} to %{{.*}} transposed
  // PTX: stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%{{rd[0-9]+}}], {%{{r[0-9]+}}, %{{r[0-9]+}}};
  ptx.store_matrix %x, %x to %s transposed
  // CHECK: ptx.store_matrix %{{.*}} to %{{.*}}
  // PTX: stmatrix.sync.aligned.m8n8.x1.shared::cta.b16 [%{{rd[0-9]+}}], {%{{r[0-9]+}}};
  ptx.store_matrix %x to %s
  llvm.return
}
