// SPDX-License-Identifier: MIT
// RUN: tilegym-opt --resume-searches %s | FileCheck %s

// Both what the block itself looks for and what it looks for in another's place; the trip after begins where they ended.
// CHECK-LABEL: llvm.func @resumed
// CHECK: %[[LOOP:.*]]:5 = scf.for %[[I:.*]] = %{{.*}} iter_args(%[[SUM:.*]] = %c0_i64{{.*}}, %[[G0:.*]] = %c0_i64{{.*}}, %[[A0:.*]] = %c1_i64{{.*}}, %[[G1:.*]] = %c0_i64{{.*}}, %[[A1:.*]] = %c0_i64
// CHECK: %[[OWN:.*]]:2 = scf.while (%{{.*}} = %[[G0]], %{{.*}} = %[[A0]])
// CHECK: %[[OTHER:.*]]:2 = scf.while (%{{.*}} = %[[G1]], %{{.*}} = %[[A1]])
// CHECK: scf.yield %{{.*}}, %[[OWN]]#0, %[[OWN]]#1, %[[OTHER]]#0, %[[OTHER]]#1
llvm.func @resumed(%sizes: !llvm.ptr {llvm.byval = !llvm.array<64 x i64>, llvm.align = 8 : i64, nvvm.grid_constant}, %first: i64, %all: i64, %many: i64, %out: !llvm.ptr) attributes {nvvm.kernel} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.for %block = %first to %all step %many iter_args(%sum = %c0) -> (i64) : i64 {
    %own:2 = scf.while (%g = %c0, %a = %c1) : (i64, i64) -> (i64, i64) {
      %p = llvm.getelementptr %sizes[%g] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %size = llvm.load %p : !llvm.ptr -> i64
      %end = arith.addi %a, %size : i64
      %more = arith.cmpi sge, %block, %end : i64
      scf.condition(%more) %g, %a : i64, i64
    } do {
    ^bb0(%g: i64, %a: i64):
      %next = arith.addi %g, %c1 : i64
      %end = arith.addi %a, %many : i64
      scf.yield %next, %end : i64, i64
    }
    %then = arith.addi %block, %many overflow<nsw> : i64
    %others = arith.minsi %then, %all : i64
    %other:2 = scf.while (%g = %c0, %a = %c0) : (i64, i64) -> (i64, i64) {
      %end = arith.addi %a, %many : i64
      %more = arith.cmpi slt, %end, %others : i64
      scf.condition(%more) %g, %a : i64, i64
    } do {
    ^bb0(%g: i64, %a: i64):
      %next = arith.addi %g, %c1 : i64
      %end = arith.addi %a, %many : i64
      scf.yield %next, %end : i64, i64
    }
    %s0 = arith.addi %sum, %own#0 : i64
    %s1 = arith.addi %s0, %other#0 : i64
    scf.yield %s1 : i64
  }
  llvm.store %r, %out : i64, !llvm.ptr
  llvm.return
}

// What shrinks, may overflow, ends a search earlier as it grows, steps by the block, or reads memory that may change, is looked for anew.
// CHECK-LABEL: llvm.func @anew
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i64 {
// CHECK-COUNT-5: scf.while (%{{.*}} = %c0_i64
llvm.func @anew(%sizes: !llvm.ptr, %first: i64, %all: i64, %many: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  scf.for %block = %first to %all step %many : i64 {
    %less = arith.subi %all, %block : i64
    %shrinks = scf.while (%g = %c0) : (i64) -> i64 {
      %more = arith.cmpi sge, %less, %g : i64
      scf.condition(%more) %g : i64
    } do {
    ^bb0(%g: i64):
      %next = arith.addi %g, %c1 : i64
      scf.yield %next : i64
    }
    %then = arith.addi %block, %many : i64
    %overflows = scf.while (%g = %c0) : (i64) -> i64 {
      %more = arith.cmpi sge, %then, %g : i64
      scf.condition(%more) %g : i64
    } do {
    ^bb0(%g: i64):
      %next = arith.addi %g, %c1 : i64
      scf.yield %next : i64
    }
    %earlier = scf.while (%g = %c0) : (i64) -> i64 {
      %more = arith.cmpi sge, %g, %block : i64
      scf.condition(%more) %g : i64
    } do {
    ^bb0(%g: i64):
      %next = arith.addi %g, %c1 : i64
      scf.yield %next : i64
    }
    %steps = scf.while (%g = %c0) : (i64) -> i64 {
      %more = arith.cmpi sge, %block, %g : i64
      scf.condition(%more) %g : i64
    } do {
    ^bb0(%g: i64):
      %next = arith.addi %g, %block : i64
      scf.yield %next : i64
    }
    %reads = scf.while (%g = %c0) : (i64) -> i64 {
      %p = llvm.getelementptr %sizes[%g] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %size = llvm.load %p : !llvm.ptr -> i64
      %more = arith.cmpi sge, %block, %size : i64
      scf.condition(%more) %g : i64
    } do {
    ^bb0(%g: i64):
      %next = arith.addi %g, %c1 : i64
      scf.yield %next : i64
    }
    llvm.store %shrinks, %sizes : i64, !llvm.ptr
    llvm.store %overflows, %sizes : i64, !llvm.ptr
    llvm.store %earlier, %sizes : i64, !llvm.ptr
    llvm.store %steps, %sizes : i64, !llvm.ptr
    llvm.store %reads, %sizes : i64, !llvm.ptr
  }
  llvm.return
}
