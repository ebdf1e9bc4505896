// SPDX-License-Identifier: MIT
// A barrier between a write and the reads of it, and between reads and the next write, also where the loop comes round.
// RUN: tilegym-opt --split-input-file --place-barriers %s | FileCheck %s

#s = #tile.layout<"16x16 unit 16x16 reg [0,1] [0,2] [0,4] [0,8] [1,0] [2,0] [4,0] [8,0]">

// CHECK-LABEL: tile.kernel @loop
tile.kernel @loop grid 1 [-1] facts <fast> warps 1 params [#tile.param<extent 0, "n", i64>] {
  %n = tile.param 0 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %t = arith.constant dense<1.0> : tensor<16x16xf16>
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %buffer = tile.alloc : !tile.shared<1, tensor<16x16xf16, #s>>
  // CHECK: scf.for
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.put
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.dot
  // CHECK-NEXT: scf.yield
  %d = scf.for %k = %zero to %n step %one iter_args(%sum = %none) -> (tensor<16x16xf32>) : i64 {
    tile.put %t into %buffer : tensor<16x16xf16> into !tile.shared<1, tensor<16x16xf16, #s>>
    %e = tile.dot %buffer, %t, %sum : !tile.shared<1, tensor<16x16xf16, #s>>, tensor<16x16xf16>, tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  tile.dealloc %buffer : !tile.shared<1, tensor<16x16xf16, #s>>
  // What lies in its place later waits, too; what nobody read does not.
  %next = tile.alloc : !tile.shared<1, tensor<16x16xf16, #s>>
  // CHECK: tile.alloc
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.put
  // CHECK-NEXT: tile.put
  // CHECK-NEXT: tile.return
  tile.put %t into %next : tensor<16x16xf16> into !tile.shared<1, tensor<16x16xf16, #s>>
  tile.put %t into %next : tensor<16x16xf16> into !tile.shared<1, tensor<16x16xf16, #s>>
  tile.return
}

// -----

#s = #tile.layout<"16x16 unit 16x16 reg [0,1] [0,2] [0,4] [0,8] [1,0] [2,0] [4,0] [8,0]">
#t = #tile.layout<"16x16 unit 16x16 reg [0,1] [0,2] [0,4] lane [0,8] [1,0] [2,0] [4,0] [8,0]">

// A ring: one barrier a turn orders both the copies that have come and the reads of the slot that is filled next. A branch may write or not.
// CHECK-LABEL: tile.kernel @ring
tile.kernel @ring grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !tile.ptr<f16>, divisor = 16, readonly>, #tile.param<extent 0, "n", i64>] {
  %x = tile.param 0 : !tile.ptr<f16>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s = arith.constant 0 : i32
  %c = arith.constant true
  %t = arith.constant dense<1.0> : tensor<16x16xf16>
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %ring = tile.alloc : !tile.shared<2, tensor<16x16xf16, #s>>
  // CHECK: scf.for
  // CHECK-NEXT: tile.slot
  // CHECK-NEXT: tile.copy_wait 0
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.copy_async
  // CHECK-NEXT: tile.copy_commit
  // CHECK-NEXT: tile.dot
  // CHECK-NEXT: scf.yield
  %d = scf.for %k = %zero to %n step %one iter_args(%sum = %none) -> (tensor<16x16xf32>) : i64 {
    %slot = tile.slot %ring[%s] : !tile.shared<2, tensor<16x16xf16, #s>>
    tile.copy_wait 0
    tile.copy_async %x[span(%zero, 16) stride %n within(%zero, %n), span(%k, 16) stride %one within(%zero, %n)] into %slot by #t
      : !tile.ptr<f16> into !tile.shared<1, tensor<16x16xf16, #s>>
    tile.copy_commit
    %e = tile.dot %slot, %t, %sum : !tile.shared<1, tensor<16x16xf16, #s>>, tensor<16x16xf16>, tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  %slot = tile.slot %ring[%s] : !tile.shared<2, tensor<16x16xf16, #s>>
  // CHECK: scf.if
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.put
  // CHECK: tile.barrier
  // CHECK-NEXT: tile.dot
  scf.if %c {
    tile.put %t into %slot : tensor<16x16xf16> into !tile.shared<1, tensor<16x16xf16, #s>>
  }
  %e = tile.dot %slot, %t, %d : !tile.shared<1, tensor<16x16xf16, #s>>, tensor<16x16xf16>, tensor<16x16xf32>
  tile.return
}

// -----

#s = #tile.layout<"64x16 unit 64x16 reg [0,1] [0,2] [0,4] [0,8] [1,0] [2,0] [4,8] [8,0] [16,0] [32,0]">
#b = #tile.layout<"16x8 unit 16x8 reg [0,1] [0,2] [0,4] [1,0] [2,0] [4,0] [8,0]">

// Instructions that read shared memory by themselves learn of threads' writes at the last barrier in front of them, though another write is what it is for.
// CHECK-LABEL: tile.kernel @warpgroups
tile.kernel @warpgroups grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "n", i64>] {
  %n = tile.param 0 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %t = arith.constant dense<1.0> : tensor<64x16xf16>
  %u = arith.constant dense<1.0> : tensor<16x8xf16>
  %none = arith.constant dense<0.0> : tensor<64x8xf32>
  %a = tile.alloc : !tile.shared<1, tensor<64x16xf16, #s>>
  %b = tile.alloc : !tile.shared<1, tensor<16x8xf16, #b>>
  %other = tile.alloc : !tile.shared<1, tensor<64x16xf16, #s>>
  // CHECK: tile.put %{{.*}} into %[[A:.*]] :
  // CHECK-NEXT: tile.put
  // CHECK-NEXT: tile.barrier async
  // CHECK-NEXT: tile.dot
  tile.put %t into %a : tensor<64x16xf16> into !tile.shared<1, tensor<64x16xf16, #s>>
  tile.put %u into %b : tensor<16x8xf16> into !tile.shared<1, tensor<16x8xf16, #b>>
  %d = tile.dot %a, %b, %none warpgroups : !tile.shared<1, tensor<64x16xf16, #s>>, !tile.shared<1, tensor<16x8xf16, #b>>, tensor<64x8xf32>
  // CHECK-NEXT: tile.put
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.dot
  tile.put %t into %other : tensor<64x16xf16> into !tile.shared<1, tensor<64x16xf16, #s>>
  %e = tile.dot %other, %u, %none : !tile.shared<1, tensor<64x16xf16, #s>>, tensor<16x8xf16>, tensor<64x8xf32>
  // CHECK-NEXT: tile.put %{{.*}} into %[[A]] :
  // CHECK-NEXT: tile.barrier async
  // CHECK-NEXT: tile.put
  // CHECK-NEXT: tile.dot
  tile.put %t into %a : tensor<64x16xf16> into !tile.shared<1, tensor<64x16xf16, #s>>
  tile.put %t into %other : tensor<64x16xf16> into !tile.shared<1, tensor<64x16xf16, #s>>
  %f = tile.dot %a, %b, %none warpgroups : !tile.shared<1, tensor<64x16xf16, #s>>, !tile.shared<1, tensor<16x8xf16, #b>>, tensor<64x8xf32>
  tile.return
}

