// SPDX-License-Identifier: MIT
// What tensor stores refuse.
// RUN: tilegym-opt %s -split-input-file -verify-diagnostics

#s = #tile.layout<"8x64 unit 8x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32]">

func.func @indices(%s: !tile.shared<1, tensor<8x64xbf16, #s>>, %m: !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>, %i: i32) {
  // expected-error @below {{has 1 indices, its map has 2 axes}}
  tile.tensor_store %s to %m[%i : i32] : !tile.shared<1, tensor<8x64xbf16, #s>> to !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>
  return
}

// -----

#s = #tile.layout<"8x64 unit 8x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32]">

func.func @slots(%s: !tile.shared<2, tensor<8x64xbf16, #s>>, %m: !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>, %i: i32) {
  // expected-error @below {{needs one slot of a buffer of 2}}
  tile.tensor_store %s to %m[%i, %i : i32, i32] : !tile.shared<2, tensor<8x64xbf16, #s>> to !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>
  return
}

// -----

#s = #tile.layout<"8x64 unit 8x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32]">

func.func @rank(%s: !tile.shared<1, tensor<8x64xbf16, #s>>, %m: !tile.tensor_map<bf16, [1 of dim 0 by 0, 64 of dim 1], swizzle 128>, %i: i32) {
  // expected-error @below {{reads a slot whose tile does not lie as the map's copies do}}
  tile.tensor_store %s to %m[%i, %i : i32, i32] : !tile.shared<1, tensor<8x64xbf16, #s>> to !tile.tensor_map<bf16, [1 of dim 0 by 0, 64 of dim 1], swizzle 128>
  return
}

// -----

#s = #tile.layout<"8x64 unit 8x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,0] [2,0] [4,0]">

func.func @lies(%s: !tile.shared<1, tensor<8x64xbf16, #s>>, %m: !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>, %i: i32) {
  // expected-error @below {{reads a slot whose tile does not lie as the map's copies do}}
  tile.tensor_store %s to %m[%i, %i : i32, i32] : !tile.shared<1, tensor<8x64xbf16, #s>> to !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>
  return
}
