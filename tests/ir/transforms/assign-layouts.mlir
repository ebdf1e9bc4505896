// SPDX-License-Identifier: MIT
// Layouts chosen for accesses, followed by what is derived from them, and conversions where two disagree.
// RUN: tilegym-opt --split-input-file --assign-layouts --cse %s | FileCheck %s
// RUN: tilegym-opt --split-input-file --assign-layouts --cse --tiles-to-threads %s | FileCheck %s --check-prefix=THREADS
// THREADS-NOT: tensor

// 16-byte vectors, adjacent lanes on adjacent vectors; the other dtype's access shares the layout.
// CHECK: #[[L:.*]] = #tile.layout<"1024 unit 1024 reg [1] [2] [4] lane [8] [16] [32] [64] [128] warp [256] [512]">
// CHECK-LABEL: tile.kernel @vectors
tile.kernel @vectors grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<bf16>, divisor = 16, readonly>,
    #tile.param<base 1, "y", !tile.ptr<bf16>, divisor = 16>, #tile.param<extent 0, "n", i64, divisor = 8>] {
  %x = tile.param 0 : !tile.ptr<bf16>
  %y = tile.param 1 : !tile.ptr<bf16>
  %n = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  // CHECK: %[[t:.*]] = tile.load {{.*}} -> tensor<1024xbf16, #[[L]]>
  %pad = arith.constant 0.0 : bf16
  %t = tile.load %x[span(%zero, 1024) stride %one below(%zero, %n)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<1024xbf16>
  // CHECK-NOT: convert_layout
  // CHECK: tile.store {{.*}} : tensor<1024xbf16, #[[L]]>
  %u = arith.addf %t, %t : tensor<1024xbf16>
  tile.store %u to %y[span(%zero, 1024) stride %one below(%zero, %n)] : tensor<1024xbf16> to !tile.ptr<bf16>
  tile.return
}

// -----

// Nothing promises alignment or even a unit stride: one element at a time, adjacent lanes still adjacent.
// CHECK: #[[L:.*]] = #tile.layout<"256 unit 256 reg [128] lane [1] [2] [4] [8] [16] warp [32] [64]">
// CHECK-LABEL: tile.kernel @general
// CHECK: tensor<256xf32, #[[L]]>
tile.kernel @general grid 1 [-1] facts <general> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>>,
    #tile.param<extent 0, "n", i64>, #tile.param<stride 0, "s", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %s = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %pad = arith.constant 0.0 : f32
  %t = tile.load %x[span(%zero, 256) stride %s below(%zero, %n)] pad(%pad : f32) : !tile.ptr<f32> -> tensor<256xf32>
  tile.store %t to %x[span(%zero, 256) stride %s below(%zero, %n)] : tensor<256xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// A row that is reduced stays in a warp; its weight is loaded where it is used; no value moves.