// -----

#s = #tile.layout<"64x16 unit 64x16 reg [0,1] [0,2] [0,4] [0,8] [1,0] [2,0] [4,8] [8,0] [16,0] [32,0]">
#b = #tile.layout<"16x8 unit 16x8 reg [0,1] [0,2] [0,4] [1,0] [2,0] [4,0] [8,0]">

// A product in flight still reads, whatever barriers are met, until it was waited for: the next write of its slot is behind another barrier.
// CHECK-LABEL: tile.kernel @flight
tile.kernel @flight grid 1 [-1] facts <fast> warps 4 params [] {
  %t = arith.constant dense<1.0> : tensor<64x16xf16>
  %u = arith.constant dense<1.0> : tensor<16x8xf16>
  %none = arith.constant dense<0.0> : tensor<64x8xf32>
  %a = tile.alloc : !tile.shared<1, tensor<64x16xf16, #s>>
  %b = tile.alloc : !tile.shared<1, tensor<16x8xf16, #b>>
  // CHECK: tile.dot {{.*}} in_flight
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.dot_wait 0
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.put
  %d = tile.dot %a, %b, %none warpgroups in_flight : !tile.shared<1, tensor<64x16xf16, #s>>, !tile.shared<1, tensor<16x8xf16, #b>>, tensor<64x8xf32>
  tile.barrier
  %e = tile.dot_wait 0 (%d) : tensor<64x8xf32> to tensor<64x8xf32>
  tile.put %t into %a : tensor<64x16xf16> into !tile.shared<1, tensor<64x16xf16, #s>>
  tile.return
}

// -----

#s = #tile.layout<"8x64 unit 8x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32]">

