// SPDX-License-Identifier: MIT
// What the instructions of warpgroups cannot read, and what cannot be in flight.
// RUN: tilegym-opt --split-input-file --verify-diagnostics --tiles-to-threads %s

#acc = #tile.layout<"64x8 unit 64x8 reg [0,1] [8,0] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#words = #tile.layout<"64x16 unit 64x16 reg [0,1] [8,0] [0,8] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">

tile.kernel @registers grid 1 [-1] facts <fast> warps 4 params [] {
  %a = arith.constant dense<1.0> : tensor<64x16xbf16, #words>
  %b = arith.constant dense<1.0> : tensor<16x8xbf16>
  %c = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
  // expected-error @below {{has operand 1 in registers, but the instructions of warpgroups read it from shared memory}}
  %d = tile.dot %a, %b, %c warpgroups : tensor<64x16xbf16, #words>, tensor<16x8xbf16>, tensor<64x8xf32, #acc>
  tile.return
}

// -----

#acc = #tile.layout<"64x8 unit 64x8 reg [0,1] [8,0] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#words = #tile.layout<"64x16 unit 64x16 reg [0,1] [8,0] [0,8] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#plain = #tile.layout<"16x8 unit 16x8 reg [0,1] [0,2] [0,4] [1,0] [2,0] [4,0] [8,0]">

tile.kernel @plain_rows grid 1 [-1] facts <fast> warps 4 params [] {
  %a = arith.constant dense<1.0> : tensor<64x16xbf16, #words>
  %b = tile.alloc at 0 : !tile.shared<1, tensor<16x8xbf16, #plain>>
  %c = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
  // expected-error @below {{has operand 1 in a slot that no descriptor describes: #tile.layout<"16x8}}
  %d = tile.dot %a, %b, %c warpgroups : tensor<64x16xbf16, #words>, !tile.shared<1, tensor<16x8xbf16, #plain>>, tensor<64x8xf32, #acc>
  tile.return
}