// CHECK-DAG: #[[ROWS:.*]] = #tile.layout<"4x1024 unit 4x1024 reg [0,1] [0,2] [0,4] [0,256] [0,512] lane [0,8] [0,16] [0,32] [0,64] [0,128] warp [1,0] [2,0]">
// CHECK-DAG: #[[SUM:.*]] = #tile.layout<"4x1 unit 4x1 lane [0,0] [0,0] [0,0] [0,0] [0,0] warp [1,0] [2,0]">
// CHECK-DAG: #[[WEIGHT:.*]] = #tile.layout<"1024 unit 1024 reg [1] [2] [4] [256] [512] lane [8] [16] [32] [64] [128] warp [0] [0]">
// CHECK-LABEL: tile.kernel @rows
// CHECK-NOT: convert_layout
// CHECK: tile.load {{.*}} -> tensor<4x1024xbf16, #[[ROWS]]>
// CHECK: tile.reduce <sum> {{.*}} to tensor<4x1xbf16, #[[SUM]]>
// CHECK: tile.load {{.*}} -> tensor<1024xbf16, #[[WEIGHT]]>
// CHECK-NOT: convert_layout
// CHECK: tile.return
tile.kernel @rows grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<bf16>, divisor = 16>,
    #tile.param<base 1, "w", !tile.ptr<bf16>, divisor = 16, readonly>, #tile.param<extent 0, "n", i64, divisor = 8>,
    #tile.param<stride 0, "s", i64, divisor = 8>] {
  %x = tile.param 0 : !tile.ptr<bf16>
  %w = tile.param 1 : !tile.ptr<bf16>
  %n = tile.param 2 : i64
  %s = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : bf16
  %t = tile.load %x[span(%zero, 4) stride %s within(%zero, %n), span(%zero, 1024) stride %one below(%zero, %n)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<4x1024xbf16>
  %sum = tile.reduce <sum> %t [1] : tensor<4x1024xbf16> to tensor<4x1xbf16>
  %b = tile.broadcast %sum : tensor<4x1xbf16> to tensor<4x1024xbf16>
  %v = tile.load %w[span(%zero, 1024) stride %one below(%zero, %n)] pad(%pad : bf16) : !tile.ptr<bf16> -> tensor<1024xbf16>
  %v1 = tile.reshape %v : tensor<1024xbf16> to tensor<1x1024xbf16>
  %v2 = tile.broadcast %v1 : tensor<1x1024xbf16> to tensor<4x1024xbf16>
  %q = arith.mulf %b, %v2 : tensor<4x1024xbf16>
  %o = arith.addf %q, %t : tensor<4x1024xbf16>
  tile.store %o to %x[span(%zero, 4) stride %s within(%zero, %n), span(%zero, 1024) stride %one below(%zero, %n)] : tensor<4x1024xbf16> to !tile.ptr<bf16>
  tile.return
}

// -----

// Without a reduction warps follow lanes: the first 2 KB in one go.
// CHECK: #tile.layout<"32x128 unit 32x128 reg [0,1] [0,2] [4,0] [8,0] [16,0] lane [0,4] [0,8] [0,16] [0,32] [0,64] warp [1,0] [2,0]">
// CHECK-LABEL: tile.kernel @no_reduction
tile.kernel @no_reduction grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16>,
    #tile.param<stride 0, "s", i64, divisor = 4>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %s = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %t = tile.load %x[span(%zero, 32) stride %s within(%zero, %s), span(%zero, 128) stride %one within(%zero, %s)] : !tile.ptr<f32> -> tensor<32x128xf32>
  tile.store %t to %x[span(%zero, 32) stride %s within(%zero, %s), span(%zero, 128) stride %one within(%zero, %s)] : tensor<32x128xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// Columns that are reduced: warps side by side along the rows, so that none needs another.
// CHECK: #tile.layout<"32x512 unit 32x512 reg [0,1] [0,2] [1,0] [2,0] [4,0] [8,0] [16,0] lane [0,4] [0,8] [0,16] [0,32] [0,64] warp [0,128] [0,256]">
// CHECK-LABEL: tile.kernel @columns
tile.kernel @columns grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16>,
    #tile.param<stride 0, "s", i64, divisor = 4>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %s = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %t = tile.load %x[span(%zero, 32) stride %s within(%zero, %s), span(%zero, 512) stride %one within(%zero, %s)] : !tile.ptr<f32> -> tensor<32x512xf32>
  %m = tile.reduce <max> %t [0] : tensor<32x512xf32> to tensor<1x512xf32>
  tile.store %m to %x[span(%zero, 1) stride %s within(%zero, %s), span(%zero, 512) stride %one within(%zero, %s)] : tensor<1x512xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// A transpose: both accesses are whole vectors, one conversion between.
