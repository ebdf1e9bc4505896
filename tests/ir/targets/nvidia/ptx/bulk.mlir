// SPDX-License-Identifier: MIT
// Bulk copies of bytes.
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s
// RUN: tilegym-opt assemble %s arch=sm_90a emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ tilegym-opt assemble %s arch=sm_90a | FileCheck %s --check-prefix=CUBIN %}

// CUBIN: bulk: assembled for sm_90a

// CHECK-LABEL: llvm.func @bulk
// PTX-LABEL: .entry bulk(
llvm.func @bulk(%g: !llvm.ptr<1>, %n: i32, %mask: i16, %hint: i64, %ok: i1) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  // CHECK: ptx.shared_base : <3>
  %s = ptx.shared_base : !llvm.ptr<3>
  // CHECK: ptx.cluster_rank
  %rank = ptx.cluster_rank
  // CHECK: ptx.map_shared_rank %{{.*}}, %{{.*}}
  %c = ptx.map_shared_rank %s, %rank
  // CHECK: ptx.bulk_load %{{.*}}, %{{.*}}, %{{.*}} signal %{{.*}} : !llvm.ptr<3>
  // PTX: cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}}, [%{{rd[0-9]+}}];
  ptx.bulk_load %s, %g, %n signal %s : !llvm.ptr<3>
  // CHECK: ptx.bulk_load %{{.*}}, %{{.*}}, %{{.*}} signal %{{.*}} hint %{{.*}} if %{{.*}} : !llvm.ptr<3>
  // PTX: @%{{p[0-9]+}} cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}}, [%{{rd[0-9]+}}], %{{rd[0-9]+}};
  ptx.bulk_load %s, %g, %n signal %s hint %hint if %ok : !llvm.ptr<3>
  // CHECK: ptx.bulk_load %{{.*}}, %{{.*}}, %{{.*}} signal %{{.*}} if %{{.*}} : !llvm.ptr<7>
  // PTX: @%{{p[0-9]+}} cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}}, [%{{rd[0-9]+}}];
  ptx.bulk_load %c, %g, %n signal %s if %ok : !llvm.ptr<7>
  // CHECK: ptx.bulk_load %{{.*}}, %{{.*}}, %{{.*}} signal %{{.*}} multicast %{{.*}} hint %{{.*}} : !llvm.ptr<7>
  // PTX: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}}, [%{{rd[0-9]+}}], %{{rs[0-9]+}}, %{{rd[0-9]+}};
  ptx.bulk_load %c, %g, %n signal %s multicast %mask hint %hint : !llvm.ptr<7>
  // CHECK: ptx.bulk_store %{{.*}}, %{{.*}}, %{{.*}} if %{{.*}}
  // PTX: @%{{p[0-9]+}} cp.async.bulk.global.shared::cta.bulk_group [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.bulk_store %g, %s, %n if %ok
  // CHECK: ptx.bulk_store %{{.*}}, %{{.*}}, %{{.*}} hint %{{.*}}
  // PTX: cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}}, %{{rd[0-9]+}};
  ptx.bulk_store %g, %s, %n hint %hint
  // CHECK: ptx.bulk_reduce <add> <f32> %{{.*}}, %{{.*}}, %{{.*}} if %{{.*}} : !llvm.ptr<1>
  // PTX: @%{{p[0-9]+}} cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.bulk_reduce <add> <f32> %g, %s, %n if %ok : !llvm.ptr<1>
  // CHECK: ptx.bulk_reduce <add> <bf16> %{{.*}}, %{{.*}}, %{{.*}} hint %{{.*}} : !llvm.ptr<1>
  // PTX: cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.noftz.bf16 [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}}, %{{rd[0-9]+}};
  ptx.bulk_reduce <add> <bf16> %g, %s, %n hint %hint : !llvm.ptr<1>
  // CHECK: ptx.bulk_reduce <max> <f16> %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr<1>
  // PTX: cp.reduce.async.bulk.global.shared::cta.bulk_group.max.f16 [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.bulk_reduce <max> <f16> %g, %s, %n : !llvm.ptr<1>
  // CHECK: ptx.bulk_reduce <min> <s64> %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr<1>
  // PTX: cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s64 [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.bulk_reduce <min> <s64> %g, %s, %n : !llvm.ptr<1>
  // CHECK: ptx.bulk_reduce <xor> <u64> %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr<1>
  // PTX: cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b64 [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.bulk_reduce <xor> <u64> %g, %s, %n : !llvm.ptr<1>
  // CHECK: ptx.bulk_reduce <dec> <u32> %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr<1>
  // PTX: cp.reduce.async.bulk.global.shared::cta.bulk_group.dec.u32 [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}};
  ptx.bulk_reduce <dec> <u32> %g, %s, %n : !llvm.ptr<1>
  // CHECK: ptx.bulk_reduce <and> <u32> %{{.*}}, %{{.*}}, %{{.*}} signal %{{.*}} : !llvm.ptr<7>
  // PTX: cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.and.b32 [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}}, [%{{rd[0-9]+}}];
  ptx.bulk_reduce <and> <u32> %c, %s, %n signal %c : !llvm.ptr<7>
  // CHECK: ptx.bulk_reduce <add> <u64> %{{.*}}, %{{.*}}, %{{.*}} signal %{{.*}} if %{{.*}} : !llvm.ptr<7>
  // PTX: @%{{p[0-9]+}} cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64 [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}}, [%{{rd[0-9]+}}];
  ptx.bulk_reduce <add> <u64> %c, %s, %n signal %c if %ok : !llvm.ptr<7>
  // CHECK: ptx.bulk_copy_cluster %{{.*}}, %{{.*}}, %{{.*}} signal %{{.*}} if %{{.*}}
  // PTX: @%{{p[0-9]+}} cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%{{rd[0-9]+}}], [%{{rd[0-9]+}}], %{{r[0-9]+}}, [%{{rd[0-9]+}}];
  ptx.bulk_copy_cluster %c, %s, %n signal %c if %ok
  // CHECK: ptx.bulk_commit
  // PTX: cp.async.bulk.commit_group;
  ptx.bulk_commit
  // CHECK: ptx.bulk_wait 1 read
  // PTX: cp.async.bulk.wait_group.read 1;
  ptx.bulk_wait 1 read
  // CHECK: ptx.bulk_wait 0
  // PTX: cp.async.bulk.wait_group 0;
  ptx.bulk_wait 0
  llvm.return
}
