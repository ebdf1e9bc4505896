// SPDX-License-Identifier: MIT
// A matrix product's main loop as a warp-specialized kernel has it: a producer warp that loads, two warpgroups that multiply with one group of
// wgmmas in flight. ptxas takes it without serializing a wgmma, spilling, or ignoring setmaxnreg.
// RUN: tilegym-opt --check-wgmma %s | FileCheck %s
// RUN: %if ptxas %{ tilegym-opt assemble %s arch=sm_90a | FileCheck %s --check-prefix=CUBIN %}

// CHECK: ptx.wgmma_wait 1
// CUBIN: gemm: assembled for sm_90a, 168 registers, 0 bytes spilled

llvm.func @gemm(%ma: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %mb: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %out: !llvm.ptr<1>, %N: i32, %kt: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384>, nvvm.minctasm = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %c64 = arith.constant 64 : i32
  %c8192 = arith.constant 8192 : i32
  %c127 = arith.constant 127 : i32
  %c3fff = arith.constant 16383 : i32
  %true = arith.constant true
  %p = llvm.mlir.poison : f32
  %smem = ptx.shared_base : !llvm.ptr<3>
  %full = llvm.getelementptr %smem[81920] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %empty = llvm.getelementptr %smem[81952] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %tid = ptx.thread_id
  %wraw = arith.shrui %tid, %c5 : i32
  %warp = ptx.shuffle <index> %wraw, %c0 : i32
  %graw = arith.shrui %tid, %c7 : i32
  %wg = ptx.shuffle <index> %graw, %c0 : i32
  %t0 = arith.cmpi eq, %tid, %c0 : i32
  %fi0 = llvm.getelementptr %full[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %ei0 = llvm.getelementptr %empty[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  ptx.mbarrier_init %fi0, %c1 if %t0
  ptx.mbarrier_init %ei0, %c2 if %t0
  %fi1 = llvm.getelementptr %full[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %ei1 = llvm.getelementptr %empty[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  ptx.mbarrier_init %fi1, %c1 if %t0
  ptx.mbarrier_init %ei1, %c2 if %t0
  %fi2 = llvm.getelementptr %full[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %ei2 = llvm.getelementptr %empty[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  ptx.mbarrier_init %fi2, %c1 if %t0
  ptx.mbarrier_init %ei2, %c2 if %t0
  %fi3 = llvm.getelementptr %full[24] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %ei3 = llvm.getelementptr %empty[24] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  ptx.mbarrier_init %fi3, %c1 if %t0
  ptx.mbarrier_init %ei3, %c2 if %t0
  ptx.fence_mbarrier_init
  ptx.tensor_prefetch %ma[] if %t0
  ptx.tensor_prefetch %mb[] if %t0
  ptx.barrier
  %prod = arith.cmpi eq, %wg, %c0 : i32
  scf.if %prod {
    ptx.set_max_registers <decrease> 40
    %w0 = arith.cmpi eq, %warp, %c0 : i32
    scf.if %w0 {
      %el = ptx.elect
      scf.if %el {
        %bytes = arith.constant 20480 : i32
        %r:2 = scf.for %k = %c0 to %kt step %c1 iter_args(%s = %c0, %ph = %c1) -> (i32, i32) : i32 {
          %s8 = arith.muli %s, %c8 : i32
          %eb = llvm.getelementptr %empty[%s8] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          %fb = llvm.getelementptr %full[%s8] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          scf.while : () -> () { %d = ptx.mbarrier_try_wait %eb, %ph : i32
            %nd = arith.xori %d, %true : i1
            scf.condition(%nd) } do { scf.yield }
          ptx.mbarrier_arrive_expect_tx %fb, %bytes : !llvm.ptr<3>
          %off = arith.muli %s, %bytes : i32
          %sa = llvm.getelementptr %smem[%off] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          %sb = llvm.getelementptr %sa[16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          %x = arith.muli %k, %c64 : i32
          ptx.tensor_load %sa, %ma[%x, %c0] signal %fb : !llvm.ptr<3>
          ptx.tensor_load %sb, %mb[%x, %c0] signal %fb : !llvm.ptr<3>
          %s1 = arith.addi %s, %c1 : i32
          %wrap = arith.cmpi eq, %s1, %c4 : i32
          %ns = arith.select %wrap, %c0, %s1 : i32
          %fl = arith.xori %ph, %c1 : i32
          %np = arith.select %wrap, %fl, %ph : i32
          scf.yield %ns, %np : i32, i32
        }
      }
    }
  } else {
    ptx.set_max_registers <increase> 232
    %bytes = arith.constant 20480 : i32
    %cwg = arith.subi %wg, %c1 : i32
    %wtid = arith.andi %tid, %c127 : i32
    %lead = arith.cmpi eq, %wtid, %c0 : i32
    %tmpl = arith.constant 0x4000004000010000 : i64
    %q:19 = scf.for %k = %c0 to %kt step %c1 iter_args(%s = %c0, %ph = %c0, %prev = %c0, %i0 = %p, %i1 = %p, %i2 = %p, %i3 = %p, %i4 = %p, %i5 = %p, %i6 = %p, %i7 = %p, %i8 = %p, %i9 = %p, %i10 = %p, %i11 = %p, %i12 = %p, %i13 = %p, %i14 = %p, %i15 = %p) -> (i32, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) : i32 {
      %s8 = arith.muli %s, %c8 : i32
      %fb = llvm.getelementptr %full[%s8] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      scf.while : () -> () { %d = ptx.mbarrier_try_wait %fb, %ph : i32
        %nd = arith.xori %d, %true : i1
        scf.condition(%nd) } do { scf.yield }
      %more = arith.cmpi ne, %k, %c0 : i32
      %off = arith.muli %s, %bytes : i32
      %sa0 = llvm.getelementptr %smem[%off] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %wo = arith.muli %cwg, %c8192 : i32
      %sa = llvm.getelementptr %sa0[%wo] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %sb = llvm.getelementptr %sa0[16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %na = llvm.ptrtoint %sa : !llvm.ptr<3> to i32
      %ha = arith.shrui %na, %c4 : i32
      %ga = arith.andi %ha, %c3fff : i32
      %za = arith.extui %ga : i32 to i64
      %da0 = arith.ori %za, %tmpl : i64
      %ja1 = arith.constant 2 : i64
      %da1 = arith.addi %da0, %ja1 : i64
      %ja2 = arith.constant 4 : i64
      %da2 = arith.addi %da0, %ja2 : i64
      %ja3 = arith.constant 6 : i64
      %da3 = arith.addi %da0, %ja3 : i64
      %nb = llvm.ptrtoint %sb : !llvm.ptr<3> to i32
      %hb = arith.shrui %nb, %c4 : i32
      %gb = arith.andi %hb, %c3fff : i32
      %zb = arith.extui %gb : i32 to i64
      %db0 = arith.ori %zb, %tmpl : i64
      %jb1 = arith.constant 2 : i64
      %db1 = arith.addi %db0, %jb1 : i64
      %jb2 = arith.constant 4 : i64
      %db2 = arith.addi %db0, %jb2 : i64
      %jb3 = arith.constant 6 : i64
      %db3 = arith.addi %db0, %jb3 : i64
      ptx.wgmma_fence
      %w0:16 = ptx.wgmma n 32 <bf16> (%da0) * <bf16> (%db0) + <f32> (%i0, %i1, %i2, %i3, %i4, %i5, %i6, %i7, %i8, %i9, %i10, %i11, %i12, %i13, %i14, %i15) scale %more
      %w1:16 = ptx.wgmma n 32 <bf16> (%da1) * <bf16> (%db1) + <f32> (%w0#0, %w0#1, %w0#2, %w0#3, %w0#4, %w0#5, %w0#6, %w0#7, %w0#8, %w0#9, %w0#10, %w0#11, %w0#12, %w0#13, %w0#14, %w0#15)
      %w2:16 = ptx.wgmma n 32 <bf16> (%da2) * <bf16> (%db2) + <f32> (%w1#0, %w1#1, %w1#2, %w1#3, %w1#4, %w1#5, %w1#6, %w1#7, %w1#8, %w1#9, %w1#10, %w1#11, %w1#12, %w1#13, %w1#14, %w1#15)
      %w3:16 = ptx.wgmma n 32 <bf16> (%da3) * <bf16> (%db3) + <f32> (%w2#0, %w2#1, %w2#2, %w2#3, %w2#4, %w2#5, %w2#6, %w2#7, %w2#8, %w2#9, %w2#10, %w2#11, %w2#12, %w2#13, %w2#14, %w2#15)
      ptx.wgmma_commit
      ptx.wgmma_wait 1
      %p8 = arith.muli %prev, %c8 : i32
      %eb = llvm.getelementptr %empty[%p8] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %rel = arith.andi %lead, %more : i1
      ptx.mbarrier_arrive %eb if %rel : !llvm.ptr<3>
      %s1 = arith.addi %s, %c1 : i32
      %wrap = arith.cmpi eq, %s1, %c4 : i32
      %ns = arith.select %wrap, %c0, %s1 : i32
      %fl = arith.xori %ph, %c1 : i32
      %np = arith.select %wrap, %fl, %ph : i32
      scf.yield %ns, %np, %s, %w3#0, %w3#1, %w3#2, %w3#3, %w3#4, %w3#5, %w3#6, %w3#7, %w3#8, %w3#9, %w3#10, %w3#11, %w3#12, %w3#13, %w3#14, %w3#15 : i32, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
    }
    %r:16 = ptx.wgmma_wait 0 (%q#3, %q#4, %q#5, %q#6, %q#7, %q#8, %q#9, %q#10, %q#11, %q#12, %q#13, %q#14, %q#15, %q#16, %q#17, %q#18) : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
    %o0 = llvm.getelementptr %out[%wtid, 0] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#0, %o0 : f32, !llvm.ptr<1>
    %o1 = llvm.getelementptr %out[%wtid, 1] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#1, %o1 : f32, !llvm.ptr<1>
    %o2 = llvm.getelementptr %out[%wtid, 2] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#2, %o2 : f32, !llvm.ptr<1>
    %o3 = llvm.getelementptr %out[%wtid, 3] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#3, %o3 : f32, !llvm.ptr<1>
    %o4 = llvm.getelementptr %out[%wtid, 4] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#4, %o4 : f32, !llvm.ptr<1>
    %o5 = llvm.getelementptr %out[%wtid, 5] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#5, %o5 : f32, !llvm.ptr<1>
    %o6 = llvm.getelementptr %out[%wtid, 6] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#6, %o6 : f32, !llvm.ptr<1>
    %o7 = llvm.getelementptr %out[%wtid, 7] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#7, %o7 : f32, !llvm.ptr<1>
    %o8 = llvm.getelementptr %out[%wtid, 8] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#8, %o8 : f32, !llvm.ptr<1>
    %o9 = llvm.getelementptr %out[%wtid, 9] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#9, %o9 : f32, !llvm.ptr<1>
    %o10 = llvm.getelementptr %out[%wtid, 10] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#10, %o10 : f32, !llvm.ptr<1>
    %o11 = llvm.getelementptr %out[%wtid, 11] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#11, %o11 : f32, !llvm.ptr<1>
    %o12 = llvm.getelementptr %out[%wtid, 12] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#12, %o12 : f32, !llvm.ptr<1>
    %o13 = llvm.getelementptr %out[%wtid, 13] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#13, %o13 : f32, !llvm.ptr<1>
    %o14 = llvm.getelementptr %out[%wtid, 14] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#14, %o14 : f32, !llvm.ptr<1>
    %o15 = llvm.getelementptr %out[%wtid, 15] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x f32>
    llvm.store %r#15, %o15 : f32, !llvm.ptr<1>
  }
  llvm.return
}