// CHECK-LABEL: tile.kernel @transpose
// CHECK: tile.load {{.*}} -> tensor<64x64xf32, #[[A:.*]]>
// CHECK: tile.permute %{{.*}} [1, 0] : tensor<64x64xf32, #[[A]]> to tensor<64x64xf32, #[[T:.*]]>
// CHECK: tile.convert_layout {{.*}} : tensor<64x64xf32, #[[T]]> to tensor<64x64xf32, #[[A]]>
// CHECK: tile.store
tile.kernel @transpose grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16>,
    #tile.param<stride 0, "s", i64, divisor = 4>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %s = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %t = tile.load %x[span(%zero, 64) stride %s within(%zero, %s), span(%zero, 64) stride %one within(%zero, %s)] : !tile.ptr<f32> -> tensor<64x64xf32>
  %p = tile.permute %t [1, 0] : tensor<64x64xf32> to tensor<64x64xf32>
  tile.store %p to %x[span(%zero, 64) stride %s within(%zero, %s), span(%zero, 64) stride %one within(%zero, %s)] : tensor<64x64xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// A transposed view among row-major ones: its load keeps a layout of its own, its mask goes there, too.
// CHECK-LABEL: tile.kernel @view
// CHECK: tile.load {{.*}} -> tensor<64x64xf32, #[[R:.*]]>
// CHECK: %[[m:.*]] = tile.convert_layout {{.*}} : tensor<64x64xi1, #[[R]]> to tensor<64x64xi1, #[[C:.*]]>
// CHECK: %[[v:.*]] = tile.load {{.*}} mask(%[[m]] : tensor<64x64xi1, #[[C]]>) {{.*}} -> tensor<64x64xf32, #[[C]]>
// CHECK: tile.convert_layout %[[v]] : tensor<64x64xf32, #[[C]]> to tensor<64x64xf32, #[[R]]>
tile.kernel @view grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16>,
    #tile.param<stride 0, "s", i64, divisor = 4>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %s = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : f32
  %a = tile.load %x[span(%zero, 64) stride %s within(%zero, %s), span(%zero, 64) stride %one within(%zero, %s)] : !tile.ptr<f32> -> tensor<64x64xf32>
  %m = arith.cmpf olt, %a, %a : tensor<64x64xf32>
  %b = tile.load %x[span(%zero, 64) stride %one within(%zero, %s), span(%zero, 64) stride %s within(%zero, %s)] pad(%pad : f32) mask(%m : tensor<64x64xi1>) : !tile.ptr<f32> -> tensor<64x64xf32>
  %c = arith.addf %a, %b : tensor<64x64xf32>
  tile.store %c to %x[span(%zero, 64) stride %s within(%zero, %s), span(%zero, 64) stride %one within(%zero, %s)] : tensor<64x64xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// What loops carry has one layout; a splat is made for each reader in the reader's.
// CHECK-LABEL: tile.kernel @loop
// CHECK: %[[z:.*]] = arith.constant dense<0.000000e+00> : tensor<512xf32, #[[L:.*]]>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[z]]) -> (tensor<512xf32, #[[L]]>)
// CHECK: scf.if {{.*}} -> (tensor<512xf32, #[[L]]>)
// CHECK: scf.while {{.*}} : (tensor<512xf32, #[[L]]>) -> tensor<512xf32, #[[L]]>
// CHECK: tile.store %{{.*}} : tensor<512xf32, #[[L]]>
// CHECK: tile.reshape %{{.*}} : tensor<512xf32, #{{.*}}> to tensor<8x64xf32, #{{.*}}>
// CHECK-NOT: convert_layout
tile.kernel @loop grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16>,
    #tile.param<extent 0, "n", i64, divisor = 512>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 512 : i64
  %true = arith.constant true
  %z = arith.constant dense<0.0> : tensor<512xf32>
  %acc = scf.for %i = %zero to %n step %step iter_args(%a = %z) -> (tensor<512xf32>) : i64 {
    %t = tile.load %x[span(%i, 512) stride %one within(%zero, %n)] : !tile.ptr<f32> -> tensor<512xf32>
    %b = arith.addf %a, %t : tensor<512xf32>
    scf.yield %b : tensor<512xf32>
  }
  %c = scf.if %true -> tensor<512xf32> {
    scf.yield %acc : tensor<512xf32>
  } else {
    %d = arith.negf %acc : tensor<512xf32>
    scf.yield %d : tensor<512xf32>
  }
  %w = scf.while (%e = %c) : (tensor<512xf32>) -> tensor<512xf32> {
    scf.condition(%true) %e : tensor<512xf32>
  } do {
  ^bb0(%f: tensor<512xf32>):
    %g = arith.negf %f : tensor<512xf32>
    scf.yield %g : tensor<512xf32>
  }
  tile.store %w to %x[span(%zero, 512) stride %one within(%zero, %n)] : tensor<512xf32> to !tile.ptr<f32>
  %r = tile.reshape %z : tensor<512xf32> to tensor<8x64xf32>
  tile.print "{}" %r : tensor<8x64xf32>
  tile.return
}

