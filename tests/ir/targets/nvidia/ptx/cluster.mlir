// SPDX-License-Identifier: MIT
// Blocks of a cluster, fences.
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s
// RUN: tilegym-opt assemble %s arch=sm_90a emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ tilegym-opt assemble %s arch=sm_90a | FileCheck %s --check-prefix=CUBIN %}

// CUBIN: cluster: assembled for sm_90a

// CHECK-LABEL: llvm.func @cluster
// PTX-LABEL: .entry cluster(
llvm.func @cluster(%f: f32, %x: i32, %y: i64, %ok: i1, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  // CHECK: ptx.shared_base : <3>
  %s = ptx.shared_base : !llvm.ptr<3>
  // CHECK: ptx.cluster_rank
  %rank = ptx.cluster_rank
  // CHECK: ptx.cluster_size
  %size = ptx.cluster_size
  // CHECK: ptx.map_shared_rank %{{.*}}, %{{.*}}
  %c = ptx.map_shared_rank %s, %rank
  // PTX: st.shared::cluster.b32
  llvm.store %size, %c : i32, !llvm.ptr<7>
  // CHECK: ptx.cluster_arrive relaxed
  // PTX: barrier.cluster.arrive.relaxed.aligned;
  ptx.cluster_arrive relaxed
  // CHECK: ptx.cluster_arrive
  // PTX: barrier.cluster.arrive.aligned;
  ptx.cluster_arrive
  // CHECK: ptx.cluster_wait
  // PTX: barrier.cluster.wait.aligned;
  ptx.cluster_wait
  // CHECK: ptx.store_async(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) to %{{.*}} signal %{{.*}} if %{{.*}} : f32, f32, f32, f32
  // PTX: @%{{p[0-9]+}} st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%{{rd[0-9]+}}], {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}, [%{{rd[0-9]+}}];
  ptx.store_async (%f, %f, %f, %f) to %c signal %c if %ok : f32, f32, f32, f32
  // CHECK: ptx.store_async(%{{.*}}) to %{{.*}} signal %{{.*}} : i32
  // PTX: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%{{rd[0-9]+}}], %{{r[0-9]+}}, [%{{rd[0-9]+}}];
  ptx.store_async (%x) to %c signal %c : i32
  // CHECK: ptx.store_async(%{{.*}}, %{{.*}}) to %{{.*}} signal %{{.*}} : i64, i64
  // PTX: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%{{rd[0-9]+}}], {%{{rd[0-9]+}}, %{{rd[0-9]+}}}, [%{{rd[0-9]+}}];
  ptx.store_async (%y, %y) to %c signal %c : i64, i64
  // CHECK: ptx.fence_mbarrier_init
  // PTX: fence.mbarrier_init.release.cluster;
  ptx.fence_mbarrier_init
  // CHECK: ptx.fence_proxy_async <all>
  // PTX: fence.proxy.async;
  ptx.fence_proxy_async <all>
  // CHECK: ptx.fence_proxy_async <global>
  // PTX: fence.proxy.async.global;
  ptx.fence_proxy_async <global>
  // CHECK: ptx.fence_proxy_async <shared_cta>
  // PTX: fence.proxy.async.shared::cta;
  ptx.fence_proxy_async <shared_cta>
  // CHECK: ptx.fence_proxy_async <shared_cluster>
  // PTX: fence.proxy.async.shared::cluster;
  ptx.fence_proxy_async <shared_cluster>
  // CHECK: ptx.fence <acq_rel> scope <gpu>
  // PTX: fence.acq_rel.gpu;
  ptx.fence <acq_rel> scope <gpu>
  // CHECK: ptx.fence <sc> scope <sys>
  // PTX: fence.sc.sys;
  ptx.fence <sc> scope <sys>
  // CHECK: ptx.fence <acq_rel> scope <cluster>
  // PTX: fence.acq_rel.cluster;
  ptx.fence <acq_rel> scope <cluster>
  llvm.return
}
