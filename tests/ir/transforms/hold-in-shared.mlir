// SPDX-License-Identifier: MIT
// Rows in shared memory: phases become loops over strips.
// RUN: tilegym-opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(hold-in-shared,canonicalize,cse))' | FileCheck %s

// The largest element, then a sum of exponentials: two loops over strips of 32 lanes x 4 elements, each of which ends with the row. Beyond the row the
// first loop would find nothing larger; the second's share is one element's, as often as strips are left out.
// CHECK-LABEL: tile.kernel @softmax
// CHECK: %[[COPY:.*]] = tile.hold %x [point(%{{.*}}) stride %{{.*}} in(%{{.*}}, %R), span(%c0{{.*}}, 1024) stride %{{.*}} in(%c0{{.*}}, %N)] : !tile.ptr<f32>
// CHECK: %[[HELD:.*]] = tile.await %[[COPY]]
// CHECK: %[[END:.*]] = arith.minsi %N, %c1024
// CHECK: %[[MOST:.*]] = scf.for %[[K:.*]] = %c0{{.*}} to %[[END]] step %c128{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<32x1xf32>)
// CHECK:   %[[T:.*]] = tile.load %x [point({{.*}}), span(%[[K]], 128) stride %{{.*}} in(%{{.*}}, %N)] pad(%{{.*}} : f32) held(%[[HELD]]) : !tile.ptr<f32> -> tensor<128xf32>
// CHECK:   %[[V:.*]] = tile.reshape %[[T]] : tensor<128xf32> to tensor<32x4xf32>
// CHECK:   %[[P:.*]] = tile.reduce <max> %[[V]] [1] : tensor<32x4xf32> to tensor<32x1xf32>
// CHECK:   arith.maximumf %[[ACC]], %[[P]] : tensor<32x1xf32>
// CHECK: %[[M:.*]] = tile.reduce <max> %[[MOST]] [0, 1] : tensor<32x1xf32> to f32
// CHECK: %[[SUMS:.*]] = scf.for {{.*}} to %[[END]] step
// CHECK:   tile.load {{.*}} held(%[[HELD]])
// CHECK:   math.exp
// CHECK: %[[S:.*]] = tile.reduce <sum> %[[SUMS]] [0, 1]
// CHECK: arith.mulf {{.*}} : f32
// CHECK: %[[SHARE:.*]] = arith.select {{.*}} : f32
// CHECK: arith.addf %[[S]], %[[SHARE]] : f32
// CHECK: scf.for {{.*}} to %[[END]] step
// CHECK:   tile.load {{.*}} held(%[[HELD]])
// CHECK:   math.exp
// CHECK:   tile.store {{.*}} span(%{{.*}}, 128) {{.*}} : tensor<128xf32>
// CHECK-NOT: tensor<1024xf32>
// CHECK: tile.return
tile.kernel @softmax grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16, readonly>, #tile.param<base 1, "y", !tile.ptr<f32>, divisor = 16>,
    #tile.param<extent 0, "R", i64>, #tile.param<extent 1, "N", i64, divisor = 4>] knobs {hold = 1 : i64, vectors = 1 : i64} {
  %x = tile.param 0 : !tile.ptr<f32>
  %y = tile.param 1 : !tile.ptr<f32>
  %r = tile.param 2 : i64
  %n = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %least = arith.constant 0xFF800000 : f32
  %i = tile.block_id 0
  %t = tile.load %x [point(%i) stride %n in(%zero, %r), span(%zero, 1024) stride %one in(%zero, %n)] pad(%least : f32) : !tile.ptr<f32> -> tensor<1024xf32>
  %m = tile.reduce <max> %t [0] : tensor<1024xf32> to f32
  %mb = tile.splat %m : tensor<1024xf32>
  %d = arith.subf %t, %mb : tensor<1024xf32>
  %e = math.exp %d : tensor<1024xf32>
  %s = tile.reduce <sum> %e [0] : tensor<1024xf32> to f32
  %sb = tile.splat %s : tensor<1024xf32>
  %q = arith.divf %e, %sb : tensor<1024xf32>
  tile.store %q to %y [point(%i) stride %n in(%zero, %r), span(%zero, 1024) stride %one in(%zero, %n)] : tensor<1024xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// Two values reduced by a function, of elements that a mask keeps to the row: beyond it both are the function's identity, so nothing is added. What every