// -----

// Halves that are taken apart lie in registers of one thread, and so does what is put together.
// CHECK-DAG: #[[WHOLE:.*]] = #tile.layout<"16x64 unit 16x64 reg [0,1] [0,2] [0,32] lane [0,4] [0,8] [0,16] [1,0] [2,0] warp [4,0] [8,0]">
// CHECK-DAG: #[[HALF:.*]] = #tile.layout<"16x32 unit 16x32 reg [0,1] [0,2] lane [0,4] [0,8] [0,16] [1,0] [2,0] warp [4,0] [8,0]">
// CHECK-LABEL: tile.kernel @halves
// CHECK: tile.extract %{{.*}} [0, 32] : tensor<16x64xf32, #[[WHOLE]]> to tensor<16x32xf32, #[[HALF]]>
// CHECK: tile.cat 1 {{.*}} : tensor<16x32xf32, #[[HALF]]>, tensor<16x32xf32, #[[HALF]]> to tensor<16x64xf32, #[[WHOLE]]>
tile.kernel @halves grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16>,
    #tile.param<stride 0, "s", i64, divisor = 4>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %s = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %t = tile.load %x[span(%zero, 16) stride %s within(%zero, %s), span(%zero, 64) stride %one within(%zero, %s)] : !tile.ptr<f32> -> tensor<16x64xf32>
  %a = tile.extract %t [0, 0] : tensor<16x64xf32> to tensor<16x32xf32>
  %b = tile.extract %t [0, 32] : tensor<16x64xf32> to tensor<16x32xf32>
  %n = arith.negf %b : tensor<16x32xf32>
  %c = tile.cat 1 %n, %a : tensor<16x32xf32>, tensor<16x32xf32> to tensor<16x64xf32>
  tile.store %c to %x[span(%zero, 16) stride %s within(%zero, %s), span(%zero, 64) stride %one within(%zero, %s)] : tensor<16x64xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// Gather indices lie along the rows that they choose.
// CHECK-DAG: #[[ROWS:.*]] = #tile.layout<"8x64 unit 8x64 reg [0,1] [0,2] lane [0,4] [0,8] [0,16] [0,32] [1,0] warp [2,0] [4,0]">
// CHECK-DAG: #[[INDEX:.*]] = #tile.layout<"8 unit 8 lane [0] [0] [0] [0] [1] warp [2] [4]">
// CHECK-LABEL: tile.kernel @gather
// CHECK: tile.load {{.*}} -> tensor<8xi64, #[[INDEX]]>
// CHECK: tile.load {{.*}}gather(%{{.*}} : tensor<8xi64, #[[INDEX]]>) {{.*}} -> tensor<8x64xf32, #[[ROWS]]>
tile.kernel @gather grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16>,
    #tile.param<base 1, "rows", !tile.ptr<i64>, divisor = 16>, #tile.param<stride 0, "s", i64, divisor = 4>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %p = tile.param 1 : !tile.ptr<i64>
  %s = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = tile.load %p[span(%zero, 8) stride %one within(%zero, %s)] : !tile.ptr<i64> -> tensor<8xi64>
  %t = tile.load %x[gather(%rows : tensor<8xi64>) stride %s within(%zero, %s), span(%zero, 64) stride %one within(%zero, %s)] : !tile.ptr<f32> -> tensor<8x64xf32>
  tile.store %t to %x[span(%zero, 8) stride %s within(%zero, %s), span(%zero, 64) stride %one within(%zero, %s)] : tensor<8x64xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// An outer product: both vectors are loaded along the result.
