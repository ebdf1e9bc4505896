// SPDX-License-Identifier: MIT
// Each target instruction as what LLVM takes.
// RUN: tilegym-opt --split-input-file --to-ptx --cse %s | FileCheck %s

// CHECK-LABEL: llvm.func @who
// CHECK-DAG: nvvm.read.ptx.sreg.tid.x
// CHECK-DAG: nvvm.read.ptx.sreg.ctaid.x
// CHECK-DAG: nvvm.read.ptx.sreg.nctaid.x
// CHECK-DAG: nvvm.read.ptx.sreg.laneid
// CHECK-DAG: nvvm.read.ptx.sreg.cluster.ctarank
// CHECK-DAG: nvvm.read.ptx.sreg.cluster.nctarank
// CHECK: nvvm.barrier
llvm.func @who() -> i32 {
  %n = ptx.grid_size
  %l = ptx.lane_id
  %r = ptx.cluster_rank
  %c = ptx.cluster_size
  %t = ptx.thread_id
  %b = ptx.block_id
  ptx.barrier
  %s = arith.addi %t, %b : i32
  %s1 = arith.addi %s, %n : i32
  %s2 = arith.addi %s1, %l : i32
  %s3 = arith.addi %s2, %r : i32
  %s4 = arith.addi %s3, %c : i32
  llvm.return %s4 : i32
}

// -----

// A butterfly's source lane is bounded from above, that of `up` from below.
// CHECK-LABEL: llvm.func @shuffles
// CHECK-DAG: %[[ALL:.*]] = llvm.mlir.constant(-1 : i32)
// CHECK-DAG: %[[TOP:.*]] = llvm.mlir.constant(31 : i32)
// CHECK-DAG: %[[BOTTOM:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG: nvvm.shfl.sync bfly %[[ALL]], %{{.*}}, %{{.*}}, %[[TOP]]
// CHECK-DAG: nvvm.shfl.sync up %[[ALL]], %{{.*}}, %{{.*}}, %[[BOTTOM]]
llvm.func @shuffles(%v: f32, %l: i32) -> f32 {
  %a = ptx.shuffle <xor> %v, %l : f32
  %b = ptx.shuffle <up> %v, %l : f32
  %c = arith.addf %a, %b : f32
  llvm.return %c : f32
}

// -----

// All lanes take part.
// CHECK-LABEL: llvm.func @collectives
// CHECK: %[[ALL:.*]] = llvm.mlir.constant(-1 : i32)
// CHECK: nvvm.vote.sync ballot %[[ALL]], %{{.*}} -> i32
// CHECK: nvvm.vote.sync any %[[ALL]], %{{.*}} -> i1
// CHECK: nvvm.vote.sync all %[[ALL]], %{{.*}} -> i1
// CHECK: nvvm.vote.sync uni %[[ALL]], %{{.*}} -> i1
// CHECK: nvvm.redux.sync umin %{{.*}}, %[[ALL]] : i32 -> i32
// CHECK: nvvm.redux.sync max %{{.*}}, %[[ALL]] : i32 -> i32
// CHECK: nvvm.elect.sync -> i1
// CHECK: nvvm.mapa %{{.*}}, %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
llvm.func @collectives(%p: i1, %x: i32, %s: !llvm.ptr<3>) -> !llvm.ptr<7> {
  %ballot = ptx.vote <ballot> %p : i32
  %any = ptx.vote <any> %p : i1
  %every = ptx.vote <all> %any : i1
  %uniform = ptx.vote <uni> %every : i1
  %least = ptx.redux <umin> %ballot
  %most = ptx.redux <max> %least
  %one = ptx.elect
  %remote = ptx.map_shared_rank %s, %most
  llvm.return %remote : !llvm.ptr<7>
}

// -----

