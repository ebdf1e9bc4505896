// SPDX-License-Identifier: MIT
// Who a thread is and how threads meet.
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s
// RUN: tilegym-opt assemble %s arch=sm_90a emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ tilegym-opt assemble %s arch=sm_90a | FileCheck %s --check-prefix=CUBIN %}

// CUBIN: execution launch: assembled for sm_90a

// CHECK-LABEL: llvm.func @execution
// PTX-LABEL: .entry execution(
llvm.func @execution(%out: !llvm.ptr<1>, %x: i32, %y: i64, %id: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  // CHECK: ptx.grid_size
  %n = ptx.grid_size
  // CHECK: ptx.lane_id
  %l = ptx.lane_id
  %p = arith.cmpi eq, %n, %l : i32
  // CHECK: ptx.sm_id
  // PTX: mov.u32 %{{r[0-9]+}}, %smid;
  %s = ptx.sm_id
  // CHECK: ptx.clock <cycles>
  // PTX: mov.u64 %{{rd[0-9]+}}, %clock64;
  %t = ptx.clock <cycles>
  // CHECK: ptx.clock <nanoseconds>
  // PTX: mov.u64 %{{rd[0-9]+}}, %globaltimer;
  %u = ptx.clock <nanoseconds>
  // CHECK: ptx.named_barrier <sync> %{{.*}} threads 64
  // PTX: bar.sync %{{r[0-9]+}}, 64;
  ptx.named_barrier <sync> %id threads 64
  %three = arith.constant 3 : i32
  // CHECK: ptx.named_barrier <arrive> %{{.*}} threads 128
  // PTX: bar.arrive 3, 128;
  ptx.named_barrier <arrive> %three threads 128
  // CHECK: ptx.warp_barrier
  // PTX: bar.warp.sync -1;
  ptx.warp_barrier
  // CHECK: ptx.match <any> %{{.*}} : i64
  // PTX: match.any.sync.b64 %{{r[0-9]+}}, %{{rd[0-9]+}}, -1;
  %m = ptx.match <any> %y : i64
  // CHECK: ptx.match <all> %{{.*}} : i32
  // PTX: match.all.sync.b32 %{{r[0-9]+}}, %{{r[0-9]+}}, -1;
  %a = ptx.match <all> %x : i32
  // CHECK: ptx.vote <ballot> %{{.*}} : i32
  %ballot = ptx.vote <ballot> %p : i32
  // CHECK: ptx.vote <any> %{{.*}} : i1
  %any = ptx.vote <any> %p : i1
  // CHECK: ptx.vote <uni> %{{.*}} : i1
  %uniform = ptx.vote <uni> %any : i1
  // CHECK: ptx.redux <add> %{{.*}}
  %sum = ptx.redux <add> %x
  // CHECK: ptx.redux <umax> %{{.*}}
  %top = ptx.redux <umax> %sum
  // CHECK: ptx.elect
  %one = ptx.elect
  llvm.store %ballot, %out : i32, !llvm.ptr<1>
  llvm.store volatile %top, %out : i32, !llvm.ptr<1>
  llvm.store volatile %uniform, %out : i1, !llvm.ptr<1>
  llvm.store volatile %one, %out : i1, !llvm.ptr<1>
  llvm.return
}

// CHECK-LABEL: llvm.func @launch
// PTX-LABEL: .entry launch(
llvm.func @launch(%x: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.minctasm = 1 : i32} {
  // CHECK: ptx.grid_dependency_wait
  // PTX: griddepcontrol.wait;
  ptx.grid_dependency_wait
  // CHECK: ptx.set_max_registers <increase> 232
  // PTX: setmaxnreg.inc.sync.aligned.u32 232;
  ptx.set_max_registers <increase> 232
  // CHECK: ptx.set_max_registers <decrease> 40
  // PTX: setmaxnreg.dec.sync.aligned.u32 40;
  ptx.set_max_registers <decrease> 40
  // CHECK: ptx.grid_launch_dependents
  // PTX: griddepcontrol.launch_dependents;
  ptx.grid_launch_dependents
  // CHECK: ptx.grid_launch_dependents if
  // PTX: @%p{{[0-9]+}} griddepcontrol.launch_dependents;
  %seven = arith.constant 7 : i32
  %few = arith.cmpi eq, %x, %seven : i32
  ptx.grid_launch_dependents if %few
  // CHECK: ptx.trap
  // PTX: trap;
  ptx.trap
  llvm.return
}
