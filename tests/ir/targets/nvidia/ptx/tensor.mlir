// SPDX-License-Identifier: MIT
// Copies of boxes of tensors.
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s
// RUN: tilegym-opt assemble %s arch=sm_90a emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ tilegym-opt assemble %s arch=sm_90a | FileCheck %s --check-prefix=CUBIN %}

// CUBIN: tensor: assembled for sm_90a

// CHECK-LABEL: llvm.func @tensor
// PTX-LABEL: .entry tensor(
llvm.func @tensor(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %x: i32, %y: i32, %mask: i16, %hint: i64, %ok: i1) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  // CHECK: ptx.shared_base : <3>
  %s = ptx.shared_base : !llvm.ptr<3>
  // CHECK: ptx.cluster_rank
  %rank = ptx.cluster_rank
  // CHECK: ptx.map_shared_rank %{{.*}}, %{{.*}}
  %c = ptx.map_shared_rank %s, %rank
  // CHECK: ptx.tensor_prefetch %{{.*}}[] if %{{.*}}
  // PTX: @%{{p[0-9]+}} prefetch.tensormap [%{{rd[0-9]+}}];
  ptx.tensor_prefetch %map[] if %ok
  // CHECK: ptx.tensor_prefetch %{{.*}}[%{{.*}}, %{{.*}}]
  // PTX: cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%{{rd[0-9]+}}, {%{{r[0-9]+}}, %{{r[0-9]+}}}];
  ptx.tensor_prefetch %map[%x, %y]
  // CHECK: ptx.tensor_prefetch %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] hint %{{.*}} if %{{.*}}
  // PTX: @%{{p[0-9]+}} cp.async.bulk.prefetch.tensor.3d.L2.global.tile.L2::cache_hint [%{{rd[0-9]+}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}], %{{rd[0-9]+}};
  ptx.tensor_prefetch %map[%x, %y, %x] hint %hint if %ok
  // CHECK: ptx.tensor_load %{{.*}}, %{{.*}}[%{{.*}}] signal %{{.*}} : !llvm.ptr<3>
  // PTX: cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%{{rd[0-9]+}}], [%{{rd[0-9]+}}, {%{{r[0-9]+}}}], [%{{rd[0-9]+}}];
  ptx.tensor_load %s, %map[%x] signal %s : !llvm.ptr<3>
  // CHECK: ptx.tensor_load %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] signal %{{.*}} hint %{{.*}} if %{{.*}} : !llvm.ptr<3>
  // PTX: @%{{p[0-9]+}} cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%{{rd[0-9]+}}], [%{{rd[0-9]+}}, {%{{r[0-9]+}}, %{{r[0-9]+}}}], [%{{rd[0-9]+}}], %{{rd[0-9]+}};
  ptx.tensor_load %s, %map[%x, %y] signal %s hint %hint if %ok : !llvm.ptr<3>
  // CHECK: ptx.tensor_load %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] signal %{{.*}} if %{{.*}} : !llvm.ptr<7>
  // PTX: @%{{p[0-9]+}} cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%{{rd[0-9]+}}], [%{{rd[0-9]+}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}], [%{{rd[0-9]+}}];
  ptx.tensor_load %c, %map[%x, %y, %x] signal %s if %ok : !llvm.ptr<7>
  // CHECK: ptx.tensor_load %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] signal %{{.*}} multicast %{{.*}} if %{{.*}} : !llvm.ptr<7>
  // PTX: @%{{p[0-9]+}} cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%{{rd[0-9]+}}], [%{{rd[0-9]+}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}], [%{{rd[0-9]+}}], %{{rs[0-9]+}};
  ptx.tensor_load %c, %map[%x, %y, %x, %y] signal %s multicast %mask if %ok : !llvm.ptr<7>
  // CHECK: ptx.tensor_load %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] signal %{{.*}} multicast %{{.*}} hint %{{.*}} : !llvm.ptr<7>
  // PTX: cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%{{rd[0-9]+}}], [%{{rd[0-9]+}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}], [%{{rd[0-9]+}}], %{{rs[0-9]+}}, %{{rd[0-9]+}};
  ptx.tensor_load %c, %map[%x, %y, %x, %y, %x] signal %s multicast %mask hint %hint : !llvm.ptr<7>
  // CHECK: ptx.tensor_store %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} if %{{.*}}
  // PTX: @%{{p[0-9]+}} cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%{{rd[0-9]+}}, {%{{r[0-9]+}}, %{{r[0-9]+}}}], [%{{rd[0-9]+}}];
  ptx.tensor_store %map[%x, %y], %s if %ok
  // CHECK: ptx.tensor_store %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %{{.*}} hint %{{.*}}
  // PTX: cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group.L2::cache_hint [%{{rd[0-9]+}}, {%{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}, %{{r[0-9]+}}}], [%{{rd[0-9]+}}], %{{rd[0-9]+}};
  ptx.tensor_store %map[%x, %y, %x, %y, %x], %s hint %hint
  // CHECK: ptx.tensor_reduce <add> %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} if %{{.*}}
  // PTX: @%{{p[0-9]+}} cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%{{rd[0-9]+}}, {%{{r[0-9]+}}, %{{r[0-9]+}}}], [%{{rd[0-9]+}}];
  ptx.tensor_reduce <add> %map[%x, %y], %s if %ok
  // CHECK: ptx.tensor_reduce <min> %{{.*}}[%{{.*}}], %{{.*}} hint %{{.*}}
  // PTX: cp.reduce.async.bulk.tensor.1d.global.shared::cta.min.tile.bulk_group.L2::cache_hint [%{{rd[0-9]+}}, {%{{r[0-9]+}}}], [%{{rd[0-9]+}}], %{{rd[0-9]+}};
  ptx.tensor_reduce <min> %map[%x], %s hint %hint
  llvm.return
}
