// SPDX-License-Identifier: MIT
// Barriers of threads and copies in shared memory.
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s
// RUN: tilegym-opt assemble %s arch=sm_90a emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ tilegym-opt assemble %s arch=sm_90a | FileCheck %s --check-prefix=CUBIN %}

// CUBIN: mbarrier: assembled for sm_90a

// CHECK-LABEL: llvm.func @mbarrier
// PTX-LABEL: .entry mbarrier(
llvm.func @mbarrier(%n: i32, %parity: i32, %ok: i1) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  // CHECK: ptx.shared_base : <3>
  %b = ptx.shared_base : !llvm.ptr<3>
  // CHECK: ptx.cluster_rank
  %rank = ptx.cluster_rank
  // CHECK: ptx.map_shared_rank %{{.*}}, %{{.*}}
  %remote = ptx.map_shared_rank %b, %rank
  // CHECK: ptx.mbarrier_init %{{.*}}, %{{.*}} if %{{.*}}
  // PTX: @%{{p[0-9]+}} mbarrier.init.shared::cta.b64 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.mbarrier_init %b, %n if %ok
  // CHECK: ptx.mbarrier_init %{{.*}}, %{{.*}}
  // PTX: mbarrier.init.shared::cta.b64 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.mbarrier_init %b, %n
  // CHECK: ptx.mbarrier_arrive %{{.*}} : !llvm.ptr<3> -> i64
  // PTX: mbarrier.arrive.shared::cta.b64 %{{rd[0-9]+}}, [%{{rd[0-9]+}}];
  %state = ptx.mbarrier_arrive %b : !llvm.ptr<3> -> i64
  // CHECK: ptx.mbarrier_arrive %{{.*}} if %{{.*}} : !llvm.ptr<3>
  // PTX: @%{{p[0-9]+}} mbarrier.arrive.shared::cta.b64 _, [%{{rd[0-9]+}}];
  ptx.mbarrier_arrive %b if %ok : !llvm.ptr<3>
  // CHECK: ptx.mbarrier_arrive %{{.*}} scope <cluster> : !llvm.ptr<3>
  // PTX: mbarrier.arrive.release.cluster.shared::cta.b64 _, [%{{rd[0-9]+}}];
  ptx.mbarrier_arrive %b scope <cluster> : !llvm.ptr<3>
  // CHECK: ptx.mbarrier_arrive %{{.*}} count %{{.*}} if %{{.*}} relaxed scope <cluster> : !llvm.ptr<7>
  // PTX: @%{{p[0-9]+}} mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.mbarrier_arrive %remote count %n if %ok relaxed scope <cluster> : !llvm.ptr<7>
  // CHECK: ptx.mbarrier_arrive %{{.*}} : !llvm.ptr<7>
  // PTX: mbarrier.arrive.shared::cluster.b64 _, [%{{rd[0-9]+}}];
  ptx.mbarrier_arrive %remote : !llvm.ptr<7>
  // CHECK: ptx.mbarrier_arrive_expect_tx %{{.*}}, %{{.*}} if %{{.*}} relaxed : !llvm.ptr<3> -> i64
  // PTX: @%{{p[0-9]+}} mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 %{{rd[0-9]+}}, [%{{rd[0-9]+}}], %{{r[0-9]+}};
  %again = ptx.mbarrier_arrive_expect_tx %b, %n if %ok relaxed : !llvm.ptr<3> -> i64
  // CHECK: ptx.mbarrier_arrive_expect_tx %{{.*}}, %{{.*}} scope <cluster> : !llvm.ptr<7>
  // PTX: mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.mbarrier_arrive_expect_tx %remote, %n scope <cluster> : !llvm.ptr<7>
  // CHECK: ptx.mbarrier_expect_tx %{{.*}}, %{{.*}} if %{{.*}} : !llvm.ptr<3>
  // PTX: @%{{p[0-9]+}} mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.mbarrier_expect_tx %b, %n if %ok : !llvm.ptr<3>
  // CHECK: ptx.mbarrier_expect_tx %{{.*}}, %{{.*}} : !llvm.ptr<7>
  // PTX: mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.mbarrier_expect_tx %remote, %n : !llvm.ptr<7>
  // CHECK: ptx.mbarrier_complete_tx %{{.*}}, %{{.*}} : !llvm.ptr<3>
  // PTX: mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.mbarrier_complete_tx %b, %n : !llvm.ptr<3>
  // CHECK: ptx.mbarrier_complete_tx %{{.*}}, %{{.*}} if %{{.*}} : !llvm.ptr<7>
  // PTX: @%{{p[0-9]+}} mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.mbarrier_complete_tx %remote, %n if %ok : !llvm.ptr<7>
  // CHECK: ptx.mbarrier_try_wait %{{.*}}, %{{.*}} : i32
  // PTX: mbarrier.try_wait.parity.shared::cta.b64 %{{p[0-9]+}}, [%{{rd[0-9]+}}], %{{r[0-9]+}};
  %d0 = ptx.mbarrier_try_wait %b, %parity : i32
  // CHECK: ptx.mbarrier_try_wait %{{.*}}, %{{.*}} ticks %{{.*}} scope <cluster> : i64
  // PTX: mbarrier.try_wait.acquire.cluster.shared::cta.b64 %{{p[0-9]+}}, [%{{rd[0-9]+}}], %{{rd[0-9]+}}, %{{r[0-9]+}};
  %d1 = ptx.mbarrier_try_wait %b, %state ticks %n scope <cluster> : i64
  // CHECK: ptx.mbarrier_try_wait %{{.*}}, %{{.*}} relaxed scope <cluster> : i32
  // PTX: mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %{{p[0-9]+}}, [%{{rd[0-9]+}}], %{{r[0-9]+}};
  %d2 = ptx.mbarrier_try_wait %b, %parity relaxed scope <cluster> : i32
  // CHECK: ptx.mbarrier_test_wait %{{.*}}, %{{.*}} : i64
  // PTX: mbarrier.test_wait.shared::cta.b64 %{{p[0-9]+}}, [%{{rd[0-9]+}}], %{{rd[0-9]+}};
  %d3 = ptx.mbarrier_test_wait %b, %state : i64
  // CHECK: ptx.mbarrier_test_wait %{{.*}}, %{{.*}} scope <cluster> : i32
  // PTX: mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %{{p[0-9]+}}, [%{{rd[0-9]+}}], %{{r[0-9]+}};
  %d4 = ptx.mbarrier_test_wait %b, %parity scope <cluster> : i32
  // CHECK: ptx.mbarrier_inval %{{.*}} if %{{.*}}
  // PTX: @%{{p[0-9]+}} mbarrier.inval.shared::cta.b64 [%{{rd[0-9]+}}];
  ptx.mbarrier_inval %b if %ok
  llvm.return
}
