// SPDX-License-Identifier: MIT
// The same kernel with its barrier and without: two warps exchange their values through shared memory.
// RUN: split-file %s %t
// RUN: tilegym-opt simulate %t/with.mlir seeds=4 f32[64]=iota f32[64] | FileCheck --check-prefix=WITH %s
// RUN: not tilegym-opt simulate %t/without.mlir seeds=4 f32[64]=iota f32[64] | FileCheck --check-prefix=WITHOUT %s

// WITH: arg1 f32 [32, 33, 34, 35,
// WITHOUT: race: {{.*}} block 0 thread {{[0-9]+}} writes ({{.*}}without.mlir:7) and block 0 thread {{[0-9]+}} reads ({{.*}}without.mlir:12) with nothing that orders them
// WITHOUT: completed (seed 0
//--- with.mlir
llvm.func @exchange(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64>, tilegym.shared_bytes = 256 : i64} {
  %t = ptx.thread_id
  %s = ptx.shared_base : !llvm.ptr<3>
  %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %word = ptx.load_global %from + 0 bits 32 : i32
  %mine = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %word, %mine {alignment = 4 : i64} : i32, !llvm.ptr<3>
  ptx.barrier
  %half = llvm.mlir.constant(32 : i32) : i32
  %other = arith.xori %t, %half : i32
  %theirs = llvm.getelementptr %s[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %got = llvm.load %theirs {alignment = 4 : i64} : !llvm.ptr<3> -> i32
  %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  ptx.store_global %got at %to + 0 bits 32 : i32
  llvm.return
}
//--- without.mlir
llvm.func @exchange(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64>, tilegym.shared_bytes = 256 : i64} {
  %t = ptx.thread_id
  %s = ptx.shared_base : !llvm.ptr<3>
  %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %word = ptx.load_global %from + 0 bits 32 : i32
  %mine = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %word, %mine {alignment = 4 : i64} : i32, !llvm.ptr<3>

  %half = llvm.mlir.constant(32 : i32) : i32
  %other = arith.xori %t, %half : i32
  %theirs = llvm.getelementptr %s[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %got = llvm.load %theirs {alignment = 4 : i64} : !llvm.ptr<3> -> i32
  %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  ptx.store_global %got at %to + 0 bits 32 : i32
  llvm.return
}
