// SPDX-License-Identifier: MIT
// As ring.mlir, with A from registers: each step waits for its wgmmas before it loads the next fragments.
// RUN: tilegym-opt --check-wgmma %s | FileCheck %s
// RUN: %if ptxas %{ tilegym-opt assemble %s arch=sm_90a | FileCheck %s --check-prefix=CUBIN %}
// RUN: tilegym-opt simulate %s seeds=4 bf16[57344]=small bf16[14336]=small bf16[4096] map=bf16:0:448x128:64x128:swizzle=128 map=bf16:1:448x32:64x32:swizzle=128 map=bf16:2:32x128:32x64 i32=7 | FileCheck %s --check-prefix=SIM

// CHECK: ptx.wgmma_commit
// CUBIN: fragments: assembled for sm_90a, 168 registers, 0 bytes spilled
// SIM: arg2 bf16 [10304, -452, -266, -117, -624, 360, -120, 410, -352, 436, -720, 516,

llvm.func @fragments(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, %ma: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %mb: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
    %mc: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %steps: i32)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384>, nvvm.minctasm = 1 : i32, tilegym.shared_bytes = 90176 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %c64 = arith.constant 64 : i32
  %c127 = arith.constant 127 : i32
  %c128 = arith.constant 128 : i32
  %c4096 = arith.constant 4096 : i32
  %stageBytes = arith.constant 20480 : i32
  %true = arith.constant true
  %p = llvm.mlir.poison : f32
  // Four stages of A (128 x 64) and B (32 x 64), rows of 128 bytes; two buffers of the result; the barriers.
  %smem = ptx.shared_base : !llvm.ptr<3>
  %full = llvm.getelementptr %smem[90112] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %empty = llvm.getelementptr %smem[90144] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %thread = ptx.thread_id
  %lane = ptx.lane_id
  %warpOfLane = arith.shrui %thread, %c5 : i32
  %warp = ptx.shuffle <index> %warpOfLane, %c0 : i32
  %group = arith.shrui %warp, %c2 : i32
  %first = arith.cmpi eq, %thread, %c0 : i32
  scf.for %s = %c0 to %c4 step %c1 : i32 {
    %s8 = arith.muli %s, %c8 : i32
    %f = llvm.getelementptr %full[%s8] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %e = llvm.getelementptr %empty[%s8] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    ptx.mbarrier_init %f, %c1 if %first
    ptx.mbarrier_init %e, %c2 if %first
  }
  ptx.fence_mbarrier_init
  ptx.tensor_prefetch %ma[] if %first
  ptx.tensor_prefetch %mb[] if %first
  ptx.barrier
  %producer = arith.cmpi eq, %group, %c0 : i32
  scf.if %producer {
    ptx.set_max_registers <decrease> 40
    %loads = arith.cmpi eq, %warp, %c0 : i32
    scf.if %loads {
      %one = ptx.elect
      scf.if %one {
        %last:2 = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %c0, %parity = %c1) -> (i32, i32) : i32 {
          %s8 = arith.muli %s, %c8 : i32
          %f = llvm.getelementptr %full[%s8] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          %e = llvm.getelementptr %empty[%s8] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          scf.while : () -> () {
            %done = ptx.mbarrier_try_wait %e, %parity : i32
            %again = arith.xori %done, %true : i1
            scf.condition(%again)
          } do {
            scf.yield
          }
          ptx.mbarrier_arrive_expect_tx %f, %stageBytes : !llvm.ptr<3>
          %offset = arith.muli %s, %stageBytes : i32
          %sa = llvm.getelementptr %smem[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          %sb = llvm.getelementptr %sa[16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          %x = arith.muli %k, %c64 : i32
          ptx.tensor_load %sa, %ma[%x, %c0] signal %f : !llvm.ptr<3>
          ptx.tensor_load %sb, %mb[%x, %c0] signal %f : !llvm.ptr<3>
          %s1 = arith.addi %s, %c1 : i32
          %wraps = arith.cmpi eq, %s1, %c4 : i32
          %nextStage = arith.select %wraps, %c0, %s1 : i32
          %flipped = arith.xori %parity, %c1 : i32
          %nextParity = arith.select %wraps, %flipped, %parity : i32
          scf.yield %nextStage, %nextParity : i32, i32
        }
      }
    }
  } else {
    ptx.set_max_registers <increase> 232
    %consumer = arith.subi %group, %c1 : i32
    %inGroup = arith.andi %thread, %c127 : i32
    %lead = arith.cmpi eq, %inGroup, %c0 : i32
    %mine = arith.muli %consumer, %c64 : i32
    %template = arith.constant 0x4000004000010000 : i64
    %fieldMask = arith.constant 16383 : i32
    // The row of this lane for matrices of 8 x 8: four of them are 16 x 16 elements.
    %warpInGroup = arith.andi %warp, %c3 : i32
    %warpRow = arith.muli %warpInGroup, %c16 : i32
    %lane7 = arith.andi %lane, %c7 : i32
    %laneHalf = arith.andi %lane, %c8 : i32
    %laneRow = arith.addi %lane7, %laneHalf : i32
    %row = arith.addi %warpRow, %laneRow : i32
    %chunk = arith.shrui %lane, %c4 : i32
    %sums:19 = scf.for %k = %c0 to %steps step %c1
        iter_args(%s = %c0, %parity = %c0, %previous = %c0, %i0 = %p, %i1 = %p, %i2 = %p, %i3 = %p, %i4 = %p, %i5 = %p, %i6 = %p, %i7 = %p, %i8 = %p, %i9 = %p, %i10 = %p, %i11 = %p, %i12 = %p, %i13 = %p, %i14 = %p, %i15 = %p)
        -> (i32, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) : i32 {
      %s8 = arith.muli %s, %c8 : i32
      %f = llvm.getelementptr %full[%s8] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      scf.while : () -> () {
        %done = ptx.mbarrier_try_wait %f, %parity : i32
        %again = arith.xori %done, %true : i1
        scf.condition(%again)
      } do {
        scf.yield
      }
      %more = arith.cmpi ne, %k, %c0 : i32
      %offset = arith.muli %s, %stageBytes : i32
      %stage = llvm.getelementptr %smem[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %below = arith.muli %mine, %c128 : i32
      %sa = llvm.getelementptr %stage[%below] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %sb = llvm.getelementptr %stage[16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %bAddress = llvm.ptrtoint %sb : !llvm.ptr<3> to i32
      %bSixteenth = arith.shrui %bAddress, %c4 : i32
      %bField = arith.andi %bSixteenth, %fieldMask : i32
      %bLow = arith.extui %bField : i32 to i64
      %db0 = arith.ori %bLow, %template : i64
      %bStep1 = arith.constant 2 : i64
      %db1 = arith.addi %db0, %bStep1 : i64
      %bStep2 = arith.constant 4 : i64
      %db2 = arith.addi %db0, %bStep2 : i64
      %bStep3 = arith.constant 6 : i64
      %db3 = arith.addi %db0, %bStep3 : i64
      %rowBytes = arith.muli %row, %c128 : i32
      %rowStart = llvm.getelementptr %sa[%rowBytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %chunkNo0 = arith.constant 0 : i32
      %chunk0 = arith.addi %chunk, %chunkNo0 : i32
      %swizzled0 = arith.xori %chunk0, %lane7 : i32
      %swizzledBytes0 = arith.muli %swizzled0, %c16 : i32
      %at0 = llvm.getelementptr %rowStart[%swizzledBytes0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %a0:4 = ptx.load_matrix %at0 : i32, i32, i32, i32
      %chunkNo1 = arith.constant 2 : i32
      %chunk1 = arith.addi %chunk, %chunkNo1 : i32
      %swizzled1 = arith.xori %chunk1, %lane7 : i32
      %swizzledBytes1 = arith.muli %swizzled1, %c16 : i32
      %at1 = llvm.getelementptr %rowStart[%swizzledBytes1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %a1:4 = ptx.load_matrix %at1 : i32, i32, i32, i32
      %chunkNo2 = arith.constant 4 : i32
      %chunk2 = arith.addi %chunk, %chunkNo2 : i32
      %swizzled2 = arith.xori %chunk2, %lane7 : i32
      %swizzledBytes2 = arith.muli %swizzled2, %c16 : i32
      %at2 = llvm.getelementptr %rowStart[%swizzledBytes2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %a2:4 = ptx.load_matrix %at2 : i32, i32, i32, i32
      %chunkNo3 = arith.constant 6 : i32
      %chunk3 = arith.addi %chunk, %chunkNo3 : i32
      %swizzled3 = arith.xori %chunk3, %lane7 : i32
      %swizzledBytes3 = arith.muli %swizzled3, %c16 : i32
      %at3 = llvm.getelementptr %rowStart[%swizzledBytes3] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %a3:4 = ptx.load_matrix %at3 : i32, i32, i32, i32
      ptx.wgmma_fence
      %w0:16 = ptx.wgmma n 32 <bf16> (%a0#0, %a0#1, %a0#2, %a0#3) * <bf16> (%db0)
          + <f32> (%i0, %i1, %i2, %i3, %i4, %i5, %i6, %i7, %i8, %i9, %i10, %i11, %i12, %i13, %i14, %i15) scale %more
      %w1:16 = ptx.wgmma n 32 <bf16> (%a1#0, %a1#1, %a1#2, %a1#3) * <bf16> (%db1)
          + <f32> (%w0#0, %w0#1, %w0#2, %w0#3, %w0#4, %w0#5, %w0#6, %w0#7, %w0#8, %w0#9, %w0#10, %w0#11, %w0#12, %w0#13, %w0#14, %w0#15)
      %w2:16 = ptx.wgmma n 32 <bf16> (%a2#0, %a2#1, %a2#2, %a2#3) * <bf16> (%db2)
          + <f32> (%w1#0, %w1#1, %w1#2, %w1#3, %w1#4, %w1#5, %w1#6, %w1#7, %w1#8, %w1#9, %w1#10, %w1#11, %w1#12, %w1#13, %w1#14, %w1#15)
      %w3:16 = ptx.wgmma n 32 <bf16> (%a3#0, %a3#1, %a3#2, %a3#3) * <bf16> (%db3)
          + <f32> (%w2#0, %w2#1, %w2#2, %w2#3, %w2#4, %w2#5, %w2#6, %w2#7, %w2#8, %w2#9, %w2#10, %w2#11, %w2#12, %w2#13, %w2#14, %w2#15)
      ptx.wgmma_commit
      ptx.wgmma_wait 0 // keeps 0 in flight
      // The stage that this wait says is read is free; its A was read by threads.
      ptx.fence_proxy_async <shared_cta>
      %p8 = arith.muli %s, %c8 : i32
      %e = llvm.getelementptr %empty[%p8] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      ptx.mbarrier_arrive %e if %lead : !llvm.ptr<3>
      %s1 = arith.addi %s, %c1 : i32
      %wraps = arith.cmpi eq, %s1, %c4 : i32
      %nextStage = arith.select %wraps, %c0, %s1 : i32
      %flipped = arith.xori %parity, %c1 : i32
      %nextParity = arith.select %wraps, %flipped, %parity : i32
      scf.yield %nextStage, %nextParity, %s, %w3#0, %w3#1, %w3#2, %w3#3, %w3#4, %w3#5, %w3#6, %w3#7, %w3#8, %w3#9, %w3#10, %w3#11, %w3#12, %w3#13, %w3#14, %w3#15
          : i32, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
    }
    %r:16 = ptx.wgmma_wait 0 (%sums#3, %sums#4, %sums#5, %sums#6, %sums#7, %sums#8, %sums#9, %sums#10, %sums#11, %sums#12, %sums#13, %sums#14, %sums#15, %sums#16, %sums#17, %sums#18)
        : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
    // bf16 by store_matrix into this group's buffer, then to global memory.
    %bufferStart = arith.muli %consumer, %c4096 : i32
    %buffers = llvm.getelementptr %smem[81920] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %buffer = llvm.getelementptr %buffers[%bufferStart] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %outRow = arith.muli %row, %c64 : i32
    %outChunk = arith.muli %chunk, %c16 : i32
    %outAt = arith.addi %outRow, %outChunk : i32
    %out0 = llvm.getelementptr %buffer[%outAt] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %out1 = llvm.getelementptr %out0[32] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %v = llvm.mlir.poison : vector<2xf32>
    %lo0 = llvm.insertelement %r#0, %v[%c0 : i32] : vector<2xf32>
    %pair0 = llvm.insertelement %r#1, %lo0[%c1 : i32] : vector<2xf32>
    %narrow0 = arith.truncf %pair0 : vector<2xf32> to vector<2xbf16>
    %word0 = llvm.bitcast %narrow0 : vector<2xbf16> to i32
    %lo2 = llvm.insertelement %r#2, %v[%c0 : i32] : vector<2xf32>
    %pair2 = llvm.insertelement %r#3, %lo2[%c1 : i32] : vector<2xf32>
    %narrow2 = arith.truncf %pair2 : vector<2xf32> to vector<2xbf16>
    %word2 = llvm.bitcast %narrow2 : vector<2xbf16> to i32
    %lo4 = llvm.insertelement %r#4, %v[%c0 : i32] : vector<2xf32>
    %pair4 = llvm.insertelement %r#5, %lo4[%c1 : i32] : vector<2xf32>
    %narrow4 = arith.truncf %pair4 : vector<2xf32> to vector<2xbf16>
    %word4 = llvm.bitcast %narrow4 : vector<2xbf16> to i32
    %lo6 = llvm.insertelement %r#6, %v[%c0 : i32] : vector<2xf32>
    %pair6 = llvm.insertelement %r#7, %lo6[%c1 : i32] : vector<2xf32>
    %narrow6 = arith.truncf %pair6 : vector<2xf32> to vector<2xbf16>
    %word6 = llvm.bitcast %narrow6 : vector<2xbf16> to i32
    %lo8 = llvm.insertelement %r#8, %v[%c0 : i32] : vector<2xf32>
    %pair8 = llvm.insertelement %r#9, %lo8[%c1 : i32] : vector<2xf32>
    %narrow8 = arith.truncf %pair8 : vector<2xf32> to vector<2xbf16>
    %word8 = llvm.bitcast %narrow8 : vector<2xbf16> to i32
    %lo10 = llvm.insertelement %r#10, %v[%c0 : i32] : vector<2xf32>
    %pair10 = llvm.insertelement %r#11, %lo10[%c1 : i32] : vector<2xf32>
    %narrow10 = arith.truncf %pair10 : vector<2xf32> to vector<2xbf16>
    %word10 = llvm.bitcast %narrow10 : vector<2xbf16> to i32
    %lo12 = llvm.insertelement %r#12, %v[%c0 : i32] : vector<2xf32>
    %pair12 = llvm.insertelement %r#13, %lo12[%c1 : i32] : vector<2xf32>
    %narrow12 = arith.truncf %pair12 : vector<2xf32> to vector<2xbf16>
    %word12 = llvm.bitcast %narrow12 : vector<2xbf16> to i32
    %lo14 = llvm.insertelement %r#14, %v[%c0 : i32] : vector<2xf32>
    %pair14 = llvm.insertelement %r#15, %lo14[%c1 : i32] : vector<2xf32>
    %narrow14 = arith.truncf %pair14 : vector<2xf32> to vector<2xbf16>
    %word14 = llvm.bitcast %narrow14 : vector<2xbf16> to i32
    ptx.store_matrix %word0, %word2, %word4, %word6 to %out0
    ptx.store_matrix %word8, %word10, %word12, %word14 to %out1
    ptx.fence_proxy_async <shared_cta>
    ptx.named_barrier <sync> %group threads 128
    ptx.tensor_store %mc[%c0, %mine], %buffer if %lead
    ptx.bulk_commit
    ptx.bulk_wait 0
  }
  llvm.return
}