// CHECK-LABEL: tile.kernel @outer
// CHECK-NOT: convert_layout
// CHECK: tile.return
tile.kernel @outer grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16>,
    #tile.param<base 1, "y", !tile.ptr<f32>, divisor = 16>, #tile.param<stride 0, "s", i64, divisor = 4>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %y = tile.param 1 : !tile.ptr<f32>
  %s = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.load %x[span(%zero, 16) stride %one within(%zero, %s)] : !tile.ptr<f32> -> tensor<16xf32>
  %b = tile.load %x[span(%zero, 64) stride %one within(%zero, %s)] : !tile.ptr<f32> -> tensor<64xf32>
  %a1 = tile.reshape %a : tensor<16xf32> to tensor<16x1xf32>
  %b1 = tile.reshape %b : tensor<64xf32> to tensor<1x64xf32>
  %a2 = tile.broadcast %a1 : tensor<16x1xf32> to tensor<16x64xf32>
  %b2 = tile.broadcast %b1 : tensor<1x64xf32> to tensor<16x64xf32>
  %c = arith.mulf %a2, %b2 : tensor<16x64xf32>
  tile.store %c to %y[span(%zero, 16) stride %s within(%zero, %s), span(%zero, 64) stride %one within(%zero, %s)] : tensor<16x64xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// Odd factors, a scan, atomics and a tile of one element.
// CHECK-LABEL: tile.kernel @others
// CHECK: tile.load {{.*}} -> tensor<192xi32, #[[L:.*]]>
// CHECK: tile.scan <sum> {{.*}} : tensor<192xi32, #[[L]]>
// CHECK: tile.atomic_rmw <add> {{.*}} : tensor<192xi32, #[[L]]> to !tile.ptr<i32>
// CHECK: tile.reshape %{{.*}} : i32 to tensor<1xi32, #{{.*}}>
// CHECK: tile.philox %{{.*}}, %{{.*}} : tensor<192xi64, #[[L]]> to tensor<192xi32, #[[L]]>
tile.kernel @others grid 1 [-1] facts <fast> warps 2 params [#tile.param<base 0, "x", !tile.ptr<i32>, divisor = 16>,
    #tile.param<extent 0, "n", i64, divisor = 4>] {
  %x = tile.param 0 : !tile.ptr<i32>
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0 : i32
  %t = tile.load %x[span(%zero, 192) stride %one below(%zero, %n)] pad(%pad : i32) : !tile.ptr<i32> -> tensor<192xi32>
  %c = tile.scan <sum> %t 0 : tensor<192xi32>
  %old = tile.atomic_rmw <add> %c to %x[span(%zero, 192) stride %one below(%zero, %n)] : tensor<192xi32> to !tile.ptr<i32>
  %sum = tile.reduce <sum> %old [0] : tensor<192xi32> to i32
  %r = tile.reshape %sum : i32 to tensor<1xi32>
  tile.store %r to %x[span(%zero, 1) stride %one below(%zero, %n)] : tensor<1xi32> to !tile.ptr<i32>
  %i = tile.iota 0 : tensor<192xi64>
  %p = tile.philox %n, %i : tensor<192xi64> to tensor<192xi32>
  %q = arith.addi %p, %old : tensor<192xi32>
  tile.store %q to %x[span(%zero, 192) stride %one below(%zero, %n)] : tensor<192xi32> to !tile.ptr<i32>
  tile.return
}

// -----