// Where the predicate is false nothing is read, and the words are the others; order is kept.
// CHECK-LABEL: llvm.func @memory
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "mov.b32 $0, $4; mov.b32 $1, $4; @$3 ld.global.nc.L1::no_allocate.v2.b32 {$0, $1}, [$2 + 64];", "=r,=r,l,b,r,r,~{memory}"
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "@$3 st.global.v2.b32 [$2 + 16], {$0, $1};", "r,r,l,b,~{memory}"
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "@$3 atom.relaxed.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,b,~{memory}"
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "@$4 atom.relaxed.gpu.global.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r,b,~{memory}"
// CHECK: "mov.b32 $0, $6; mov.b32 $1, $6; mov.b32 $2, $6; mov.b32 $3, $6; @$5 ld.shared.v4.b32 {$0, $1, $2, $3}, [$4 + 64];", "=r,=r,=r,=r,l,b,r,r,r,r,~{memory}"
llvm.func @memory(%p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %ok: i1, %z: i32) {
  %w:2 = ptx.load_global %p + 64 bits 32 if %ok else %z, %z readonly cache <streaming> : i32, i32
  ptx.store_global %w#0, %w#1 at %p + 16 bits 32 if %ok : i32, i32
  %old = ptx.atomic <add> %p, %z if %ok : i32
  %seen = ptx.atomic_cas %p, %old, %z if %ok : i32
  %v:4 = ptx.load_shared %s + 64 bits 32 if %ok else %z, %z, %z, %z : i32, i32, i32, i32
  llvm.return
}

// -----

// CHECK: llvm.func @__nv_expf(f32) -> f32
// CHECK-LABEL: llvm.func @math
// CHECK-DAG: llvm.inline_asm asm_dialect = att "ex2.approx.ftz.f32 $0, $1;", "=f,f"
// CHECK-DAG: llvm.inline_asm asm_dialect = att "tanh.approx.f32 $0, $1;", "=f,f"
// CHECK-DAG: llvm.inline_asm asm_dialect = att "div.full.f32 $0, $1, $2;", "=f,f,f"
// CHECK-DAG: llvm.inline_asm asm_dialect = att "cvt.rzi.s32.f32 $0, $1;", "=r,f"
// CHECK-DAG: llvm.inline_asm asm_dialect = att "cvt.rp.f32.f64 $0, $1;", "=f,d"
// CHECK-DAG: llvm.inline_asm asm_dialect = att "cvt.rn.satfinite.e4m3x2.f32 $0, $2, $1;", "=h,f,f"
// CHECK-DAG: llvm.inline_asm asm_dialect = att "add.rn.f32 $0, $1, 0f80000000;", "=f,f"
// CHECK: llvm.call @__nv_expf
llvm.func @math(%x: f32, %d: f64) -> i32 {
  %a = ptx.approx <ex2> %x ftz
  %b = ptx.approx <tanh> %a ftz
  %b2 = ptx.anew %b
  %c = ptx.divide_approx %b2, %x
  %i = ptx.convert <rz> %c : f32 to i32
  %e = ptx.convert <rp> %d : f64 to f32
  %w = ptx.convert_pair %c, %e to <e4m3>
  %f = ptx.libdevice "__nv_expf" (%e) : (f32) -> f32
  %wide = arith.extui %w : i16 to i32
  %both = arith.addi %i, %wide : i32
  llvm.return %both : i32
}

// -----

// Shared memory is one external symbol; a print is CUDA's vprintf on a struct of promoted values.
// CHECK-DAG: llvm.mlir.global external @tilegym_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK-DAG: llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
// CHECK-LABEL: llvm.func @rest
// CHECK: llvm.mlir.addressof @tilegym_shared : !llvm.ptr<3>
// CHECK: llvm.call @vprintf
// CHECK: "trap;"
llvm.func @rest(%n: i64) -> !llvm.ptr<3> {
  %s = ptx.shared_base : !llvm.ptr<3>
  ptx.print "n = %lld\n" (%n) : i64
  ptx.trap
  llvm.return %s : !llvm.ptr<3>
}
