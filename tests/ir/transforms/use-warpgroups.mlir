// SPDX-License-Identifier: MIT
// Four warps at a time where a kernel's products all go in parts of 64 rows; one that does not keeps the others from it.
// RUN: tilegym-opt --split-input-file --use-warpgroups %s | FileCheck %s

// CHECK-LABEL: tile.kernel @all
tile.kernel @all grid 1 [-1] facts <fast> warps 4 params [] {
  %a = arith.constant dense<1.0> : tensor<128x32xbf16>
  %b = arith.constant dense<1.0> : tensor<32x24xbf16>
  %c = arith.constant dense<0.0> : tensor<128x24xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} warpgroups : tensor<128x32xbf16>
  %d = tile.dot %a, %b, %c : tensor<128x32xbf16>, tensor<32x24xbf16>, tensor<128x24xf32>
  // On the plain cores: in nobody's way.
  %x = arith.constant dense<1.0> : tensor<64x8xf32>
  %y = arith.constant dense<1.0> : tensor<8x8xf32>
  %z = arith.constant dense<0.0> : tensor<64x8xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x8xf32>
  %e = tile.dot %x, %y, %z : tensor<64x8xf32>, tensor<8x8xf32>, tensor<64x8xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision <tf32> warpgroups : tensor<64x8xf32>
  %f = tile.dot %x, %y, %z precision <tf32> : tensor<64x8xf32>, tensor<8x8xf32>, tensor<64x8xf32>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @halves
tile.kernel @halves grid 1 [-1] facts <fast> warps 4 params [] {
  %x = arith.constant dense<1.0> : tensor<64x8xf32>
  %y = arith.constant dense<1.0> : tensor<8x8xf32>
  %z = arith.constant dense<0.0> : tensor<64x8xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision <tf32x3> warpgroups : tensor<64x8xf32>
  %e = tile.dot %x, %y, %z precision <tf32x3> : tensor<64x8xf32>, tensor<8x8xf32>, tensor<64x8xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision <tf32> warpgroups : tensor<64x8xf32>
  %f = tile.dot %x, %y, %z precision <tf32> : tensor<64x8xf32>, tensor<8x8xf32>, tensor<64x8xf32>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @few_warps
tile.kernel @few_warps grid 1 [-1] facts <fast> warps 2 params [] {
  %a = arith.constant dense<1> : tensor<64x32xi8>
  %b = arith.constant dense<1> : tensor<32x24xi8>
  %c = arith.constant dense<0> : tensor<64x24xi32>
  // CHECK-NOT: warpgroups
  %d = tile.dot %a, %b, %c : tensor<64x32xi8>, tensor<32x24xi8>, tensor<64x24xi32>
  tile.return
}

// -----

// Sixteen warps are four groups: one along the rows, and no four along 24 columns.
// CHECK-LABEL: tile.kernel @many_warps
tile.kernel @many_warps grid 1 [-1] facts <fast> warps 16 params [] {
  %a = arith.constant dense<1> : tensor<64x32xi8>
  %b = arith.constant dense<1> : tensor<32x24xi8>
  %c = arith.constant dense<0> : tensor<64x24xi32>
  // CHECK-NOT: warpgroups
  %d = tile.dot %a, %b, %c : tensor<64x32xi8>, tensor<32x24xi8>, tensor<64x24xi32>
  tile.return
}
