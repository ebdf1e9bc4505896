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

// -----

#s = #tile.layout<"8x64 unit 8x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32]">

func.func @apart_outside(%s: !tile.shared<1, tensor<8x64xbf16, #s>>, %m: !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>, %i: i32) {
  // expected-error @below {{is for consumers}}
  tile.tensor_store %s to %m[%i, %i : i32, i32] apart : !tile.shared<1, tensor<8x64xbf16, #s>> to !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>
  return
}

// -----

tile.kernel @one_warpgroup grid 1 [-1] facts <fast> warps 4 params [] {
  tile.roles producer {
  } consumer {
    // expected-error @below {{apart needs two or four warpgroups of one team, but the kernel has 1 x 4 warps}}
    tile.barrier apart
  }
  tile.return
}

// -----

tile.kernel @teams grid 1 [-1] facts <fast> warps 8 params [] {
  tile.roles teams 2 producer {
  } consumer {
    // expected-error @below {{apart needs two or four warpgroups of one team, but the kernel has 2 x 8 warps}}
    tile.barrier apart
  }
  tile.return
}

// -----

#s = #tile.layout<"8x64 unit 8x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32]">

tile.kernel @one_box grid 1 [-1] facts <fast> warps 8 params [#tile.param<tensor_map 0, "c", !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>>] {
  %c = tile.param 0 : !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>
  %zero = arith.constant 0 : i32
  %a = tile.alloc : !tile.shared<1, tensor<8x64xbf16, #s>>
  tile.roles producer {
  } consumer {
    // expected-error @below {{has boxes down the tile that 2 warpgroups cannot share}}
    tile.tensor_store %a to %c[%zero, %zero : i32, i32] apart : !tile.shared<1, tensor<8x64xbf16, #s>> to !tile.tensor_map<bf16, [8 of dim 0 by 0, 64 of dim 1], swizzle 128>
  }
  tile.dealloc %a : !tile.shared<1, tensor<8x64xbf16, #s>>
  tile.return
}
