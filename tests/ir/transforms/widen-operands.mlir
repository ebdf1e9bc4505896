// SPDX-License-Identifier: MIT
// 8-bit floats become f16 where the target, or the extents, have no instruction for them.
// RUN: tilegym-opt --widen-operands %s | FileCheck %s --check-prefixes=CHECK,WITHOUT
// RUN: tilegym-opt --widen-operands=float8=true %s | FileCheck %s --check-prefixes=CHECK,WITH

tile.kernel @products grid 1 [-1] facts <fast> warps 1 params [] {
  %a = arith.constant dense<1.0> : tensor<16x32xf8E4M3FN>
  %b = arith.constant dense<1.0> : tensor<32x8xf8E5M2>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  // WITH: tile.dot %{{.*}} precision <fast> : tensor<16x32xf8E4M3FN>, tensor<32x8xf8E5M2>
  // WITHOUT: arith.extf %{{.*}} : tensor<16x32xf8E4M3FN> to tensor<16x32xf16>
  // WITHOUT: arith.extf %{{.*}} : tensor<32x8xf8E5M2> to tensor<32x8xf16>
  // WITHOUT: tile.dot %{{.*}} : tensor<16x32xf16>, tensor<32x8xf16>
  %d = tile.dot %a, %b, %c precision <fast> : tensor<16x32xf8E4M3FN>, tensor<32x8xf8E5M2>, tensor<16x8xf32>
  %x = arith.constant dense<1.0> : tensor<16x16xf8E4M3FN>
  %y = arith.constant dense<1.0> : tensor<16x8xf8E4M3FN>
  // CHECK: tile.dot %{{.*}} : tensor<16x16xf16>, tensor<16x8xf16>
  %e = tile.dot %x, %y, %c : tensor<16x16xf8E4M3FN>, tensor<16x8xf8E4M3FN>, tensor<16x8xf32>
  tile.return
}
