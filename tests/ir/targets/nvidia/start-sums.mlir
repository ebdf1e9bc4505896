// SPDX-License-Identifier: MIT
// RUN: tilegym-opt --start-sums %s | FileCheck %s

// The first product of the first trip replaces, the second adds to it; what else the loop carries comes out as ever, and zeros where it has no trip.
// CHECK-LABEL: llvm.func @starts
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00
// CHECK: %[[RAN:.*]] = arith.cmpi slt, %c0_i32, %[[N]]
// CHECK: %[[EITHER:.*]]:5 = scf.if %[[RAN]]
// CHECK-COUNT-4: llvm.mlir.poison
// CHECK: %[[LOOP:.*]]:5 = scf.for %[[K:.*]] = %c0_i32 to %[[N]] step %c1_i32 iter_args(%[[A:[a-z0-9]+]] = %{{[0-9]+}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[T:[a-z0-9]+]] = %c1_i32)
// CHECK-NEXT: %[[LATER:.*]] = arith.cmpi ne, %[[K]], %c0_i32
// CHECK: ptx.wgmma {{.*}} + <f32>(%[[A]], {{.*}}) scale %[[LATER]]{{$}}
// CHECK: ptx.wgmma {{.*}}){{$}}
// CHECK: scf.yield %[[LOOP]]#0, %[[LOOP]]#1, %[[LOOP]]#2, %[[LOOP]]#3, %[[LOOP]]#4
// CHECK: scf.yield %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]], %c1_i32
// CHECK: ptx.wgmma_wait 0(%[[EITHER]]#0
// CHECK: llvm.store %[[EITHER]]#4
llvm.func @starts(%n: i32, %da: i64, %db: i64, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %s:5 = scf.for %k = %c0 to %n step %c1 iter_args(%a0 = %zero, %a1 = %zero, %a2 = %zero, %a3 = %zero, %t = %c1) -> (f32, f32, f32, f32, i32) : i32 {
    ptx.wgmma_fence
    %d:4 = ptx.wgmma n 8 <bf16>(%da) * <bf16>(%db) + <f32>(%a0, %a1, %a2, %a3)
    %e:4 = ptx.wgmma n 8 <bf16>(%da) * <bf16>(%db) + <f32>(%d#0, %d#1, %d#2, %d#3)
    ptx.wgmma_commit
    ptx.wgmma_wait 1
    %u = arith.xori %t, %c1 : i32
    scf.yield %e#0, %e#1, %e#2, %e#3, %u : f32, f32, f32, f32, i32
  }
  %r:4 = ptx.wgmma_wait 0(%s#0, %s#1, %s#2, %s#3) : f32, f32, f32, f32
  llvm.store %r#0, %p : f32, !llvm.ptr
  llvm.store %s#4, %p : i32, !llvm.ptr
  llvm.return
}

// Sums that begin with something else, or that more than the product reads.
// CHECK-LABEL: llvm.func @adds
// CHECK-NOT: scale
// CHECK: llvm.return
llvm.func @adds(%n: i32, %da: i64, %db: i64, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %s:4 = scf.for %k = %c0 to %n step %c1 iter_args(%a0 = %zero, %a1 = %zero, %a2 = %zero, %a3 = %one) -> (f32, f32, f32, f32) : i32 {
    ptx.wgmma_fence
    %d:4 = ptx.wgmma n 8 <bf16>(%da) * <bf16>(%db) + <f32>(%a0, %a1, %a2, %a3)
    ptx.wgmma_commit
    ptx.wgmma_wait 1
    scf.yield %d#0, %d#1, %d#2, %d#3 : f32, f32, f32, f32
  }
  %r:4 = ptx.wgmma_wait 0(%s#0, %s#1, %s#2, %s#3) : f32, f32, f32, f32
  llvm.store %r#0, %p : f32, !llvm.ptr
  %t:4 = scf.for %k = %c0 to %n step %c1 iter_args(%a0 = %zero, %a1 = %zero, %a2 = %zero, %a3 = %zero) -> (f32, f32, f32, f32) : i32 {
    llvm.store %a0, %p : f32, !llvm.ptr
    ptx.wgmma_fence
    %d:4 = ptx.wgmma n 8 <bf16>(%da) * <bf16>(%db) + <f32>(%a0, %a1, %a2, %a3)
    ptx.wgmma_commit
    %w:4 = ptx.wgmma_wait 0(%d#0, %d#1, %d#2, %d#3) : f32, f32, f32, f32
    scf.yield %w#0, %w#1, %w#2, %w#3 : f32, f32, f32, f32
  }
  llvm.store %t#0, %p : f32, !llvm.ptr
  llvm.return
}
