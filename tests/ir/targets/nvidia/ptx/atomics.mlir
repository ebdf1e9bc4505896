// SPDX-License-Identifier: MIT
// Atomic accesses, with their order and scope.
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s
// RUN: tilegym-opt assemble %s arch=sm_90a emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ tilegym-opt assemble %s arch=sm_90a | FileCheck %s --check-prefix=CUBIN %}

// CUBIN: atomics: assembled for sm_90a

// CHECK-LABEL: llvm.func @atomics
// PTX-LABEL: .entry atomics(
llvm.func @atomics(%p: !llvm.ptr<1>, %x: i32, %y: i64, %f: f32, %d: f64, %h: f16, %b: bf16, %s16: i16, %ok: i1) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  // CHECK: ptx.shared_base : <3>
  %s = ptx.shared_base : !llvm.ptr<3>
  // CHECK: ptx.cluster_rank
  %rank = ptx.cluster_rank
  // CHECK: ptx.map_shared_rank %{{.*}}, %{{.*}}
  %c = ptx.map_shared_rank %s, %rank
  // CHECK: ptx.atomic <add> %{{.*}}, %{{.*}} if %{{.*}} : i32
  // PTX: @%{{p[0-9]+}} atom.relaxed.gpu.global.add.u32 %{{r[0-9]+}}, [%{{rd[0-9]+}}], %{{r[0-9]+}};
  %a0 = ptx.atomic <add> %p, %x if %ok : i32
  // CHECK: ptx.atomic <add> %{{.*}}, %{{.*}} order <acq_rel> scope <sys> : i64
  // PTX: atom.acq_rel.sys.global.add.u64 %{{rd[0-9]+}}, [%{{rd[0-9]+}}], %{{rd[0-9]+}};
  %a1 = ptx.atomic <add> %p, %y order <acq_rel> scope <sys> : i64
  // CHECK: ptx.atomic <fadd> %{{.*}}, %{{.*}} scope <cta> : f32 at !llvm.ptr<3>
  // PTX: atom.relaxed.cta.shared::cta.add.f32 %{{r[0-9]+}}, [%{{rd[0-9]+}}], %{{r[0-9]+}};
  %a2 = ptx.atomic <fadd> %s, %f scope <cta> : f32 at !llvm.ptr<3>
  // CHECK: ptx.atomic <fadd> %{{.*}}, %{{.*}} : f16
  // PTX: atom.relaxed.gpu.global.add.noftz.f16 %{{rs[0-9]+}}, [%{{rd[0-9]+}}], %{{rs[0-9]+}};
  %a3 = ptx.atomic <fadd> %p, %h : f16
  // CHECK: ptx.atomic <fadd> %{{.*}}, %{{.*}} : bf16
  // PTX: atom.relaxed.gpu.global.add.noftz.bf16 %{{rs[0-9]+}}, [%{{rd[0-9]+}}], %{{rs[0-9]+}};
  %a4 = ptx.atomic <fadd> %p, %b : bf16
  // CHECK: ptx.atomic <fadd> %{{.*}}, %{{.*}} : f64
  // PTX: atom.relaxed.gpu.global.add.f64 %{{rd[0-9]+}}, [%{{rd[0-9]+}}], %{{rd[0-9]+}};
  %a5 = ptx.atomic <fadd> %p, %d : f64
  // CHECK: ptx.atomic <smax> %{{.*}}, %{{.*}} order <release> scope <cluster> : i32 at !llvm.ptr<7>
  // PTX: atom.release.cluster.shared::cluster.max.s32 %{{r[0-9]+}}, [%{{rd[0-9]+}}], %{{r[0-9]+}};
  %a6 = ptx.atomic <smax> %c, %x order <release> scope <cluster> : i32 at !llvm.ptr<7>
  // CHECK: ptx.atomic <umin> %{{.*}}, %{{.*}} : i64
  // PTX: atom.relaxed.gpu.global.min.u64 %{{rd[0-9]+}}, [%{{rd[0-9]+}}], %{{rd[0-9]+}};
  %a7 = ptx.atomic <umin> %p, %y : i64
  // CHECK: ptx.atomic <xor> %{{.*}}, %{{.*}} : i32 at !llvm.ptr<3>
  // PTX: atom.relaxed.gpu.shared::cta.xor.b32 %{{r[0-9]+}}, [%{{rd[0-9]+}}], %{{r[0-9]+}};
  %a8 = ptx.atomic <xor> %s, %x : i32 at !llvm.ptr<3>
  // CHECK: ptx.atomic <exch> %{{.*}}, %{{.*}} order <acquire> : i64
  // PTX: atom.acquire.gpu.global.exch.b64 %{{rd[0-9]+}}, [%{{rd[0-9]+}}], %{{rd[0-9]+}};
  %a9 = ptx.atomic <exch> %p, %y order <acquire> : i64
  // CHECK: ptx.atomic_cas %{{.*}}, %{{.*}}, %{{.*}} if %{{.*}} : i32
  // PTX: @%{{p[0-9]+}} atom.relaxed.gpu.global.cas.b32 %{{r[0-9]+}}, [%{{rd[0-9]+}}], %{{r[0-9]+}}, %{{r[0-9]+}};
  %c0 = ptx.atomic_cas %p, %x, %a0 if %ok : i32
  // CHECK: ptx.atomic_cas %{{.*}}, %{{.*}}, %{{.*}} order <acquire> scope <cluster> : i64 at !llvm.ptr<7>
  // PTX: atom.acquire.cluster.shared::cluster.cas.b64 %{{rd[0-9]+}}, [%{{rd[0-9]+}}], %{{rd[0-9]+}}, %{{rd[0-9]+}};
  %c1 = ptx.atomic_cas %c, %y, %a9 order <acquire> scope <cluster> : i64 at !llvm.ptr<7>
  // CHECK: ptx.atomic_cas %{{.*}}, %{{.*}}, %{{.*}} order <acq_rel> scope <cta> : i16 at !llvm.ptr<3>
  // PTX: atom.acq_rel.cta.shared::cta.cas.b16 %{{rs[0-9]+}}, [%{{rd[0-9]+}}], %{{rs[0-9]+}}, %{{rs[0-9]+}};
  %c2 = ptx.atomic_cas %s, %s16, %s16 order <acq_rel> scope <cta> : i16 at !llvm.ptr<3>
  // CHECK: ptx.atomic_reduce <add> <f32> %{{.*}}, (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) if %{{.*}} : f32, f32, f32, f32
  // PTX: @%{{p[0-9]+}} red.relaxed.gpu.global.add.v4.f32 [%{{rd[0-9]+}}], {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}};
  ptx.atomic_reduce <add> <f32> %p, (%f, %f, %f, %f) if %ok : f32, f32, f32, f32
  // CHECK: ptx.atomic_reduce <add> <f32> %{{.*}}, (%{{.*}}, %{{.*}}) : f32, f32
  // PTX: red.relaxed.gpu.global.add.v2.f32 [%{{rd[0-9]+}}], {%{{r[0-9]+}}, %{{r[0-9]+}}};
  ptx.atomic_reduce <add> <f32> %p, (%f, %f) : f32, f32
  // CHECK: ptx.atomic_reduce <max> <bf16> %{{.*}}, (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : i32, i32, i32, i32
  // PTX: red.relaxed.gpu.global.max.noftz.v4.bf16x2 [%{{rd[0-9]+}}], {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}};
  ptx.atomic_reduce <max> <bf16> %p, (%x, %x, %x, %x) : i32, i32, i32, i32
  // CHECK: ptx.atomic_reduce <add> <f16> %{{.*}}, (%{{.*}}) : i32 at !llvm.ptr<3>
  // PTX: red.relaxed.gpu.shared::cta.add.noftz.f16x2 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.atomic_reduce <add> <f16> %s, (%x) : i32 at !llvm.ptr<3>
  // CHECK: ptx.atomic_reduce <inc> <u32> %{{.*}}, (%{{.*}}) scope <cta> : i32 at !llvm.ptr<3>
  // PTX: red.relaxed.cta.shared::cta.inc.u32 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.atomic_reduce <inc> <u32> %s, (%x) scope <cta> : i32 at !llvm.ptr<3>
  // CHECK: ptx.atomic_reduce <add> <s64> %{{.*}}, (%{{.*}}) order <release> : i64
  // PTX: red.release.gpu.global.add.u64 [%{{rd[0-9]+}}], %{{rd[0-9]+}};
  ptx.atomic_reduce <add> <s64> %p, (%y) order <release> : i64
  // CHECK: ptx.atomic_reduce <or> <s32> %{{.*}}, (%{{.*}}) : i32 at !llvm.ptr<7>
  // PTX: red.relaxed.gpu.shared::cluster.or.b32 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.atomic_reduce <or> <s32> %c, (%x) : i32 at !llvm.ptr<7>
  // CHECK: ptx.atomic_reduce <min> <s32> %{{.*}}, (%{{.*}}) : i32
  // PTX: red.relaxed.gpu.global.min.s32 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.atomic_reduce <min> <s32> %p, (%x) : i32
  // CHECK: ptx.atomic_reduce <add> <f64> %{{.*}}, (%{{.*}}) : f64
  // PTX: red.relaxed.gpu.global.add.f64 [%{{rd[0-9]+}}], %{{rd[0-9]+}};
  ptx.atomic_reduce <add> <f64> %p, (%d) : f64
  // CHECK: ptx.atomic_load %{{.*}} order <acquire> : i32
  // PTX: ld.acquire.gpu.global.b32 %{{r[0-9]+}}, [%{{rd[0-9]+}}];
  %l0 = ptx.atomic_load %p order <acquire> : i32
  // CHECK: ptx.atomic_load %{{.*}} scope <cta> : i64 at !llvm.ptr<3>
  // PTX: ld.relaxed.cta.shared::cta.b64 %{{rd[0-9]+}}, [%{{rd[0-9]+}}];
  %l1 = ptx.atomic_load %s scope <cta> : i64 at !llvm.ptr<3>
  // CHECK: ptx.atomic_load %{{.*}} order <acquire> scope <cluster> : f32 at !llvm.ptr<7>
  // PTX: ld.acquire.cluster.shared::cluster.b32 %{{r[0-9]+}}, [%{{rd[0-9]+}}];
  %l2 = ptx.atomic_load %c order <acquire> scope <cluster> : f32 at !llvm.ptr<7>
  // CHECK: ptx.atomic_store %{{.*}}, %{{.*}} if %{{.*}} order <release> scope <sys> : i32
  // PTX: @%{{p[0-9]+}} st.release.sys.global.b32 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.atomic_store %p, %x if %ok order <release> scope <sys> : i32
  // CHECK: ptx.atomic_store %{{.*}}, %{{.*}} scope <cluster> : f32 at !llvm.ptr<7>
  // PTX: st.relaxed.cluster.shared::cluster.b32 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.atomic_store %c, %f scope <cluster> : f32 at !llvm.ptr<7>
  llvm.return
}
