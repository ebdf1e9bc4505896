// SPDX-License-Identifier: MIT
// Registers of wgmmas in flight: the forms that kernels use pass, and each mistake is found.
// RUN: tilegym-opt --split-input-file --check-wgmma --verify-diagnostics %s | FileCheck %s

// The main loop of a matrix product: one group stays in flight, and the sum is taken after the last.
// CHECK-LABEL: llvm.func @pipelined
// CHECK: ptx.wgmma_wait 0(%{{.*}}) : f32, f32, f32, f32
llvm.func @pipelined(%da: i64, %db: i64, %n: i32) -> f32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %p = llvm.mlir.poison : f32
  %acc:4 = scf.for %k = %zero to %n step %one iter_args(%c0 = %p, %c1 = %p, %c2 = %p, %c3 = %p) -> (f32, f32, f32, f32) : i32 {
    %more = arith.cmpi ne, %k, %zero : i32
    ptx.wgmma_fence
    %d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%c0, %c1, %c2, %c3) scale %more
    %e:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%d#0, %d#1, %d#2, %d#3)
    ptx.wgmma_commit
    ptx.wgmma_wait 1
    scf.yield %e#0, %e#1, %e#2, %e#3 : f32, f32, f32, f32
  }
  %r:4 = ptx.wgmma_wait 0 (%acc#0, %acc#1, %acc#2, %acc#3) : f32, f32, f32, f32
  llvm.return %r#0 : f32
}

// -----

