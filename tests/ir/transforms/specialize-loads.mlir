// SPDX-License-Identifier: MIT
// The producer has the loops of the loads and nothing of the work. Rings are per reader; one that holds another's turns has one slot.
// RUN: tilegym-opt --split-input-file --specialize-loads --canonicalize %s | FileCheck %s
// RUN: sed 's/warps 4/warps 8/; s/schedule = 1/schedule = 2/; s/\(warp \[[0-9,]*\] \[[0-9,]*\]\)/\1 [0,0]/' %s | tilegym-opt --split-input-file --specialize-loads --canonicalize | FileCheck %s --check-prefix=TURNS

#acc = #tile.layout<"16x16 unit 16x16 reg [0,1] [8,0] [0,8] lane [0,2] [0,4] [1,0] [2,0] [4,0]">
#by = #tile.layout<"16x16 unit 16x16 reg [0,1] [0,2] [0,4] lane [0,8] [1,0] [2,0] [4,0] [8,0]">
#s = #tile.layout<"16x16 unit 16x16 reg [0,1] [0,2] [0,4] [0,8] [1,0] [2,0] [4,8] [8,0]">

// CHECK-LABEL: tile.kernel @product
// CHECK: #tile.param<tensor_map 0, "a.map", !tile.tensor_map<f16, [16 of dim 0 by 0, 16 of dim 1], swizzle 32>
// CHECK: #tile.param<tensor_map 1, "b.map", !tile.tensor_map<f16, [16 of dim 1 by 0, 16 of dim 2], swizzle 32>
tile.kernel @product grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "a", !tile.ptr<f16>, divisor = 16, readonly>,
    #tile.param<base 1, "b", !tile.ptr<f16>, divisor = 16, readonly>, #tile.param<extent 0, "M", i64, divisor = 8, upper = 2146435072>,
    #tile.param<extent 1, "K", i64, divisor = 8, upper = 2146435072>, #tile.param<extent 2, "N", i64, divisor = 8, upper = 2146435072>,
    #tile.param<stride 0, "a.stride0", i64, divisor = 8, upper = 2147483647>,
    #tile.param<stride 1, "b.stride0", i64, divisor = 8, upper = 2147483647>] knobs {schedule = 1 : i64, stages = 3 : i64} {
  %a = tile.param 0 : !tile.ptr<f16>
  %b = tile.param 1 : !tile.ptr<f16>
  %M = tile.param 2 : i64
  %K = tile.param 3 : i64
  %N = tile.param 4 : i64
  %as = tile.param 5 : i64
  %bs = tile.param 6 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s0 = arith.constant 0 : i32
  %pad = arith.constant 0.0 : f16
  %none = arith.constant dense<0.0> : tensor<16x16xf32, #acc>
  // CHECK: %[[A:.*]] = tile.alloc : !tile.shared<3,
  // CHECK: %[[B:.*]] = tile.alloc : !tile.shared<3,
  // CHECK: %[[FULL:.*]] = tile.make_mbarriers arrivals 1 : !tile.mbarriers<3>
  // CHECK: %[[EMPTY:.*]] = tile.make_mbarriers arrivals 1 : !tile.mbarriers<3>
  // CHECK: tile.roles producer {
  // CHECK-NEXT: scf.for %[[I:.*]] = %c0_i64 to %M step %{{.*}} iter_args(%[[AT:.*]] = %c0_i32, %[[P:.*]] = %c1_i32)
  // What does not depend on the inner loop is computed in front of it.
  // CHECK-NEXT: arith.trunci %[[I]]
  // CHECK-NEXT: scf.for %[[K:.*]] = %c0_i64 to %K step %{{.*}} iter_args(%[[AT2:.*]] = %[[AT]], %[[P2:.*]] = %[[P]])
  // CHECK-NEXT: tile.mbarrier_wait %[[EMPTY]][%[[AT2]]] parity %[[P2]]
  // CHECK-NEXT: tile.mbarrier_expect %[[FULL]][%[[AT2]]] bytes 1024
  // CHECK: tile.slot %[[A]][%[[AT2]]]
  // CHECK-NEXT: tile.tensor_load %a.map[%{{.*}}, %{{.*}}] into %{{.*}} signal %[[FULL]][%[[AT2]]]
  // CHECK: tile.slot %[[B]][%[[AT2]]]
  // CHECK-NEXT: tile.tensor_load %b.map[%{{.*}}, %c0_i32] into %{{.*}} signal %[[FULL]][%[[AT2]]]
  // CHECK-NOT: tile.dot
  // CHECK: } consumer {
  // CHECK: scf.for %{{.*}} iter_args(%[[C:.*]] = %c0_i32, %[[Q:.*]] = %c0_i32)
  // CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[C2:.*]] = %[[C]], %[[Q2:.*]] = %[[Q]])
  // CHECK-DAG: tile.slot %[[A]][%[[C2]]]
  // CHECK-DAG: tile.slot %[[B]][%[[C2]]]
  // CHECK: tile.mbarrier_wait %[[FULL]][%[[C2]]] parity %[[Q2]]
  // CHECK-NEXT: tile.dot
  // CHECK-NEXT: tile.mbarrier_arrive %[[EMPTY]][%[[C2]]] reads
  // CHECK-NOT: tile.load
  // CHECK: }
  // CHECK: tile.dealloc
  // CHECK-NEXT: tile.dealloc
  // CHECK-NEXT: tile.return
  %step = arith.constant 16 : i64
  scf.for %i = %zero to %M step %step : i64 {
    %ring = tile.alloc : !tile.shared<1, tensor<16x16xf16, #s>>
    %other = tile.alloc : !tile.shared<1, tensor<16x16xf16, #s>>
    %d = scf.for %k = %zero to %K step %step iter_args(%sum = %none) -> (tensor<16x16xf32, #acc>) : i64 {
      %x = tile.load %a[span(%i, 16) stride %as in(%zero, %M), span(%k, 16) stride %one in(%zero, %K)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16, #by>
      %y = tile.load %b[span(%k, 16) stride %bs in(%zero, %K), span(%zero, 16) stride %one in(%zero, %N)] pad(%pad : f16) : !tile.ptr<f16> -> tensor<16x16xf16, #by>
      %xs = tile.slot %ring[%s0] : !tile.shared<1, tensor<16x16xf16, #s>>
      tile.put %x into %xs : tensor<16x16xf16, #by> into !tile.shared<1, tensor<16x16xf16, #s>>
      %ys = tile.slot %other[%s0] : !tile.shared<1, tensor<16x16xf16, #s>>
      tile.put %y into %ys : tensor<16x16xf16, #by> into !tile.shared<1, tensor<16x16xf16, #s>>
      %e = tile.dot %xs, %ys, %sum : !tile.shared<1, tensor<16x16xf16, #s>>, !tile.shared<1, tensor<16x16xf16, #s>>, tensor<16x16xf32, #acc>
      scf.yield %e : tensor<16x16xf32, #acc>
    }
    tile.print "{}" %d : tensor<16x16xf32, #acc>
    tile.dealloc %ring : !tile.shared<1, tensor<16x16xf16, #s>>
    tile.dealloc %other : !tile.shared<1, tensor<16x16xf16, #s>>
  }
  tile.return
}