// Two buffers in turns: the engine sees what threads wrote, one store may be on its way while the other buffer is filled, and both have been read when the buffers end.
// CHECK-LABEL: tile.kernel @stores
tile.kernel @stores grid 1 [-1] facts <fast> warps 1 params [#tile.param<tensor_map 0, "c", !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>>] {
  %c = tile.param 0 : !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>
  %i = arith.constant 0 : i32
  %t = arith.constant dense<1.0> : tensor<8x64xbf16>
  // CHECK: %[[A:.*]] = tile.alloc
  // CHECK-NEXT: %[[B:.*]] = tile.alloc
  %a = tile.alloc : !tile.shared<1, tensor<8x64xbf16, #s>>
  %b = tile.alloc : !tile.shared<1, tensor<8x64xbf16, #s>>
  // CHECK-NEXT: tile.put %{{.*}} into %[[A]]
  // CHECK-NEXT: tile.barrier async
  // CHECK-NEXT: tile.tensor_store %[[A]]
  // CHECK-NEXT: tile.put %{{.*}} into %[[B]]
  // CHECK-NEXT: tile.barrier async
  // CHECK-NEXT: tile.tensor_store %[[B]]
  // CHECK-NEXT: tile.tensor_store_wait 1
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.put %{{.*}} into %[[A]]
  // CHECK-NEXT: tile.barrier async
  // CHECK-NEXT: tile.tensor_store %[[A]]
  // CHECK-NEXT: tile.tensor_store_wait 0
  // CHECK-NEXT: tile.dealloc %[[A]]
  // CHECK-NEXT: tile.dealloc %[[B]]
  tile.put %t into %a : tensor<8x64xbf16> into !tile.shared<1, tensor<8x64xbf16, #s>>
  tile.tensor_store %a to %c[%i, %i : i32, i32] : !tile.shared<1, tensor<8x64xbf16, #s>> to !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>
  tile.put %t into %b : tensor<8x64xbf16> into !tile.shared<1, tensor<8x64xbf16, #s>>
  tile.tensor_store %b to %c[%i, %i : i32, i32] : !tile.shared<1, tensor<8x64xbf16, #s>> to !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>
  tile.put %t into %a : tensor<8x64xbf16> into !tile.shared<1, tensor<8x64xbf16, #s>>
  tile.tensor_store %a to %c[%i, %i : i32, i32] : !tile.shared<1, tensor<8x64xbf16, #s>> to !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>
  tile.dealloc %a : !tile.shared<1, tensor<8x64xbf16, #s>>
  tile.dealloc %b : !tile.shared<1, tensor<8x64xbf16, #s>>
  // What lies in their place later is written after all know that.
  // CHECK-NEXT: tile.alloc
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.put
  %next = tile.alloc : !tile.shared<1, tensor<8x64xbf16, #s>>
  tile.put %t into %next : tensor<8x64xbf16> into !tile.shared<1, tensor<8x64xbf16, #s>>
  tile.dealloc %next : !tile.shared<1, tensor<8x64xbf16, #s>>
  tile.return
}

// -----

#s = #tile.layout<"8x64 unit 8x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32]">

// Where a loop comes round, its buffer may still be read.
// CHECK-LABEL: tile.kernel @round
// CHECK: scf.for
// CHECK-NEXT: tile.tensor_store_wait 0
// CHECK-NEXT: tile.barrier{{$}}
// CHECK-NEXT: tile.put
// CHECK-NEXT: tile.barrier async
// CHECK-NEXT: tile.tensor_store
// CHECK-NEXT: }
// CHECK-NEXT: tile.tensor_store_wait 0
// CHECK-NEXT: tile.dealloc
tile.kernel @round grid 1 [-1] facts <fast> warps 1 params [#tile.param<tensor_map 0, "c", !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>>] {
  %c = tile.param 0 : !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = arith.constant 9 : i32
  %t = arith.constant dense<1.0> : tensor<8x64xbf16>
  %a = tile.alloc : !tile.shared<1, tensor<8x64xbf16, #s>>
  scf.for %i = %zero to %end step %one : i32 {
    tile.put %t into %a : tensor<8x64xbf16> into !tile.shared<1, tensor<8x64xbf16, #s>>
    tile.tensor_store %a to %c[%i, %zero : i32, i32] : !tile.shared<1, tensor<8x64xbf16, #s>> to !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>
  }
  tile.dealloc %a : !tile.shared<1, tensor<8x64xbf16, #s>>
  tile.return
}

// -----

#s = #tile.layout<"8x8 unit 8x8 reg [1,0] [2,0] [4,0] [0,1] [0,2] [4,4]">

// The rest of a slot is made of it by threads, behind a barrier that shows it to all, and read by the tensor cores behind another; the next trip writes both again.
// CHECK-LABEL: tile.kernel @rest
// CHECK: scf.for
// CHECK: tile.barrier{{$}}
// CHECK-NEXT: tile.put %
// CHECK-NEXT: tile.barrier async
// CHECK-NEXT: tile.put_rest
// CHECK-NEXT: tile.barrier async
// CHECK-NEXT: tile.dot
tile.kernel @rest grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "n", i64>] {
  %n = tile.param 0 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %t = arith.constant dense<1.0> : tensor<64x8xf32>
  %u = arith.constant dense<1.0> : tensor<8x8xf32>
  %b = tile.alloc : !tile.shared<1, tensor<8x8xf32, #s>>
  %r = tile.alloc : !tile.shared<1, tensor<8x8xf32, #s>>
  %d = scf.for %k = %zero to %n step %one iter_args(%sum = %t) -> (tensor<64x8xf32>) : i64 {
    tile.put %u into %b : tensor<8x8xf32> into !tile.shared<1, tensor<8x8xf32, #s>>
    tile.put_rest %b into %r : !tile.shared<1, tensor<8x8xf32, #s>>
    %e = tile.dot %t, %b, %sum rest %r : !tile.shared<1, tensor<8x8xf32, #s>> precision <tf32x3> warpgroups : tensor<64x8xf32>, !tile.shared<1, tensor<8x8xf32, #s>>, tensor<64x8xf32>
    scf.yield %e : tensor<64x8xf32>
  }
  tile.dealloc %r : !tile.shared<1, tensor<8x8xf32, #s>>
  tile.dealloc %b : !tile.shared<1, tensor<8x8xf32, #s>>
  tile.return
}
