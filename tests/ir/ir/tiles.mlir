// SPDX-License-Identifier: MIT
// Round trip of ops on tiles, and what their folders do.
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s
// RUN: tilegym-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: func @shape
func.func @shape(%s: f32, %t: tensor<8x1xf32>) -> (tensor<64x8xf32>, tensor<8x128xf32>, tensor<8x16xf32>, tensor<8x256xi16>) {
  // CHECK: tile.broadcast %{{.*}} : tensor<8x1xf32> to tensor<8x64xf32>
  %b = tile.broadcast %t : tensor<8x1xf32> to tensor<8x64xf32>
  // CHECK: tile.permute %{{.*}} [1, 0] : tensor<8x64xf32> to tensor<64x8xf32>
  %p = tile.permute %b [1, 0] : tensor<8x64xf32> to tensor<64x8xf32>
  // CHECK: tile.splat %{{.*}} : tensor<512xf32>
  %f = tile.splat %s : tensor<512xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<512xf32> to tensor<8x64xf32>
  %r = tile.reshape %f : tensor<512xf32> to tensor<8x64xf32>
  // CHECK: tile.cat 1 %{{.*}}, %{{.*}} : tensor<8x64xf32>, tensor<8x64xf32> to tensor<8x128xf32>
  %c = tile.cat 1 %b, %r : tensor<8x64xf32>, tensor<8x64xf32> to tensor<8x128xf32>
  // CHECK: tile.extract %{{.*}} [0, 32] : tensor<8x128xf32> to tensor<8x16xf32>
  %e = tile.extract %c [0, 32] : tensor<8x128xf32> to tensor<8x16xf32>
  // CHECK: tile.bitcast %{{.*}} : tensor<8x128xf32> to tensor<8x256xi16>
  %i = tile.bitcast %c : tensor<8x128xf32> to tensor<8x256xi16>
  return %p, %c, %e, %i : tensor<64x8xf32>, tensor<8x128xf32>, tensor<8x16xf32>, tensor<8x256xi16>
}

// CHECK-LABEL: func @reduce
func.func @reduce(%t: tensor<8x64xf32>, %i: tensor<8x64xi1>) -> (tensor<8x1xf32>, f32, tensor<8x1xi64>, tensor<8x1xi1>, tensor<8x64xf32>) {
  // CHECK: tile.reduce <max> %{{.*}} [1] : tensor<8x64xf32> to tensor<8x1xf32>
  %m = tile.reduce <max> %t [1] : tensor<8x64xf32> to tensor<8x1xf32>
  // CHECK: tile.reduce <sum> %{{.*}} [0, 1] : tensor<8x64xf32> to f32
  %s = tile.reduce <sum> %t [0, 1] : tensor<8x64xf32> to f32
  // CHECK: tile.arg_reduce <max> %{{.*}} [1] : tensor<8x64xf32> to tensor<8x1xi64>
  %a = tile.arg_reduce <max> %t [1] : tensor<8x64xf32> to tensor<8x1xi64>
  // CHECK: tile.reduce <any> %{{.*}} [1] : tensor<8x64xi1> to tensor<8x1xi1>
  %y = tile.reduce <any> %i [1] : tensor<8x64xi1> to tensor<8x1xi1>
  %zero = arith.constant 0.0 : f32
  // CHECK: tile.reduce_with %{{.*}} init(%{{.*}} : f32) [1] : tensor<8x64xf32> to tensor<8x1xf32> {
  %w = tile.reduce_with %t init(%zero : f32) [1] : tensor<8x64xf32> to tensor<8x1xf32> {
  ^bb0(%acc: f32, %x: f32):
    %n = arith.addf %acc, %x : f32
    tile.yield %n : f32
  }
  // CHECK: tile.scan <sum> %{{.*}} 1 reverse : tensor<8x64xf32>
  %c = tile.scan <sum> %t 1 reverse : tensor<8x64xf32>
  // CHECK: tile.scan_with %{{.*}} init(%{{.*}} : f32) 0 : tensor<8x64xf32> to tensor<8x64xf32> {
  %d = tile.scan_with %c init(%zero : f32) 0 : tensor<8x64xf32> to tensor<8x64xf32> {
  ^bb0(%acc: f32, %x: f32):
    %n = arith.mulf %acc, %x : f32
    tile.yield %n : f32
  }
  %z = arith.addf %m, %w : tensor<8x1xf32>
  return %z, %s, %a, %y, %d : tensor<8x1xf32>, f32, tensor<8x1xi64>, tensor<8x1xi1>, tensor<8x64xf32>
}

