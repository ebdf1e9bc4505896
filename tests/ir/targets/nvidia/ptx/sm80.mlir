// SPDX-License-Identifier: MIT
// What sm_80 has of each family.
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s
// RUN: tilegym-opt assemble %s arch=sm_80 emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ tilegym-opt assemble %s arch=sm_80 | FileCheck %s --check-prefix=CUBIN %}

// CUBIN: execution atomics mbarrier copy_async: assembled for sm_80

// CHECK-LABEL: llvm.func @execution
// PTX-LABEL: .entry execution(
llvm.func @execution(%x: i32, %p: i1, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  // CHECK: ptx.named_barrier <sync> %{{.*}} threads 64
  // PTX: bar.sync %{{r[0-9]+}}, 64;
  ptx.named_barrier <sync> %x threads 64
  // CHECK: ptx.warp_barrier
  // PTX: bar.warp.sync -1;
  ptx.warp_barrier
  // CHECK: ptx.match <all> %{{.*}} : i32
  // PTX: match.all.sync.b32 %{{r[0-9]+}}, %{{r[0-9]+}}, -1;
  %m = ptx.match <all> %x : i32
  // CHECK: ptx.vote <all> %{{.*}} : i1
  %v = ptx.vote <all> %p : i1
  // CHECK: ptx.redux <xor> %{{.*}}
  %r = ptx.redux <xor> %m
  // CHECK: ptx.clock <cycles>
  // PTX: mov.u64 %{{rd[0-9]+}}, %clock64;
  %t = ptx.clock <cycles>
  llvm.store volatile %v, %out : i1, !llvm.ptr<1>
  llvm.store volatile %r, %out : i32, !llvm.ptr<1>
  llvm.return
}

// CHECK-LABEL: llvm.func @atomics
// PTX-LABEL: .entry atomics(
llvm.func @atomics(%p: !llvm.ptr<1>, %x: i32, %f: f32, %h: f16, %ok: i1) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  // CHECK: ptx.shared_base : <3>
  %s = ptx.shared_base : !llvm.ptr<3>
  // CHECK: ptx.atomic <add> %{{.*}}, %{{.*}} if %{{.*}} order <acq_rel> : i32
  // PTX: @%{{p[0-9]+}} atom.acq_rel.gpu.global.add.u32 %{{r[0-9]+}}, [%{{rd[0-9]+}}], %{{r[0-9]+}};
  %a0 = ptx.atomic <add> %p, %x if %ok order <acq_rel> : i32
  // CHECK: ptx.atomic <fadd> %{{.*}}, %{{.*}} scope <cta> : f32 at !llvm.ptr<3>
  // PTX: atom.relaxed.cta.shared::cta.add.f32 %{{r[0-9]+}}, [%{{rd[0-9]+}}], %{{r[0-9]+}};
  %a1 = ptx.atomic <fadd> %s, %f scope <cta> : f32 at !llvm.ptr<3>
  // CHECK: ptx.atomic <fadd> %{{.*}}, %{{.*}} : f16
  // PTX: atom.relaxed.gpu.global.add.noftz.f16 %{{rs[0-9]+}}, [%{{rd[0-9]+}}], %{{rs[0-9]+}};
  %a2 = ptx.atomic <fadd> %p, %h : f16
  // CHECK: ptx.atomic_cas %{{.*}}, %{{.*}}, %{{.*}} order <acquire> : i32
  // PTX: atom.acquire.gpu.global.cas.b32 %{{r[0-9]+}}, [%{{rd[0-9]+}}], %{{r[0-9]+}}, %{{r[0-9]+}};
  %a3 = ptx.atomic_cas %p, %x, %a0 order <acquire> : i32
  // CHECK: ptx.atomic_reduce <add> <f32> %{{.*}}, (%{{.*}}) if %{{.*}} : f32
  // PTX: @%{{p[0-9]+}} red.relaxed.gpu.global.add.f32 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.atomic_reduce <add> <f32> %p, (%f) if %ok : f32
  // CHECK: ptx.atomic_reduce <add> <f16> %{{.*}}, (%{{.*}}) : i32
  // PTX: red.relaxed.gpu.global.add.noftz.f16x2 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.atomic_reduce <add> <f16> %p, (%x) : i32
  // CHECK: ptx.atomic_reduce <max> <s32> %{{.*}}, (%{{.*}}) scope <cta> : i32 at !llvm.ptr<3>
  // PTX: red.relaxed.cta.shared::cta.max.s32 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.atomic_reduce <max> <s32> %s, (%x) scope <cta> : i32 at !llvm.ptr<3>
  // CHECK: ptx.atomic_load %{{.*}} order <acquire> : i32
  // PTX: ld.acquire.gpu.global.b32 %{{r[0-9]+}}, [%{{rd[0-9]+}}];
  %l = ptx.atomic_load %p order <acquire> : i32
  // CHECK: ptx.atomic_store %{{.*}}, %{{.*}} if %{{.*}} order <release> scope <sys> : i32
  // PTX: @%{{p[0-9]+}} st.release.sys.global.b32 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.atomic_store %p, %l if %ok order <release> scope <sys> : i32
  // CHECK: ptx.fence <acq_rel> scope <gpu>
  // PTX: fence.acq_rel.gpu;
  ptx.fence <acq_rel> scope <gpu>
  // CHECK: ptx.fence <sc> scope <cta>
  // PTX: fence.sc.cta;
  ptx.fence <sc> scope <cta>
  llvm.return
}