// block reads is loaded where it is used.
// CHECK-LABEL: tile.kernel @norm
// CHECK-COUNT-1: tile.hold
// CHECK-NOT: tile.hold
// CHECK: %[[END:.*]] = arith.minsi %N, %c1024
// CHECK: scf.for {{.*}} to %[[END]] step %c256
// CHECK: %[[F:.*]]:2 = scf.for {{.*}} to %[[END]] step %c256{{.*}} -> (tensor<64x1xf32>, tensor<64x1xf32>)
// CHECK:   tile.iota 0 : tensor<256xi64>
// CHECK:   tile.reduce_with {{.*}} [1] : tensor<64x4xf32>, tensor<64x4xf32> to tensor<64x1xf32>, tensor<64x1xf32>
// CHECK:   arith.addf {{.*}} : tensor<64x1xf32>
// CHECK:   arith.addf {{.*}} : tensor<64x1xf32>
// CHECK: tile.reduce_with %[[F]]#0, %[[F]]#1 {{.*}} [0, 1]
// CHECK-NOT: arith.select {{.*}} : f32
// CHECK: scf.for {{.*}} to %[[END]] step %c256
// CHECK:   tile.load %w {{.*}} : !tile.ptr<f32> -> tensor<256xf32>
// CHECK:   tile.store
tile.kernel @norm grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16, readonly>, #tile.param<base 1, "y", !tile.ptr<f32>, divisor = 16>,
    #tile.param<extent 0, "R", i64>, #tile.param<extent 1, "N", i64, divisor = 4>, #tile.param<base 2, "w", !tile.ptr<f32>, divisor = 16, readonly>] knobs {hold = 1 : i64} {
  %x = tile.param 0 : !tile.ptr<f32>
  %y = tile.param 1 : !tile.ptr<f32>
  %r = tile.param 2 : i64
  %n = tile.param 3 : i64
  %w = tile.param 4 : !tile.ptr<f32>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %none = arith.constant 0.0 : f32
  %nothing = arith.constant dense<0.0> : tensor<1024xf32>
  %i = tile.block_id 0
  %scale = tile.load %w [span(%zero, 1024) stride %one in(%zero, %n)] pad(%none : f32) : !tile.ptr<f32> -> tensor<1024xf32>
  %t = tile.load %x [point(%i) stride %n in(%zero, %r), span(%zero, 1024) stride %one in(%zero, %n)] pad(%none : f32) : !tile.ptr<f32> -> tensor<1024xf32>
  %m = tile.reduce <sum> %t [0] : tensor<1024xf32> to f32
  %mb = tile.splat %m : tensor<1024xf32>
  %at = tile.iota 0 : tensor<1024xi64>
  %nb = tile.splat %n : tensor<1024xi64>
  %in = arith.cmpi slt, %at, %nb : tensor<1024xi64>
  %far = arith.subf %t, %mb : tensor<1024xf32>
  %d = arith.select %in, %far, %nothing : tensor<1024xi1>, tensor<1024xf32>
  %dd = arith.mulf %d, %d : tensor<1024xf32>
  %f:2 = tile.reduce_with %d, %dd init(%none, %none : f32, f32) [0] : tensor<1024xf32>, tensor<1024xf32> to f32, f32 {
  ^bb0(%s: f32, %q: f32, %a: f32, %b: f32):
    %u = arith.addf %s, %a : f32
    %v = arith.addf %q, %b : f32
    tile.yield %u, %v : f32, f32
  }
  %fb = tile.splat %f#0 : tensor<1024xf32>
  %gb = tile.splat %f#1 : tensor<1024xf32>
  %o = arith.subf %d, %fb : tensor<1024xf32>
  %p = arith.mulf %o, %gb : tensor<1024xf32>
  %q = arith.mulf %p, %scale : tensor<1024xf32>
  tile.store %q to %y [point(%i) stride %n in(%zero, %r), span(%zero, 1024) stride %one in(%zero, %n)] : tensor<1024xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// What is beyond the row counts, too, and cannot be told beforehand: the first loop runs over the whole tile. A strip as wide as the tile needs no