// CHECK-LABEL: func @other
func.func @other(%x: tensor<16xf32>, %seed: i64, %ok: i1) -> (tensor<16xf8E4M3FN>, tensor<16xi32>, tensor<16xi32>, tensor<16xf32>) {
  // CHECK: tile.convert %{{.*}} <nearest_even> saturate : tensor<16xf32> to tensor<16xf8E4M3FN>
  %q = tile.convert %x <nearest_even> saturate : tensor<16xf32> to tensor<16xf8E4M3FN>
  // CHECK: tile.convert %{{.*}} <toward_zero> unsigned : tensor<16xf32> to tensor<16xi32>
  %i = tile.convert %x <toward_zero> unsigned : tensor<16xf32> to tensor<16xi32>
  %c = tile.iota 0 : tensor<16xi64>
  // CHECK: tile.philox %{{.*}}, %{{.*}} : tensor<16xi64> to tensor<16xi32>
  %r = tile.philox %seed, %c : tensor<16xi64> to tensor<16xi32>
  // CHECK: tile.inline_ptx "ex2.approx.ftz.f32 $0, $1;" %{{.*}} : tensor<16xf32> to tensor<16xf32> {
  %p = tile.inline_ptx "ex2.approx.ftz.f32 $0, $1;" %x : tensor<16xf32> to tensor<16xf32> {
  ^bb0(%a: f32):
    %e = math.exp2 %a : f32
    tile.yield %e : f32
  }
  // CHECK: tile.assume
  tile.assume %ok
  // CHECK: tile.assert %{{.*}}, "row out of range"
  tile.assert %ok, "row out of range"
  // CHECK: tile.print "x {}" %{{.*}} : tensor<16xf32>
  tile.print "x {}" %x : tensor<16xf32>
  return %q, %i, %r, %p : tensor<16xf8E4M3FN>, tensor<16xi32>, tensor<16xi32>, tensor<16xf32>
}

// FOLD-LABEL: func @fold
func.func @fold(%s: f32, %t: tensor<8x1xf32>) -> (tensor<4x2xf32>, tensor<1x8xf32>, tensor<8x1xf32>, tensor<4x2xi32>) {
  // FOLD-DAG: %[[const:.*]] = arith.constant dense<3> : tensor<4x2xi32>
  // FOLD-DAG: %[[splat:.*]] = tile.splat %{{.*}} : tensor<4x2xf32>
  // FOLD-DAG: %[[reshape:.*]] = tile.reshape %{{.*}} : tensor<8x1xf32> to tensor<1x8xf32>
  // FOLD-NEXT: return %[[splat]], %[[reshape]], %{{arg1|t}}, %[[const]]
  %a = tile.splat %s : tensor<8xf32>
  %b = tile.reshape %a : tensor<8xf32> to tensor<4x2xf32>
  %c = tile.reshape %t : tensor<8x1xf32> to tensor<8xf32>
  %d = tile.reshape %c : tensor<8xf32> to tensor<1x8xf32>
  %e = tile.broadcast %t : tensor<8x1xf32> to tensor<8x1xf32>
  %f = tile.permute %e [0, 1] : tensor<8x1xf32> to tensor<8x1xf32>
  %g = tile.reduce <max> %f [1] : tensor<8x1xf32> to tensor<8x1xf32>
  %three = arith.constant 3 : i32
  %h = tile.splat %three : tensor<4x1xi32>
  %i = tile.broadcast %h : tensor<4x1xi32> to tensor<4x2xi32>
  return %b, %d, %g, %i : tensor<4x2xf32>, tensor<1x8xf32>, tensor<8x1xf32>, tensor<4x2xi32>
}