// CHECK-LABEL: llvm.func @mbarrier
// PTX-LABEL: .entry mbarrier(
llvm.func @mbarrier(%n: i32, %parity: i32, %g: !llvm.ptr<1>, %ok: i1) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  // CHECK: ptx.shared_base : <3>
  %b = ptx.shared_base : !llvm.ptr<3>
  // CHECK: ptx.mbarrier_init %{{.*}}, %{{.*}} if %{{.*}}
  // PTX: @%{{p[0-9]+}} mbarrier.init.shared::cta.b64 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.mbarrier_init %b, %n if %ok
  // CHECK: ptx.mbarrier_arrive %{{.*}} : !llvm.ptr<3> -> i64
  // PTX: mbarrier.arrive.shared::cta.b64 %{{rd[0-9]+}}, [%{{rd[0-9]+}}];
  %state = ptx.mbarrier_arrive %b : !llvm.ptr<3> -> i64
  // CHECK: ptx.mbarrier_test_wait %{{.*}}, %{{.*}} : i64
  // PTX: mbarrier.test_wait.shared::cta.b64 %{{p[0-9]+}}, [%{{rd[0-9]+}}], %{{rd[0-9]+}};
  %d0 = ptx.mbarrier_test_wait %b, %state : i64
  // CHECK: ptx.copy_async_arrive %{{.*}}
  // PTX: cp.async.mbarrier.arrive.shared::cta.b64 [%{{rd[0-9]+}}];
  ptx.copy_async_arrive %b
  // CHECK: ptx.copy_async_arrive %{{.*}} noinc
  // PTX: cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%{{rd[0-9]+}}];
  ptx.copy_async_arrive %b noinc
  // CHECK: ptx.mbarrier_inval %{{.*}}
  // PTX: mbarrier.inval.shared::cta.b64 [%{{rd[0-9]+}}];
  ptx.mbarrier_inval %b
  llvm.return
}

// CHECK-LABEL: llvm.func @copy_async
// PTX-LABEL: .entry copy_async(
llvm.func @copy_async(%n: i32, %g: !llvm.ptr<1>, %ok: i1) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  // CHECK: ptx.shared_base : <3>
  %s = ptx.shared_base : !llvm.ptr<3>
  // CHECK: ptx.copy_async %{{.*}}, %{{.*}} bytes 4
  // PTX: cp.async.ca.shared::cta.global [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], 4;
  ptx.copy_async %s, %g bytes 4
  // CHECK: ptx.copy_async %{{.*}}, %{{.*}} bytes 8 if %{{.*}}
  // PTX: @%{{p[0-9]+}} cp.async.ca.shared::cta.global [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], 8;
  ptx.copy_async %s, %g bytes 8 if %ok
  // CHECK: ptx.copy_async %{{.*}}, %{{.*}} bytes 16 from %{{.*}} if %{{.*}} cache <global> fetch 128
  // PTX: @%{{p[0-9]+}} cp.async.cg.shared::cta.global.L2::128B [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], 16, %{{r[0-9]+}};
  ptx.copy_async %s, %g bytes 16 from %n if %ok cache <global> fetch 128
  // CHECK: ptx.copy_async %{{.*}}, %{{.*}} bytes 16 from %{{.*}}
  // PTX: cp.async.ca.shared::cta.global [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], 16, %{{r[0-9]+}};
  ptx.copy_async %s, %g bytes 16 from %n
  // CHECK: ptx.copy_async_commit
  // PTX: cp.async.commit_group;
  ptx.copy_async_commit
  // CHECK: ptx.copy_async_wait 2
  // PTX: cp.async.wait_group 2;
  ptx.copy_async_wait 2
  llvm.return
}
