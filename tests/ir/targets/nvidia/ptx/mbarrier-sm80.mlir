// SPDX-License-Identifier: MIT
// What sm_80 has of mbarriers, with cp.async arriving at them.
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s
// RUN: tilegym-opt assemble %s arch=sm_80 emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ tilegym-opt assemble %s arch=sm_80 | FileCheck %s --check-prefix=CUBIN %}

// CUBIN: mbarrier copy_async: assembled for sm_80

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