// A from registers, complete before they are read again; in the consumer's branch of a kernel with roles.
// CHECK-LABEL: llvm.func @registers
llvm.func @registers(%s: !llvm.ptr<3>, %db: i64, %n: i32, %consumer: i1) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  scf.if %consumer {
    %acc:4 = scf.for %k = %zero to %n step %one iter_args(%c0 = %f, %c1 = %f, %c2 = %f, %c3 = %f) -> (f32, f32, f32, f32) : i32 {
      %a:4 = ptx.load_matrix %s : i32, i32, i32, i32
      %w:4 = ptx.wgmma_fence (%a#0, %a#1, %a#2, %a#3) : i32, i32, i32, i32
      %d:4 = ptx.wgmma n 8 <bf16> (%w#0, %w#1, %w#2, %w#3) * <bf16> (%db) + <f32> (%c0, %c1, %c2, %c3)
      ptx.wgmma_commit
      %r:4 = ptx.wgmma_wait 0 (%d#0, %d#1, %d#2, %d#3) : f32, f32, f32, f32
      scf.yield %r#0, %r#1, %r#2, %r#3 : f32, f32, f32, f32
    }
    ptx.cluster_arrive
  }
  llvm.return
}

// -----

// The same with one group in flight, unrolled by two: each step has words of its own.
// CHECK-LABEL: llvm.func @unrolled
llvm.func @unrolled(%s: !llvm.ptr<3>, %db: i64, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  %acc:4 = scf.for %k = %zero to %n step %one iter_args(%c0 = %f, %c1 = %f, %c2 = %f, %c3 = %f) -> (f32, f32, f32, f32) : i32 {
    %a:4 = ptx.load_matrix %s : i32, i32, i32, i32
    ptx.wgmma_fence
    %d:4 = ptx.wgmma n 8 <bf16> (%a#0, %a#1, %a#2, %a#3) * <bf16> (%db) + <f32> (%c0, %c1, %c2, %c3)
    ptx.wgmma_commit
    ptx.wgmma_wait 1
    %b:4 = ptx.load_matrix %s : i32, i32, i32, i32
    ptx.wgmma_fence
    %e:4 = ptx.wgmma n 8 <bf16> (%b#0, %b#1, %b#2, %b#3) * <bf16> (%db) + <f32> (%d#0, %d#1, %d#2, %d#3)
    ptx.wgmma_commit
    ptx.wgmma_wait 1
    scf.yield %e#0, %e#1, %e#2, %e#3 : f32, f32, f32, f32
  }
  %r:4 = ptx.wgmma_wait 0 (%acc#0, %acc#1, %acc#2, %acc#3) : f32, f32, f32, f32
  llvm.return
}

// -----

// Two products in flight: the older one is read while the younger runs, in a loop that waits for a barrier.
// CHECK-LABEL: llvm.func @overlapped
llvm.func @overlapped(%b: !llvm.ptr<3>, %da: i64, %db: i64, %parity: i32) -> f32 {
  %p = llvm.mlir.poison : f32
  %no = arith.constant false
  %true = arith.constant true
  scf.while : () -> () {
    %done = ptx.mbarrier_try_wait %b, %parity : i32
    %again = arith.xori %done, %true : i1
    scf.condition(%again)
  } do {
    scf.yield
  }
  ptx.wgmma_fence
  %s:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%p, %p, %p, %p) scale %no
  ptx.wgmma_commit
  %o:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%p, %p, %p, %p) scale %no
  ptx.wgmma_commit
  %t:4 = ptx.wgmma_wait 1 (%s#0, %s#1, %s#2, %s#3) : f32, f32, f32, f32
  %x = arith.addf %t#0, %t#1 : f32
  %q:5 = ptx.wgmma_wait 0 (%o#0, %o#1, %o#2, %o#3, %x) : f32, f32, f32, f32, f32
  %y = arith.addf %q#0, %q#4 : f32
  llvm.return %y : f32
}

// -----

llvm.func @used_in_flight(%da: i64, %db: i64) -> f32 {
  %p = llvm.mlir.poison : f32
  ptx.wgmma_fence
  %d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%p, %p, %p, %p)
  ptx.wgmma_commit
  ptx.wgmma_wait 0
  // expected-error @+1 {{uses an accumulator of a wgmma that may be in flight: take it from a wgmma_wait that returns it}}
  %x = arith.addf %d#0, %d#1 : f32
  llvm.return %x : f32
}

// -----

// Only from the second iteration on: the first one's is a plain value.
llvm.func @rescaled_in_flight(%da: i64, %db: i64, %n: i32, %alpha: f32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  %acc:4 = scf.for %k = %zero to %n step %one iter_args(%c0 = %f, %c1 = %f, %c2 = %f, %c3 = %f) -> (f32, f32, f32, f32) : i32 {
    // expected-error @+1 {{uses an accumulator of a wgmma that may be in flight}}
    %scaled = arith.mulf %c0, %alpha : f32
    ptx.wgmma_fence
    %d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%scaled, %c1, %c2, %c3)
    ptx.wgmma_commit
    scf.yield %d#0, %d#1, %d#2, %d#3 : f32, f32, f32, f32
  }
  %r:4 = ptx.wgmma_wait 0 (%acc#0, %acc#1, %acc#2, %acc#3) : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @left_pending(%da: i64, %db: i64) {
  %p = llvm.mlir.poison : f32
  ptx.wgmma_fence
  %d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%p, %p, %p, %p)
  ptx.wgmma_commit
  // expected-error @+1 {{returns an accumulator of a group that it may leave pending: return it from a wait with 0 pending or fewer}}
  %r:4 = ptx.wgmma_wait 1 (%d#0, %d#1, %d#2, %d#3) : f32, f32, f32, f32
  ptx.wgmma_wait 0
  llvm.return
}

// -----

llvm.func @not_committed(%da: i64, %db: i64) {
  %p = llvm.mlir.poison : f32
  ptx.wgmma_fence
  %d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%p, %p, %p, %p)
  // expected-error @+1 {{returns an accumulator of a wgmma that is not committed: put a wgmma_commit between them}}
  %r:4 = ptx.wgmma_wait 0 (%d#0, %d#1, %d#2, %d#3) : f32, f32, f32, f32
  llvm.return
}

// -----

// The form that no tool complained about: fragments of the group in flight are overwritten.
llvm.func @areg(%s: !llvm.ptr<3>, %db: i64, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  %acc:4 = scf.for %k = %zero to %n step %one iter_args(%c0 = %f, %c1 = %f, %c2 = %f, %c3 = %f) -> (f32, f32, f32, f32) : i32 {
    // expected-error @+1 {{overwrites A words of a wgmma that is still in flight from the iteration before: wait with 0 pending before they are written again, or unroll by two so that each step has words of its own}}
    %a:4 = ptx.load_matrix %s : i32, i32, i32, i32
    %w:4 = ptx.wgmma_fence (%a#0, %a#1, %a#2, %a#3) : i32, i32, i32, i32
    %d:4 = ptx.wgmma n 8 <bf16> (%w#0, %w#1, %w#2, %w#3) * <bf16> (%db) + <f32> (%c0, %c1, %c2, %c3)
    ptx.wgmma_commit
    ptx.wgmma_wait 1
    scf.yield %d#0, %d#1, %d#2, %d#3 : f32, f32, f32, f32
  }
  %r:4 = ptx.wgmma_wait 0 (%acc#0, %acc#1, %acc#2, %acc#3) : f32, f32, f32, f32
  llvm.return
}

// -----

// Words loaded one iteration ahead are a loop's values: each iteration writes the registers anew.
llvm.func @areg_ahead(%s: !llvm.ptr<3>, %db: i64, %n: i32, %x: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  %acc:8 = scf.for %k = %zero to %n step %one iter_args(%c0 = %f, %c1 = %f, %c2 = %f, %c3 = %f, %a0 = %x, %a1 = %x, %a2 = %x, %a3 = %x)
      -> (f32, f32, f32, f32, i32, i32, i32, i32) : i32 {
    ptx.wgmma_fence
    %d:4 = ptx.wgmma n 8 <bf16> (%a0, %a1, %a2, %a3) * <bf16> (%db) + <f32> (%c0, %c1, %c2, %c3)
    ptx.wgmma_commit
    // expected-error @+1 {{computes the next A words of a loop}}
    %b:4 = ptx.load_matrix %s : i32, i32, i32, i32
    ptx.wgmma_wait 1
    // expected-error @+1 {{overwrites A words of a wgmma that is still in flight}}
    scf.yield %d#0, %d#1, %d#2, %d#3, %b#0, %b#1, %b#2, %b#3 : f32, f32, f32, f32, i32, i32, i32, i32
  }
  %r:4 = ptx.wgmma_wait 0 (%acc#0, %acc#1, %acc#2, %acc#3) : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @no_fence(%da: i64, %db: i64) {
  %p = llvm.mlir.poison : f32
  // expected-error @+1 {{can come before any wgmma_fence: put one before it}}
  %d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%p, %p, %p, %p)
  ptx.wgmma_commit
  %r:4 = ptx.wgmma_wait 0 (%d#0, %d#1, %d#2, %d#3) : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @written_since(%da: i64, %db: i64, %alpha: f32) {
  %p = llvm.mlir.poison : f32
  ptx.wgmma_fence
  %d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%p, %p, %p, %p)
  ptx.wgmma_commit
  %r:4 = ptx.wgmma_wait 0 (%d#0, %d#1, %d#2, %d#3) : f32, f32, f32, f32
  %x = arith.mulf %r#0, %alpha : f32
  // expected-error @+1 {{reads registers that may have been written since the last wgmma_fence: put one before it}}
  %e:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%x, %r#1, %r#2, %r#3)
  ptx.wgmma_commit
  %q:4 = ptx.wgmma_wait 0 (%e#0, %e#1, %e#2, %e#3) : f32, f32, f32, f32
  llvm.return
}

// -----

// A fence in the loop before does not count where that loop may not run.
llvm.func @fenced_in_a_loop(%da: i64, %db: i64, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %p = llvm.mlir.poison : f32
  scf.for %k = %zero to %n step %one : i32 {
    ptx.wgmma_fence
  }
  // expected-error @+1 {{can come before any wgmma_fence}}
  %d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%p, %p, %p, %p)
  ptx.wgmma_commit
  %r:4 = ptx.wgmma_wait 0 (%d#0, %d#1, %d#2, %d#3) : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @branch(%da: i64, %db: i64, %ok: i1) {
  %p = llvm.mlir.poison : f32
  ptx.wgmma_fence
  %d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%p, %p, %p, %p)
  // expected-error @+1 {{branches around a wgmma whose accumulators live on: ptxas serializes it; switch `scale` off instead, peel the iteration, or split the loop}}
  %e:4 = scf.if %ok -> (f32, f32, f32, f32) {
    %f:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%d#0, %d#1, %d#2, %d#3)
    scf.yield %f#0, %f#1, %f#2, %f#3 : f32, f32, f32, f32
  } else {
    scf.yield %d#0, %d#1, %d#2, %d#3 : f32, f32, f32, f32
  }
  ptx.wgmma_commit
  %r:4 = ptx.wgmma_wait 0 (%e#0, %e#1, %e#2, %e#3) : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @copied(%da: i64, %db: i64) {
  %p = llvm.mlir.poison : f32
  ptx.wgmma_fence
  %d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%p, %p, %p, %p)
  %e:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%d#0, %d#1, %d#2, %d#3)
  // expected-error @+1 {{takes an accumulator that another wgmma or wait has taken: its registers in flight would have to be copied}}
  %f:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%d#0, %d#1, %d#2, %d#3)
  ptx.wgmma_commit
  %r:8 = ptx.wgmma_wait 0 (%e#0, %e#1, %e#2, %e#3, %f#0, %f#1, %f#2, %f#3) : f32, f32, f32, f32, f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @rotated(%da: i64, %db: i64, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  %acc:4 = scf.for %k = %zero to %n step %one iter_args(%c0 = %f, %c1 = %f, %c2 = %f, %c3 = %f) -> (f32, f32, f32, f32) : i32 {
    ptx.wgmma_fence
    %d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%c0, %c1, %c2, %c3)
    ptx.wgmma_commit
    ptx.wgmma_wait 1
    // expected-error @+1 {{moves accumulators in flight from one loop value to another: keep each in its own, or wait with 0 pending first}}
    scf.yield %d#1, %d#0, %d#2, %d#3 : f32, f32, f32, f32
  }
  %r:4 = ptx.wgmma_wait 0 (%acc#0, %acc#1, %acc#2, %acc#3) : f32, f32, f32, f32
  llvm.return
}

// -----

llvm.func @never_waited(%da: i64, %db: i64) {
  %p = llvm.mlir.poison : f32
  ptx.wgmma_fence
  %d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%p, %p, %p, %p)
  ptx.wgmma_commit
  // expected-error @+1 {{ends the kernel while a wgmma is in flight: wait for it first}}
  llvm.return
}

// -----

// expected-error @+1 {{has wgmmas and unstructured control flow, in which they cannot be followed}}
llvm.func @blocks(%da: i64, %db: i64) {
  %p = llvm.mlir.poison : f32
  llvm.br ^bb1
^bb1:
  %d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%p, %p, %p, %p)
  llvm.return
}

// -----

llvm.func @region(%da: i64, %db: i64) {
  %p = llvm.mlir.poison : f32
  // expected-error @+1 {{has a wgmma in a region in which it cannot be followed}}
  scf.execute_region {
    %d:4 = ptx.wgmma n 8 <bf16> (%da) * <bf16> (%db) + <f32> (%p, %p, %p, %p)
    scf.yield
  }
  llvm.return
}

// -----

// The next step's words are computed while this step's are read: nothing keeps the old ones' registers.
llvm.func @next_words_too_early(%s: !llvm.ptr<3>, %db: i64, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  %first:4 = ptx.load_matrix %s : i32, i32, i32, i32
  %acc:8 = scf.for %k = %zero to %n step %one iter_args(%c0 = %f, %c1 = %f, %c2 = %f, %c3 = %f, %a0 = %first#0, %a1 = %first#1, %a2 = %first#2, %a3 = %first#3)
      -> (f32, f32, f32, f32, i32, i32, i32, i32) : i32 {
    %w:4 = ptx.wgmma_fence (%a0, %a1, %a2, %a3) : i32, i32, i32, i32
    %d:4 = ptx.wgmma n 8 <bf16> (%w#0, %w#1, %w#2, %w#3) * <bf16> (%db) + <f32> (%c0, %c1, %c2, %c3)
    ptx.wgmma_commit
    // expected-error @+1 {{computes the next A words of a loop while a wgmma in flight may read the old ones in the same registers: pass what they are computed from, or the old words, through the wgmma_wait before}}
    %next:4 = ptx.load_matrix %s : i32, i32, i32, i32
    %r:4 = ptx.wgmma_wait 0 (%d#0, %d#1, %d#2, %d#3) : f32, f32, f32, f32
    scf.yield %r#0, %r#1, %r#2, %r#3, %next#0, %next#1, %next#2, %next#3 : f32, f32, f32, f32, i32, i32, i32, i32
  }
  llvm.return
}

// -----

// The same with the old words kept by the wait.
// CHECK-LABEL: llvm.func @next_words_beside
llvm.func @next_words_beside(%s: !llvm.ptr<3>, %db: i64, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  %first:4 = ptx.load_matrix %s : i32, i32, i32, i32
  %acc:8 = scf.for %k = %zero to %n step %one iter_args(%c0 = %f, %c1 = %f, %c2 = %f, %c3 = %f, %a0 = %first#0, %a1 = %first#1, %a2 = %first#2, %a3 = %first#3)
      -> (f32, f32, f32, f32, i32, i32, i32, i32) : i32 {
    %w:4 = ptx.wgmma_fence (%a0, %a1, %a2, %a3) : i32, i32, i32, i32
    %d:4 = ptx.wgmma n 8 <bf16> (%w#0, %w#1, %w#2, %w#3) * <bf16> (%db) + <f32> (%c0, %c1, %c2, %c3)
    ptx.wgmma_commit
    %next:4 = ptx.load_matrix %s : i32, i32, i32, i32
    %r:8 = ptx.wgmma_wait 0 (%d#0, %d#1, %d#2, %d#3, %w#0, %w#1, %w#2, %w#3) : f32, f32, f32, f32, i32, i32, i32, i32
    scf.yield %r#0, %r#1, %r#2, %r#3, %next#0, %next#1, %next#2, %next#3 : f32, f32, f32, f32, i32, i32, i32, i32
  }
  llvm.return
}
