// SPDX-License-Identifier: MIT
// RUN: tilegym-opt --free-sums %s | FileCheck %s

// Sums that are stored with a neighbour leave the loop by a copy, where they are stored as bits and where as they are.
// CHECK-LABEL: llvm.func @stored
// CHECK: %[[LOOP:.*]]:3 = scf.for
// CHECK: %[[A:.*]] = ptx.anew %[[LOOP]]#0
// CHECK: %[[B:.*]] = ptx.anew %[[LOOP]]#1
// CHECK: %[[C:.*]] = ptx.anew %[[LOOP]]#2
// CHECK: arith.bitcast %[[A]]
// CHECK: arith.bitcast %[[B]]
// CHECK: llvm.insertelement %[[C]]
llvm.func @stored(%n: i32, %p: f32, %q: f32, %out: !llvm.ptr<1>, %v: vector<2xf32>) -> vector<2xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %s:3 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero, %b = %zero, %c = %zero) -> (f32, f32, f32) : i32 {
    %x = math.fma %p, %q, %a : f32
    %y = math.fma %p, %p, %b : f32
    %z = math.fma %q, %q, %c : f32
    scf.yield %x, %y, %z : f32, f32, f32
  }
  %i = arith.bitcast %s#0 : f32 to i32
  %j = arith.bitcast %s#1 : f32 to i32
  ptx.store_global %i, %j at %out + 0 bits 32 : i32, i32
  %w = llvm.insertelement %s#2, %v[%c0 : i32] : vector<2xf32>
  llvm.return %w : vector<2xf32>
}

// What is stored alone, worked on first, or no sum of products.
// CHECK-LABEL: llvm.func @others
// CHECK-NOT: ptx.anew
llvm.func @others(%n: i32, %p: f32, %q: f32, %out: !llvm.ptr<1>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %s:3 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero, %b = %zero, %c = %zero) -> (f32, f32, f32) : i32 {
    %x = math.fma %p, %q, %a : f32
    %y = math.fma %p, %p, %b : f32
    %z = arith.addf %q, %c : f32
    scf.yield %x, %y, %z : f32, f32, f32
  }
  %i = arith.bitcast %s#0 : f32 to i32
  ptx.store_global %i at %out + 0 bits 32 : i32
  %t = arith.mulf %s#1, %p : f32
  %j = arith.bitcast %t : f32 to i32
  %l = arith.bitcast %s#2 : f32 to i32
  ptx.store_global %j, %l at %out + 8 bits 32 : i32, i32
  llvm.return
}
