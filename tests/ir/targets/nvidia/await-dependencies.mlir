// SPDX-License-Identifier: MIT
// RUN: tilegym-opt --await-dependencies %s | FileCheck %s

// What only prepares the block stays before the wait.
// CHECK-LABEL: llvm.func @prepares
// CHECK: ptx.mbarrier_init
// CHECK-NEXT: ptx.fence_mbarrier_init
// CHECK-NEXT: ptx.barrier
// CHECK-NEXT: ptx.grid_dependency_wait
// The last 1024 blocks of the grid let the next one start.
// CHECK-NEXT: %[[N:.*]] = ptx.grid_size
// CHECK-NEXT: %[[B:.*]] = ptx.block_id
// CHECK-NEXT: %[[LEFT:.*]] = arith.subi %[[N]], %[[B]]
// CHECK-NEXT: %[[MOST:.*]] = arith.constant 1024
// CHECK-NEXT: %[[LAST:.*]] = arith.cmpi ule, %[[LEFT]], %[[MOST]]
// CHECK-NEXT: ptx.grid_launch_dependents if %[[LAST]]
// CHECK-NEXT: ptx.store_global
// CHECK-NOT: ptx.grid_
llvm.func @prepares(%p: !llvm.ptr<1>, %v: i32) attributes {nvvm.kernel} {
  %base = ptx.shared_base : <3>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = ptx.thread_id
  %first = arith.cmpi eq, %t, %zero : i32
  ptx.mbarrier_init %base, %one if %first
  ptx.fence_mbarrier_init
  ptx.barrier
  ptx.store_global %v at %p + 0 bits 32 : i32
  llvm.return
}

// What a cluster's reductions prepare stays together.
// CHECK-LABEL: llvm.func @expects
// CHECK: ptx.mbarrier_init
// CHECK-NEXT: ptx.mbarrier_arrive_expect_tx
// CHECK-NEXT: ptx.fence_mbarrier_init
// CHECK-NEXT: ptx.cluster_arrive
// CHECK-NEXT: ptx.grid_dependency_wait
llvm.func @expects(%p: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %base = ptx.shared_base : <3>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = ptx.thread_id
  %first = arith.cmpi eq, %t, %zero : i32
  ptx.mbarrier_init %base, %one if %first
  ptx.mbarrier_arrive_expect_tx %base, %one if %first : !llvm.ptr<3>
  ptx.fence_mbarrier_init
  ptx.cluster_arrive relaxed
  %w = ptx.load_global %p + 0 bits 32 : i32
  ptx.cluster_wait
  ptx.store_global %w at %p + 4 bits 32 : i32
  llvm.return
}

// A tensor map is the launch's own, what it describes is not.
// CHECK-LABEL: llvm.func @maps
// CHECK: ptx.tensor_prefetch %{{.*}}[] if
// CHECK-NEXT: ptx.barrier
// CHECK-NEXT: ptx.grid_dependency_wait
// CHECK: ptx.tensor_prefetch %{{.*}}[%{{.*}}]
llvm.func @maps(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}) attributes {nvvm.kernel} {
  %zero = arith.constant 0 : i32
  %t = ptx.thread_id
  %first = arith.cmpi eq, %t, %zero : i32
  ptx.tensor_prefetch %map[] if %first
  ptx.barrier
  ptx.tensor_prefetch %map[%zero] if %first
  llvm.return
}

// A region may hold anything; memory that is read counts as well.
// CHECK-LABEL: llvm.func @regions
// CHECK: arith.cmpi
// CHECK-NEXT: ptx.grid_dependency_wait
// CHECK: scf.if
llvm.func @regions(%p: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
  %zero = arith.constant 0 : i32
  %some = arith.cmpi sgt, %n, %zero : i32
  scf.if %some {
    %w = ptx.load_global %p + 0 bits 32 : i32
    ptx.store_global %w at %p + 4 bits 32 : i32
  }
  llvm.return
}

// CHECK-LABEL: llvm.func @reads
// CHECK-NEXT: ptx.grid_dependency_wait
llvm.func @reads(%p: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %w = ptx.load_global %p + 0 bits 32 readonly : i32
  ptx.store_global %w at %p + 4 bits 32 : i32
  llvm.return
}

// No memory at all: a kernel that ends has still waited, as the grid after it may rely on the one before.
// CHECK-LABEL: llvm.func @nothing
// CHECK-NEXT: ptx.grid_dependency_wait
// CHECK: ptx.grid_launch_dependents if
// CHECK-NEXT: llvm.return
llvm.func @nothing() attributes {nvvm.kernel} {
  llvm.return
}

// CHECK-LABEL: llvm.func @helper
// CHECK-NOT: ptx.grid_
llvm.func @helper(%p: !llvm.ptr<1>, %v: i32) {
  ptx.store_global %v at %p + 0 bits 32 : i32
  llvm.return
}
