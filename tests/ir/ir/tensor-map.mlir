// SPDX-License-Identifier: MIT
// Round trip of tensor maps and their parameters.
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @maps
// CHECK-SAME: #tile.param<tensor_map 0, "a.map", !tile.tensor_map<bf16, [1 of dim 0 by 0, 128 of dim 1 by 1, 64 of 4096], swizzle 128>, readonly>
// CHECK-SAME: #tile.param<tensor_map 1, "b.map", !tile.tensor_map<f32, [8 of dim 1, 16 of dim 0 by 1], swizzle 0>>
tile.kernel @maps grid 1 [-1] facts <fast> warps 4 params [
    #tile.param<tensor_map 0, "a.map", !tile.tensor_map<bf16, [1 of dim 0 by 0, 128 of dim 1 by 1, 64 of 4096], swizzle 128>, readonly>,
    #tile.param<tensor_map 1, "b.map", !tile.tensor_map<f32, [8 of dim 1, 16 of dim 0 by 1], swizzle 0>>] {
  // CHECK: %a.map = tile.param 0 : !tile.tensor_map<bf16, [1 of dim 0 by 0, 128 of dim 1 by 1, 64 of 4096], swizzle 128>
  %a = tile.param 0 : !tile.tensor_map<bf16, [1 of dim 0 by 0, 128 of dim 1 by 1, 64 of 4096], swizzle 128>
  %b = tile.param 1 : !tile.tensor_map<f32, [8 of dim 1, 16 of dim 0 by 1], swizzle 0>
  tile.return
}