// loop, in the second kernel.
// CHECK-LABEL: tile.kernel @products
// CHECK: tile.hold
// CHECK: scf.for {{.*}} to %c1024{{.*}} step %c256
// CHECK: arith.mulf {{.*}} : tensor<64x1xf32>
// CHECK: scf.for
// CHECK-LABEL: tile.kernel @short
// CHECK: tile.hold
// CHECK-NOT: scf.for
// CHECK: %[[T:.*]] = tile.load {{.*}} held(%{{.*}}) : !tile.ptr<f32> -> tensor<256xf32>
// CHECK: tile.reduce <prod> %[[T]] [0] : tensor<256xf32> to f32
// CHECK: arith.divf %[[T]]
tile.kernel @products grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16, readonly>, #tile.param<base 1, "y", !tile.ptr<f32>, divisor = 16>,
    #tile.param<extent 0, "R", i64>, #tile.param<extent 1, "N", i64, divisor = 4>] knobs {hold = 1 : i64} {
  %x = tile.param 0 : !tile.ptr<f32>
  %y = tile.param 1 : !tile.ptr<f32>
  %r = tile.param 2 : i64
  %n = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %half = arith.constant 0.5 : f32
  %i = tile.block_id 0
  %t = tile.load %x [point(%i) stride %n in(%zero, %r), span(%zero, 1024) stride %one in(%zero, %n)] pad(%half : f32) : !tile.ptr<f32> -> tensor<1024xf32>
  %m = tile.reduce <prod> %t [0] : tensor<1024xf32> to f32
  %mb = tile.splat %m : tensor<1024xf32>
  %q = arith.divf %t, %mb : tensor<1024xf32>
  tile.store %q to %y [point(%i) stride %n in(%zero, %r), span(%zero, 1024) stride %one in(%zero, %n)] : tensor<1024xf32> to !tile.ptr<f32>
  tile.return
}
tile.kernel @short grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !tile.ptr<f32>, divisor = 16, readonly>, #tile.param<base 1, "y", !tile.ptr<f32>, divisor = 16>,
    #tile.param<extent 0, "R", i64>, #tile.param<extent 1, "N", i64, divisor = 4>] knobs {hold = 1 : i64} {
  %x = tile.param 0 : !tile.ptr<f32>
  %y = tile.param 1 : !tile.ptr<f32>
  %r = tile.param 2 : i64
  %n = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %half = arith.constant 0.5 : f32
  %i = tile.block_id 0
  %t = tile.load %x [point(%i) stride %n in(%zero, %r), span(%zero, 256) stride %one in(%zero, %n)] pad(%half : f32) : !tile.ptr<f32> -> tensor<256xf32>
  %m = tile.reduce <prod> %t [0] : tensor<256xf32> to f32
  %mb = tile.splat %m : tensor<256xf32>
  %q = arith.divf %t, %mb : tensor<256xf32>
  tile.store %q to %y [point(%i) stride %n in(%zero, %r), span(%zero, 256) stride %one in(%zero, %n)] : tensor<256xf32> to !tile.ptr<f32>
  tile.return
}

// -----

// A row that may begin and end within 16 bytes: threads hold single elements, and a partial result for each.
// CHECK-LABEL: tile.kernel @odd_rows
// CHECK: %[[COPY:.*]] = tile.hold %x [point(
// CHECK: scf.for {{.*}} to %{{.*}} step %c256{{.*}} -> (tensor<256x1xf32>)
// CHECK:   tile.load {{.*}} held(%{{.*}}) : !tile.ptr<f32> -> tensor<256xf32>
// CHECK: scf.for
// CHECK:   tile.load {{.*}} held(%{{.*}}) : !tile.ptr<f32> -> tensor<256xf32>
!p = !tile.ptr<f32>
tile.kernel @odd_rows grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !p, divisor = 16, readonly>, #tile.param<extent 0, "N", i64>, #tile.param<base 1, "y", !p>] knobs {hold = 1 : i64} {
  %x = tile.param 0 : !p
  %n = tile.param 1 : i64
  %y = tile.param 2 : !p
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : f32
  %i = tile.block_id 0
  %t = tile.load %x [point(%i) stride %n in(%zero, %n), span(%zero, 1024) stride %one in(%zero, %n)] pad(%pad : f32) : !p -> tensor<1024xf32>
  %m = tile.reduce <sum> %t [0] : tensor<1024xf32> to f32
  %mb = tile.splat %m : tensor<1024xf32>
  %q = arith.divf %t, %mb : tensor<1024xf32>
  tile.store %q to %y [point(%i) stride %n in(%zero, %n), span(%zero, 1024) stride %one in(%zero, %n)] : tensor<1024xf32> to !p
  tile.return
}

// -----