// What little work makes is made again where it is needed, not moved: the column mask of two tiles.
// CHECK-LABEL: tile.kernel @remake
// CHECK-NOT: convert_layout
// CHECK: tile.return
tile.kernel @remake grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16>,
    #tile.param<stride 0, "s", i64, divisor = 4>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %s = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : f32
  %i = tile.iota 0 : tensor<64xi64>
  %n = tile.splat %s : tensor<64xi64>
  %j = arith.addi %i, %n : tensor<64xi64>
  %j1 = tile.reshape %j : tensor<64xi64> to tensor<64x1xi64>
  %j2 = tile.broadcast %j1 : tensor<64x1xi64> to tensor<64x128xi64>
  %j3 = tile.broadcast %j1 : tensor<64x1xi64> to tensor<64x32xi64>
  %n2 = tile.splat %s : tensor<64x128xi64>
  %n3 = tile.splat %s : tensor<64x32xi64>
  %m2 = arith.cmpi slt, %j2, %n2 : tensor<64x128xi64>
  %m3 = arith.cmpi slt, %j3, %n3 : tensor<64x32xi64>
  %a = tile.load %x[span(%zero, 64) stride %s within(%zero, %s), span(%zero, 128) stride %one within(%zero, %s)] pad(%pad : f32) mask(%m2 : tensor<64x128xi1>) : !tile.ptr<f32> -> tensor<64x128xf32>
  %b = tile.load %x[span(%zero, 64) stride %s within(%zero, %s), span(%zero, 32) stride %one within(%zero, %s)] pad(%pad : f32) mask(%m3 : tensor<64x32xi1>) : !tile.ptr<f32> -> tensor<64x32xf32>
  tile.print "{} {}" %a, %b : tensor<64x128xf32>, tensor<64x32xf32>
  tile.return
}

// -----

// The rows of a group cost a thread much: warps take them before they take columns.
// CHECK: #[[L:.*]] = #tile.layout<"8x128 unit 8x128 reg [0,32] [0,64] [4,0] lane [0,1] [0,2] [0,4] [0,8] [0,16] warp [1,0] [2,0]">
// CHECK-LABEL: tile.kernel @group_rows
// CHECK: tile.load {{.*}} -> tensor<8x128xf32, #[[L]]>
tile.kernel @group_rows grid 1 [-1] facts <general> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>>, #tile.param<stride 0:1, "s", i64>,
    #tile.param<group_rank 0, "R.rank", i64, upper = 7>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %s = tile.param 1 : i64
  %rank = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %t = tile.load %x[span(%zero, 8) stride %one within(%zero, %s), span(%zero, 128) stride %s within(%zero, %s)] group(%rank, %s, %s, %s, %s)
       : !tile.ptr<f32> -> tensor<8x128xf32>
  tile.print "{}" %t : tensor<8x128xf32>
  tile.return
}

// -----

// The two blocks of a cluster take turns along the reduced axis; each has all of the sums.
// CHECK-DAG: #[[ROWS:.*]] = #tile.layout<"1x4096 unit 1x4096 reg [0,1] [0,2] [0,4] [0,2048] lane [0,8] [0,16] [0,32] [0,64] [0,128] warp [0,256] [0,512] block [0,1024]">
// CHECK-DAG: #[[SUM:.*]] = #tile.layout<"1x1 unit 1x1 lane [0,0] [0,0] [0,0] [0,0] [0,0] warp [0,0] [0,0] block [0,0]">
// CHECK-LABEL: tile.kernel @cluster
// CHECK: tile.reduce <sum> {{.*}} : tensor<1x4096xbf16, #[[ROWS]]> to tensor<1x1xbf16, #[[SUM]]>
tile.kernel @cluster grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<bf16>, divisor = 16>,
    #tile.param<base 1, "y", !tile.ptr<bf16>, divisor = 16>, #tile.param<extent 0, "n", i64, divisor = 8>] knobs {ctas = 2 : i64} {
  %x = tile.param 0 : !tile.ptr<bf16>
  %y = tile.param 1 : !tile.ptr<bf16>
  %n = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %row = tile.linear_block_id
  %t = tile.load %x[span(%row, 1) stride %n within(%zero, %n), span(%zero, 4096) stride %one within(%zero, %n)] : !tile.ptr<bf16> -> tensor<1x4096xbf16>
  %s = tile.reduce <sum> %t [1] : tensor<1x4096xbf16> to tensor<1x1xbf16>
  tile.store %s to %y[span(%row, 1) stride %one within(%zero, %n), span(%zero, 1) stride %one within(%zero, %n)] : tensor<1x1xbf16> to !tile.ptr<bf16>
  tile.return
}
