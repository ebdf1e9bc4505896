// SPDX-License-Identifier: MIT
// Each target instruction as a call of the simulator, each plain access behind its check, each kernel behind CUDA's array of parameters.
// RUN: tilegym-opt --split-input-file --verify-diagnostics --to-sim %s | FileCheck %s

// Operands as words of 64 bits, zero-extended; results back from theirs; who is asked stands in the site: mnemonic, file, line, column, counts.
// CHECK-DAG: llvm.mlir.global private constant @[[NAME:tilegym_site_[0-9]+]]("approx\00")
// CHECK-DAG: llvm.mlir.global private constant @[[ATTRIBUTES:tilegym_site_[0-9]+]](dense<[3, 1]> : tensor<2xi64>) {{.*}} : !llvm.array<2 x i64>
// CHECK-DAG: llvm.mlir.global private constant @{{.*}}(dense<-96> : tensor<2xi8>)
// CHECK-DAG: llvm.func @tgsim_approx(!llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {convergent, passthrough = ["nomerge"]}
// CHECK: llvm.mlir.global private constant @[[SITE:tilegym_site_[0-9]+]]() {{.*}} : !llvm.struct<(ptr, ptr, i32, i32, i32, i32, i32, i32, ptr, ptr, ptr)>
// CHECK: llvm.mlir.addressof @[[NAME]]
// CHECK: llvm.mlir.constant(7 : i32)
// CHECK: llvm.mlir.constant(5 : i32)
// CHECK: llvm.mlir.addressof @[[ATTRIBUTES]]
// CHECK-LABEL: llvm.func @instruction
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[OPERANDS:.*]] = llvm.alloca
// CHECK: %[[RESULTS:.*]] = llvm.alloca
// CHECK: %[[BITS:.*]] = llvm.bitcast %[[X]] : f32 to i32
// CHECK: %[[WORD:.*]] = llvm.zext %[[BITS]] : i32 to i64
// CHECK: llvm.store %[[WORD]], %[[OPERANDS]]
// CHECK: %[[PLACE:.*]] = llvm.mlir.addressof @[[SITE]]
// CHECK: llvm.call @tgsim_approx(%[[OPERANDS]], %[[RESULTS]], %[[PLACE]]) {convergent}
// CHECK: %[[GOT:.*]] = llvm.load %[[RESULTS]] : !llvm.ptr -> i64
// CHECK: %[[NARROW:.*]] = llvm.trunc %[[GOT]] : i64 to i32
// CHECK: llvm.bitcast %[[NARROW]] : i32 to f32
llvm.func @instruction(%x: f32) -> f32 {
  %y = ptx.approx <rcp> %x ftz loc("spec.tile":7:5)
  llvm.return %y : f32
}

// -----

// Operands by part, where some are optional; equal sites are one.
// CHECK: llvm.mlir.global private constant @{{.*}}(dense<1> : tensor<3xi32>)
// CHECK-LABEL: llvm.func @segments
// CHECK-COUNT-2: llvm.mlir.addressof @[[SITE:tilegym_site_[0-9]+]]
// CHECK: llvm.return
llvm.func @segments(%p: !llvm.ptr<1>, %ok: i1, %z: i32) -> i32 {
  %v = ptx.load_global %p + 8 bits 32 if %ok else %z : i32 loc("spec.tile":9:1)
  %w = ptx.load_global %p + 8 bits 32 if %ok else %v : i32 loc("spec.tile":9:1)
  llvm.return %w : i32
}

// -----

// A wgmma is known by its own, as one that is issued again while its words of A are in flight is a fault, and another is not.
// CHECK-LABEL: llvm.func @own_sites
// CHECK: llvm.mlir.addressof @[[FIRST:tilegym_site_[0-9]+]]
// CHECK: llvm.call @tgsim_wgmma
// CHECK-NOT: llvm.mlir.addressof @[[FIRST]]
// CHECK: llvm.call @tgsim_wgmma
llvm.func @own_sites(%a: i32, %b: i64, %c: f32) {
  %d:4 = ptx.wgmma n 8 <bf16> (%a, %a, %a, %a) * <bf16> (%b) + <f32> (%c, %c, %c, %c) loc("spec":1:1)
  %e:4 = ptx.wgmma n 8 <bf16> (%a, %a, %a, %a) * <bf16> (%b) + <f32> (%d#0, %d#1, %d#2, %d#3) loc("spec":1:1)
  llvm.return
}

// -----

// A thread's own memory needs no check.
// CHECK-LABEL: llvm.func @accesses
// CHECK: llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i64
// CHECK: llvm.call @tgsim_load
// CHECK: %[[V:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: llvm.call @tgsim_store
// CHECK: llvm.store %[[V]]
// CHECK-NOT: llvm.call
// CHECK: llvm.return
llvm.func @accesses(%p: !llvm.ptr<3>, %q: !llvm.ptr) {
  %v = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
  llvm.store %v, %q {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
  %one = llvm.mlir.constant(1 : i64) : i64
  %own = llvm.alloca %one x vector<4xf32> : (i64) -> !llvm.ptr
  %second = llvm.getelementptr %own[4] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %v, %second : vector<4xf32>, !llvm.ptr
  llvm.return
}

// -----

// A parameter by value is its address. What the launch must know is kept; what LLVM's GPU backend would read is not.
// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME: (%[[PARAMETERS:.*]]: !llvm.ptr)
// CHECK-SAME: passthrough = {{\[\[}}"tilegym-kernel", ""], ["tilegym-threads", "96"], ["tilegym-cluster", "2"], ["tilegym-shared-bytes", "512"], ["tilegym-by-value", "0:128"], ["tilegym-ftz", ""]]
// CHECK-NOT: nvvm
// CHECK: llvm.getelementptr %[[PARAMETERS]][0]
// CHECK: %[[MAP:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.getelementptr %[[PARAMETERS]][1]
// CHECK: %[[N:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: llvm.store %[[N]], %[[MAP]]
llvm.func @kernel(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %n: i64)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 96, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>, tilegym.shared_bytes = 512 : i64,
                passthrough = [["denormal-fp-math-f32", "preserve-sign,preserve-sign"]]} {
  llvm.store %n, %map : i64, !llvm.ptr
  llvm.return
}

// -----

// Inline assembly is its meaning, and a value anew the value; libdevice stays a call.
// CHECK: llvm.func @__nv_expf(f32) -> f32
// CHECK-LABEL: llvm.func @calls
// CHECK-NOT: tgsim
// CHECK: %[[Y:.*]] = llvm.call @__nv_expf
// CHECK: llvm.return %[[Y]]
llvm.func @calls(%x: f32) -> f32 {
  %y = ptx.libdevice "__nv_expf" (%x) : (f32) -> f32
  %z = ptx.inline "neg.f32 $0, $1;" (%x) meaning %y : (f32) -> f32
  %w = ptx.anew %z
  llvm.return %w : f32
}