// Left as they are: a tensor that is written, too; several rows of no whole vectors; one phase; elements that change places; no facts.
// CHECK-LABEL: tile.kernel @written
// CHECK-NOT: tile.hold
!p = !tile.ptr<f32>
tile.kernel @written grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !p, divisor = 16>, #tile.param<extent 0, "N", i64, divisor = 4>] knobs {hold = 1 : i64} {
  %x = tile.param 0 : !p
  %n = tile.param 1 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : f32
  %i = tile.block_id 0
  %t = tile.load %x [point(%i) stride %n in(%zero, %n), span(%zero, 1024) stride %one in(%zero, %n)] pad(%pad : f32) : !p -> tensor<1024xf32>
  %m = tile.reduce <sum> %t [0] : tensor<1024xf32> to f32
  %mb = tile.splat %m : tensor<1024xf32>
  %q = arith.divf %t, %mb : tensor<1024xf32>
  tile.store %q to %x [point(%i) stride %n in(%zero, %n), span(%zero, 1024) stride %one in(%zero, %n)] : tensor<1024xf32> to !p
  tile.return
}
tile.kernel @two_odd_rows grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !p, divisor = 16, readonly>, #tile.param<extent 0, "N", i64>, #tile.param<base 1, "y", !p>] knobs {hold = 1 : i64} {
  %x = tile.param 0 : !p
  %n = tile.param 1 : i64
  %y = tile.param 2 : !p
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : f32
  %i = tile.block_id 0
  %t = tile.load %x [span(%i, 2) stride %n in(%zero, %n), span(%zero, 1024) stride %one in(%zero, %n)] pad(%pad : f32) : !p -> tensor<2x1024xf32>
  %m = tile.reduce <sum> %t [0, 1] : tensor<2x1024xf32> to f32
  %mb = tile.splat %m : tensor<2x1024xf32>
  %q = arith.divf %t, %mb : tensor<2x1024xf32>
  tile.store %q to %y [span(%i, 2) stride %n in(%zero, %n), span(%zero, 1024) stride %one in(%zero, %n)] : tensor<2x1024xf32> to !p
  tile.return
}
tile.kernel @one_phase grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !p, divisor = 16, readonly>, #tile.param<extent 0, "N", i64, divisor = 4>, #tile.param<base 1, "y", !p>] knobs {hold = 1 : i64} {
  %x = tile.param 0 : !p
  %n = tile.param 1 : i64
  %y = tile.param 2 : !p
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : f32
  %i = tile.block_id 0
  %t = tile.load %x [point(%i) stride %n in(%zero, %n), span(%zero, 1024) stride %one in(%zero, %n)] pad(%pad : f32) : !p -> tensor<1024xf32>
  %m = tile.reduce <sum> %t [0] : tensor<1024xf32> to f32
  tile.store %m to %y [point(%i) stride %one in(%zero, %n)] : f32 to !p
  tile.store %t to %y [point(%i) stride %n in(%zero, %n), span(%zero, 1024) stride %one in(%zero, %n)] : tensor<1024xf32> to !p
  tile.return
}
tile.kernel @turned grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !p, divisor = 16, readonly>, #tile.param<extent 0, "N", i64, divisor = 4>, #tile.param<base 1, "y", !p>] knobs {hold = 1 : i64} {
  %x = tile.param 0 : !p
  %n = tile.param 1 : i64
  %y = tile.param 2 : !p
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : f32
  %i = tile.block_id 0
  %t = tile.load %x [point(%i) stride %n in(%zero, %n), span(%zero, 1024) stride %one in(%zero, %n)] pad(%pad : f32) : !p -> tensor<1024xf32>
  %c = tile.scan <sum> %t 0 : tensor<1024xf32>
  %m = tile.reduce <sum> %c [0] : tensor<1024xf32> to f32
  %mb = tile.splat %m : tensor<1024xf32>
  %q = arith.divf %c, %mb : tensor<1024xf32>
  tile.store %q to %y [point(%i) stride %n in(%zero, %n), span(%zero, 1024) stride %one in(%zero, %n)] : tensor<1024xf32> to !p
  tile.return
}
tile.kernel @no_facts grid 1 [-1] facts <general> warps 1 params [#tile.param<base 0, "x", !p, divisor = 16, readonly>, #tile.param<extent 0, "N", i64, divisor = 4>, #tile.param<base 1, "y", !p>] knobs {hold = 1 : i64} {
  %x = tile.param 0 : !p
  %n = tile.param 1 : i64
  %y = tile.param 2 : !p
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : f32
  %i = tile.block_id 0
  %t = tile.load %x [point(%i) stride %n in(%zero, %n), span(%zero, 1024) stride %one in(%zero, %n)] pad(%pad : f32) : !p -> tensor<1024xf32>
  %m = tile.reduce <sum> %t [0] : tensor<1024xf32> to f32
  %mb = tile.splat %m : tensor<1024xf32>
  %q = arith.divf %t, %mb : tensor<1024xf32>
  tile.store %q to %y [point(%i) stride %n in(%zero, %n), span(%zero, 1024) stride %one in(%zero, %n)] : tensor<1024xf32> to !p
  tile.return
}