// -----

#acc = #tile.layout<"64x8 unit 64x8 reg [0,1] [8,0] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#by = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [32,0] lane [0,8] [0,16] [1,0] [2,0] [4,0] warp [8,0] [16,0]">
#a = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">
#slot = #tile.layout<"32x8 unit 32x8 reg [1,0] [2,0] [4,0] [8,0] [16,0] [0,1] [8,2] [16,4]">

// Warpgroups leave one product in flight: what a turn releases is the turn before, and the last turn behind the loop.
// CHECK-LABEL: tile.kernel @overlap
tile.kernel @overlap grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<bf16>, divisor = 16, readonly>,
    #tile.param<base 1, "b", !tile.ptr<bf16>, divisor = 16, readonly>, #tile.param<extent 0, "M", i64, upper = 2146435072>,
    #tile.param<extent 1, "K", i64, divisor = 8, upper = 2146435072>, #tile.param<extent 2, "N", i64, upper = 2146435072>,
    #tile.param<stride 0, "a.stride0", i64, divisor = 8, upper = 2147483647>,
    #tile.param<stride 1, "b.stride1", i64, divisor = 8, upper = 2147483647>] knobs {schedule = 1 : i64, stages = 2 : i64} {
  %a = tile.param 0 : !tile.ptr<bf16>
  %b = tile.param 1 : !tile.ptr<bf16>
  %M = tile.param 2 : i64
  %K = tile.param 3 : i64
  %N = tile.param 4 : i64
  %as = tile.param 5 : i64
  %bs = tile.param 6 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 32 : i64
  %s0 = arith.constant 0 : i32
  %pad = arith.constant 0.0 : bf16
  %none = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
  %as0 = tile.alloc : !tile.shared<1, tensor<64x32xbf16, #a>>
  %bs0 = tile.alloc : !tile.shared<1, tensor<32x8xbf16, #slot>>
  // CHECK: } consumer {
  // CHECK: %[[LOOP:.*]]:3 = scf.for %[[K:.*]] = %c0_i64 to %K step %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[AT:.*]] = %c0_i32, %[[P:.*]] = %c0_i32)
  // CHECK: tile.mbarrier_wait %[[FULL:.*]][%[[AT]]] parity %[[P]]
  // CHECK-NEXT: tile.dot %{{.*}} warpgroups in_flight
  // CHECK-NEXT: tile.dot_wait 1
  // CHECK-NEXT: %[[MORE:.*]] = arith.cmpi ne, %[[K]], %c0_i64
  // CHECK: %[[BEFORE:.*]] = arith.select %{{.*}}, %c1_i32, %{{.*}} : i32
  // CHECK-NEXT: tile.mbarrier_arrive %[[EMPTY:.*]][%[[BEFORE]]] if %[[MORE]] :
  // CHECK: }
  // CHECK-NEXT: %[[SUM:.*]] = tile.dot_wait 0(%[[LOOP]]#0)
  // CHECK-NEXT: %[[RAN:.*]] = arith.cmpi sgt, %K, %c0_i64
  // CHECK: tile.mbarrier_arrive %[[EMPTY]][%{{.*}}] if %[[RAN]] :
  // CHECK-NEXT: tile.print "{}" %[[SUM]]
  %d = scf.for %k = %zero to %K step %step iter_args(%sum = %none) -> (tensor<64x8xf32, #acc>) : i64 {
    %x = tile.load %a[span(%zero, 64) stride %as in(%zero, %M), span(%k, 32) stride %one in(%zero, %K)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<64x32xbf16, #by>
    %y = tile.load %b[span(%k, 32) stride %one in(%zero, %K), span(%zero, 8) stride %bs in(%zero, %N)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<32x8xbf16>
    %xs = tile.slot %as0[%s0] : !tile.shared<1, tensor<64x32xbf16, #a>>
    tile.put %x into %xs : tensor<64x32xbf16, #by> into !tile.shared<1, tensor<64x32xbf16, #a>>
    %ys = tile.slot %bs0[%s0] : !tile.shared<1, tensor<32x8xbf16, #slot>>
    tile.put %y into %ys : tensor<32x8xbf16> into !tile.shared<1, tensor<32x8xbf16, #slot>>
    %e = tile.dot %xs, %ys, %sum warpgroups : !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.shared<1, tensor<32x8xbf16, #slot>>, tensor<64x8xf32, #acc>
    scf.yield %e : tensor<64x8xf32, #acc>
  }
  tile.print "{}" %d : tensor<64x8xf32, #acc>
  tile.dealloc %as0 : !tile.shared<1, tensor<64x32xbf16, #a>>
  tile.dealloc %bs0 : !tile.shared<1, tensor<32x8xbf16, #slot>>
  tile.return
}

// -----

#acc = #tile.layout<"64x8 unit 64x8 reg [0,1] [8,0] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#by = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [32,0] lane [0,8] [0,16] [1,0] [2,0] [4,0] warp [8,0] [16,0]">
#a = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">
#slot = #tile.layout<"32x8 unit 32x8 reg [1,0] [2,0] [4,0] [8,0] [16,0] [0,1] [8,2] [16,4]">

// A product in flight reads its slots until the wait that ends it: released behind that. What is loaded of the same tensor in front of the loop and in it takes turns
// in one ring.
// CHECK-LABEL: tile.kernel @in_flight
// CHECK: %[[A:.*]] = tile.alloc : !tile.shared<2, tensor<64x32
// CHECK: tile.roles shift_registers producer {
// CHECK: tile.tensor_load %a.map
// CHECK: scf.for %{{.*}} iter_args(%[[PA:.*]] = %c1_i32,
// CHECK: tile.tensor_load %a.map
// CHECK: } consumer {
// CHECK: tile.mbarrier_wait %[[FULLA:.*]][%c0_i32] parity %c0_i32
// CHECK: tile.dot
// CHECK-NEXT: tile.mbarrier_arrive %[[EMPTYA:.*]][%c0_i32] :
// CHECK: scf.for %{{.*}} iter_args(%[[AT:.*]] = %c1_i32, %[[P:.*]] = %c0_i32, %[[BT:.*]] = %c0_i32, %[[Q:.*]] = %c0_i32)
// CHECK: tile.mbarrier_wait %[[FULLA]][%[[AT]]] parity %[[P]]
// CHECK: %[[D:.*]] = tile.dot %{{.*}} in_flight
// CHECK: tile.mbarrier_wait %[[FULLB:.*]][%[[BT]]] parity %[[Q]]
// CHECK-NEXT: %[[E:.*]] = tile.dot %{{.*}} in_flight
// CHECK-NEXT: tile.dot_wait 1(%[[D]])
// CHECK-NEXT: tile.mbarrier_arrive %[[EMPTYA]][%[[AT]]] :
// ptxas would move the wait for the product in front of other work, but not over a branch.
// CHECK: tile.mbarrier_wait %[[FULLB]][%[[BT]]] parity %[[Q]]
// CHECK-NEXT: %[[F:.*]] = tile.dot_wait 0(%[[E]])
// CHECK-NEXT: tile.mbarrier_arrive %{{.*}}[%[[BT]]] :
// TURNS-LABEL: tile.kernel @in_flight
// TURNS: scf.for
// TURNS: tile.take_turn
// TURNS-NEXT: tile.dot %{{.*}} in_flight
// TURNS: tile.dot %{{.*}} in_flight
// TURNS-NEXT: tile.pass_turn
// TURNS-NEXT: tile.dot_wait 1
tile.kernel @in_flight grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<bf16>, divisor = 16, readonly>,
    #tile.param<base 1, "b", !tile.ptr<bf16>, divisor = 16, readonly>, #tile.param<extent 0, "M", i64, upper = 2146435072>,
    #tile.param<extent 1, "K", i64, divisor = 8, upper = 2146435072>, #tile.param<extent 2, "N", i64, upper = 2146435072>,
    #tile.param<stride 0, "a.stride0", i64, divisor = 8, upper = 2147483647>,
    #tile.param<stride 1, "b.stride1", i64, divisor = 8, upper = 2147483647>] knobs {schedule = 1 : i64, stages = 2 : i64} {
  %a = tile.param 0 : !tile.ptr<bf16>
  %b = tile.param 1 : !tile.ptr<bf16>
  %M = tile.param 2 : i64
  %K = tile.param 3 : i64
  %N = tile.param 4 : i64
  %as = tile.param 5 : i64
  %bs = tile.param 6 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 32 : i64
  %s0 = arith.constant 0 : i32
  %pad = arith.constant 0.0 : bf16
  %none = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
  %x0 = arith.constant dense<1.0> : tensor<64x32xbf16>
  %y0 = arith.constant dense<1.0> : tensor<32x8xbf16>
  %fixedA = tile.alloc : !tile.shared<1, tensor<64x32xbf16, #a>>
  %fixedB = tile.alloc : !tile.shared<1, tensor<32x8xbf16, #slot>>
  %fa = tile.slot %fixedA[%s0] : !tile.shared<1, tensor<64x32xbf16, #a>>
  %fb = tile.slot %fixedB[%s0] : !tile.shared<1, tensor<32x8xbf16, #slot>>
  %ring = tile.alloc : !tile.shared<1, tensor<64x32xbf16, #a>>
  %more = tile.alloc : !tile.shared<1, tensor<64x32xbf16, #a>>
  %other = tile.alloc : !tile.shared<1, tensor<32x8xbf16, #slot>>
  %w = tile.load %a[span(%zero, 64) stride %as in(%zero, %M), span(%zero, 32) stride %one in(%zero, %K)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<64x32xbf16, #by>
  %ws = tile.slot %ring[%s0] : !tile.shared<1, tensor<64x32xbf16, #a>>
  tile.put %w into %ws : tensor<64x32xbf16, #by> into !tile.shared<1, tensor<64x32xbf16, #a>>
  %c = tile.dot %ws, %fb, %none warpgroups : !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.shared<1, tensor<32x8xbf16, #slot>>, tensor<64x8xf32, #acc>
  tile.print "{}" %c : tensor<64x8xf32, #acc>
  scf.for %k = %step to %K step %step : i64 {
    %x = tile.load %a[span(%zero, 64) stride %as in(%zero, %M), span(%k, 32) stride %one in(%zero, %K)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<64x32xbf16, #by>
    %y = tile.load %b[span(%k, 32) stride %one in(%zero, %K), span(%zero, 8) stride %bs in(%zero, %N)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<32x8xbf16>
    %xs = tile.slot %more[%s0] : !tile.shared<1, tensor<64x32xbf16, #a>>
    tile.put %x into %xs : tensor<64x32xbf16, #by> into !tile.shared<1, tensor<64x32xbf16, #a>>
    %d = tile.dot %xs, %fb, %none warpgroups in_flight : !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.shared<1, tensor<32x8xbf16, #slot>>, tensor<64x8xf32, #acc>
    %ys = tile.slot %other[%s0] : !tile.shared<1, tensor<32x8xbf16, #slot>>
    tile.put %y into %ys : tensor<32x8xbf16> into !tile.shared<1, tensor<32x8xbf16, #slot>>
    %e = tile.dot %fa, %ys, %none warpgroups in_flight : !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.shared<1, tensor<32x8xbf16, #slot>>, tensor<64x8xf32, #acc>
    %dd = tile.dot_wait 1 (%d) : tensor<64x8xf32, #acc> to tensor<64x8xf32, #acc>
    tile.print "{}" %dd : tensor<64x8xf32, #acc>
    %ee = tile.dot_wait 0 (%e) : tensor<64x8xf32, #acc> to tensor<64x8xf32, #acc>
    tile.print "{}" %ee : tensor<64x8xf32, #acc>
  }
  tile.dealloc %ring : !tile.shared<1, tensor<64x32xbf16, #a>>
  tile.dealloc %more : !tile.shared<1, tensor<64x32xbf16, #a>>
  tile.dealloc %other : !tile.shared<1, tensor<32x8xbf16, #slot>>
  tile.return
}

// -----

#acc = #tile.layout<"64x8 unit 64x8 reg [0,1] [8,0] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#by = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [32,0] lane [0,8] [0,16] [1,0] [2,0] [4,0] warp [8,0] [16,0]">
#a = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">
#slot = #tile.layout<"32x8 unit 32x8 reg [1,0] [2,0] [4,0] [8,0] [16,0] [0,1] [8,2] [16,4]">

// Where no wait of its block ends the product, the load stays with the warps that compute.
// CHECK-LABEL: tile.kernel @no_end
// CHECK-NOT: tile.roles
tile.kernel @no_end grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "a", !tile.ptr<bf16>, divisor = 16, readonly>,
    #tile.param<extent 0, "M", i64, upper = 2146435072>, #tile.param<extent 1, "K", i64, divisor = 8, upper = 2146435072>,
    #tile.param<stride 0, "a.stride0", i64, divisor = 8, upper = 2147483647>] knobs {schedule = 1 : i64, stages = 2 : i64} {
  %a = tile.param 0 : !tile.ptr<bf16>
  %M = tile.param 1 : i64
  %K = tile.param 2 : i64
  %as = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 32 : i64
  %s0 = arith.constant 0 : i32
  %pad = arith.constant 0.0 : bf16
  %none = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
  %fixedB = tile.alloc : !tile.shared<1, tensor<32x8xbf16, #slot>>
  %fb = tile.slot %fixedB[%s0] : !tile.shared<1, tensor<32x8xbf16, #slot>>
  %more = tile.alloc : !tile.shared<1, tensor<64x32xbf16, #a>>
  %r = scf.for %k = %zero to %K step %step iter_args(%d0 = %none) -> (tensor<64x8xf32, #acc>) : i64 {
    %x = tile.load %a[span(%zero, 64) stride %as in(%zero, %M), span(%k, 32) stride %one in(%zero, %K)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<64x32xbf16, #by>
    %xs = tile.slot %more[%s0] : !tile.shared<1, tensor<64x32xbf16, #a>>
    tile.put %x into %xs : tensor<64x32xbf16, #by> into !tile.shared<1, tensor<64x32xbf16, #a>>
    %d = tile.dot %xs, %fb, %none warpgroups in_flight : !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.shared<1, tensor<32x8xbf16, #slot>>, tensor<64x8xf32, #acc>
    scf.yield %d : tensor<64x8xf32, #acc>
  }
  %rr = tile.dot_wait 0 (%r) : tensor<64x8xf32, #acc> to tensor<64x8xf32, #acc>
  tile.print "{}" %rr : tensor<64x8xf32, #acc>
  tile.dealloc %more : !tile.shared<1, tensor<64x32xbf16, #a>>
  tile.return
}
