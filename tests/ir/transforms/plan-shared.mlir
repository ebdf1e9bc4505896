// SPDX-License-Identifier: MIT
// Buffers that live at once lie beside each other, at multiples of 1024; one that begins after another's end may have its place.
// RUN: tilegym-opt --plan-shared %s | FileCheck %s

#s = #tile.layout<"16x16 unit 16x16 reg [0,1] [0,2] [0,4] [0,8] [1,0] [2,0] [4,0] [8,0]">

// CHECK: tile.alloc at 0 : !tile.shared<3,
// CHECK: tile.alloc at 2048 : !tile.shared<1,
// CHECK: tile.alloc at 3072 : !tile.shared<1,
// CHECK: tile.alloc at 0 : !tile.shared<2,
// CHECK: tile.alloc at 4096 : !tile.shared<4,
tile.kernel @buffers grid 1 [-1] facts <fast> warps 1 params [] {
  %a = tile.alloc : !tile.shared<3, tensor<16x16xf16, #s>>
  %b = tile.alloc : !tile.shared<1, tensor<16x16xf16, #s>>
  %c = tile.alloc : !tile.shared<1, tensor<16x16xf16, #s>>
  tile.dealloc %a : !tile.shared<3, tensor<16x16xf16, #s>>
  %d = tile.alloc : !tile.shared<2, tensor<16x16xf16, #s>>
  %e = tile.alloc : !tile.shared<4, tensor<16x16xf16, #s>>
  tile.return
}
