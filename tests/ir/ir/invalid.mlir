// SPDX-License-Identifier: MIT
// What each family's verifier refuses, and how it says so.
// RUN: tilegym-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{has a grid of 4 axes, expected 1 to 3}}
tile.kernel @grid grid 4 [-1, -1, -1, -1] facts <fast> warps 4 params [] {
  tile.return
}

// -----

// expected-error @below {{has clusters of 16 blocks, expected 1, 2, 4 or 8}}
tile.kernel @k grid 1 [-1] facts <fast> warps 4 params [] knobs {ctas = 16 : i64} {
  tile.return
}

// -----

// expected-error @below {{has 33 warps, expected 1 to 32}}
tile.kernel @warps grid 1 [-1] facts <fast> warps 33 params [] {
  tile.return
}

// -----

// expected-error @below {{parameter 'x' is of kind extent and has type '!tile.ptr<f32>'}}
tile.kernel @kind grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "x", !tile.ptr<f32>>] {
  tile.return
}

// -----

// expected-error @below {{parameter 'x' is of kind tensor_map and has type 'i64'}}
tile.kernel @map grid 1 [-1] facts <fast> warps 4 params [#tile.param<tensor_map 0, "x", i64>] {
  tile.return
}

// -----

// expected-error @below {{a tensor map has 6 axes, expected 1 to 5}}
func.func private @axes(!tile.tensor_map<f32, [4 of 8, 1 of 8 by 0, 1 of 8 by 1, 1 of 8 by 2, 1 of 8 by 3, 1 of 8 by 4], swizzle 0>)

// -----

// expected-error @below {{a tensor map has an axis of extent 0, expected at least 1}}
func.func private @extent(!tile.tensor_map<f32, [4 of 8, 1 of 0 by 1], swizzle 0>)

// -----

// expected-error @below {{'width' is no kind of parameter}}
tile.kernel @word grid 1 [-1] facts <fast> warps 4 params [#tile.param<width 0, "x", i64>] {
  tile.return
}

// -----

tile.kernel @number grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "N", i64>] {
  // expected-error @below {{number 1 of a kernel with 1 parameters}}
  %n = tile.param 1 : i64
  tile.return
}

// -----

tile.kernel @type grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "N", i64>] {
  // expected-error @below {{has type 'i32', the kernel says 'i64'}}
  %n = tile.param 0 : i32
  tile.return
}

// -----

tile.kernel @axis grid 1 [-1] facts <fast> warps 4 params [] {
  // expected-error @below {{axis 1 of a grid of 1}}
  %n = tile.block_id 1
  tile.return
}

// -----

func.func @checked(%x: !tile.ptr<f32>, %i: i64) {
  // expected-error @below {{whose bounds are checked needs a pad}}
  %t = tile.load %x[span(%i, 8) stride %i in(%i, %i)] : !tile.ptr<f32> -> tensor<8xf32>
  return
}

// -----

func.func @pad(%x: !tile.ptr<f32>, %i: i64) {
  // expected-error @below {{pads 'f32' with 'i64'}}
  %t = tile.load %x[span(%i, 8) stride %i in(%i, %i)] pad(%i : i64) : !tile.ptr<f32> -> tensor<8xf32>
  return
}

// -----

func.func @shape(%x: !tile.ptr<f32>, %i: i64, %p: f32) {
  // expected-error @below {{the region has shape [8], the value is 'tensor<16xf32>'}}
  %t = tile.load %x[point(%i) stride %i in(%i, %i), span(%i, 8) stride %i in(%i, %i)] pad(%p : f32) : !tile.ptr<f32> -> tensor<16xf32>
  return
}

// -----

func.func @dtype(%x: !tile.ptr<f32>, %i: i64, %t: tensor<8xf16>) {
  // expected-error @below {{accesses 'f16' in a tensor of 'f32'}}
  tile.store %t to %x[span(%i, 8) stride %i in(%i, %i)] : tensor<8xf16> to !tile.ptr<f32>
  return
}

// -----

func.func @mask(%x: !tile.ptr<f32>, %i: i64, %t: tensor<8xf32>, %m: tensor<4xi1>) {
  // expected-error @below {{the mask is 'tensor<4xi1>', which is not the region's shape}}
  tile.store %t to %x[span(%i, 8) stride %i in(%i, %i)] mask(%m : tensor<4xi1>) : tensor<8xf32> to !tile.ptr<f32>
  return
}

// -----

func.func @gather(%x: !tile.ptr<f32>, %i: i64, %p: f32) {
  // expected-error @below {{axis 0 is a gather and has an index of type 'i64'}}
  %t = tile.load %x[gather(%i) stride %i in(%i, %i)] pad(%p : f32) : !tile.ptr<f32> -> f32
  return
}

// -----

func.func @gathers(%x: !tile.ptr<f32>, %i: i64, %p: f32, %a: tensor<4xi64>, %b: tensor<8xi64>) {
  // expected-error @below {{gathers of one region must have one shape, axis 1 has another}}
  %t = tile.load %x[gather(%a : tensor<4xi64>) stride %i in(%i, %i), gather(%b : tensor<8xi64>) stride %i in(%i, %i)] pad(%p : f32) : !tile.ptr<f32> -> tensor<4xf32>
  return
}

// -----

func.func @word(%x: !tile.ptr<f32>, %i: i64) {
  // expected-error @below {{expected 'in', 'below', 'from' or 'within', found 'inside'}}
  %t = tile.load %x[point(%i) stride %i inside(%i, %i)] : !tile.ptr<f32> -> f32
  return
}

// -----

func.func @atomic(%x: !tile.ptr<f32>, %i: i64, %v: f32) {
  // expected-error @below {{'xor' is not defined on floats}}
  %t = tile.atomic_rmw <xor> %v to %x[point(%i) stride %i in(%i, %i)] : f32 to !tile.ptr<f32>
  return
}

// -----

func.func @broadcast(%t: tensor<8x2xf32>) {
  // expected-error @below {{cannot repeat 'tensor<8x2xf32>' to 'tensor<8x64xf32>'}}
  %b = tile.broadcast %t : tensor<8x2xf32> to tensor<8x64xf32>
  return
}

// -----

func.func @reshape(%t: tensor<8x2xf32>) {
  // expected-error @below {{cannot make 'tensor<8xf32>' of 'tensor<8x2xf32>'}}
  %b = tile.reshape %t : tensor<8x2xf32> to tensor<8xf32>
  return
}

// -----

func.func @permute(%t: tensor<8x2xf32>) {
  // expected-error @below {{order is no permutation}}
  %b = tile.permute %t [0, 0] : tensor<8x2xf32> to tensor<8x8xf32>
  return
}

// -----

func.func @cat(%t: tensor<8x2xf32>) {
  // expected-error @below {{operands have 4 along axis 1, the result has 8}}
  %b = tile.cat 1 %t, %t : tensor<8x2xf32>, tensor<8x2xf32> to tensor<8x8xf32>
  return
}

// -----

func.func @extract(%t: tensor<8xf32>) {
  // expected-error @below {{takes 6 .. 10 of an axis of 8}}
  %b = tile.extract %t [6] : tensor<8xf32> to tensor<4xf32>
  return
}

// -----

func.func @bitcast(%t: tensor<8xf32>) {
  // expected-error @below {{must keep the bits of the last axis and every other axis}}
  %b = tile.bitcast %t : tensor<8xf32> to tensor<8xi16>
  return
}

// -----

func.func @convert(%t: tensor<8xi32>) {
  // expected-error @below {{between integers is an arith op}}
  %b = tile.convert %t <toward_zero> : tensor<8xi32> to tensor<8xi16>
  return
}

// -----

func.func @reduce(%t: tensor<8x64xf32>) {
  // expected-error @below {{cannot be 'tensor<8xf32>'}}
  %b = tile.reduce <max> %t [1] : tensor<8x64xf32> to tensor<8xf32>
  return
}

// -----

func.func @any(%t: tensor<8x64xf32>) {
  // expected-error @below {{'any' is not defined on 'f32'}}
  %b = tile.reduce <any> %t [1] : tensor<8x64xf32> to tensor<8x1xf32>
  return
}

// -----

func.func @arg(%t: tensor<8x64xf32>) {
  // expected-error @below {{'sum' has no place}}
  %b = tile.arg_reduce <sum> %t [1] : tensor<8x64xf32> to tensor<8x1xi64>
  return
}

// -----

func.func @combiner(%t: tensor<8xf32>, %i: f32) {
  // expected-error @below {{combiner must take an accumulator and an element for each tile}}
  %b = tile.reduce_with %t init(%i : f32) [0] : tensor<8xf32> to f32 {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @scan(%t: tensor<8xf32>) {
  // expected-error @below {{axis 1 of a tile of rank 1}}
  %b = tile.scan <sum> %t 1 : tensor<8xf32>
  return
}

// -----

func.func @philox(%s: i64, %t: tensor<8xi64>) {
  // expected-error @below {{gives 'tensor<4xi32>' for counters 'tensor<8xi64>'}}
  %b = tile.philox %s, %t : tensor<8xi64> to tensor<4xi32>
  return
}

// -----

func.func @ptx(%x: f32) {
  // expected-error @below {{meaning must yield the result's element}}
  %p = tile.inline_ptx "abs.f32 $0, $1;" %x : f32 to f32 {
  ^bb0(%a: f32):
    %i = arith.constant 0 : i32
    tile.yield %i : i32
  }
  return
}

// -----

tile.kernel @shapes grid 1 [-1] facts <fast> warps 4 params [] {
  %a = arith.constant dense<1.0> : tensor<16x8xf16>
  %c = arith.constant dense<1.0> : tensor<16x16xf32>
  // expected-error @below {{has no [M, K], [K, N] and [M, N], but 'tensor<16x8xf16>', 'tensor<16x8xf16>' and 'tensor<16x16xf32>'}}
  %d = tile.dot %a, %a, %c : tensor<16x8xf16>, tensor<16x8xf16>, tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @types grid 1 [-1] facts <fast> warps 4 params [] {
  %a = arith.constant dense<1.0> : tensor<16x16xf16>
  %b = arith.constant dense<1.0> : tensor<16x16xbf16>
  %c = arith.constant dense<1.0> : tensor<16x16xf32>
  // expected-error @below {{multiplies 'f16' by 'bf16'}}
  %d = tile.dot %a, %b, %c : tensor<16x16xf16>, tensor<16x16xbf16>, tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @sums grid 1 [-1] facts <fast> warps 4 params [] {
  %a = arith.constant dense<1> : tensor<16x16xi8>
  %c = arith.constant dense<1.0> : tensor<16x16xf32>
  // expected-error @below {{adds products of 'i8' up in 'f32'}}
  %d = tile.dot %a, %a, %c : tensor<16x16xi8>, tensor<16x16xi8>, tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @flight grid 1 [-1] facts <fast> warps 4 params [] {
  %a = arith.constant dense<1.0> : tensor<16x16xf16>
  %c = arith.constant dense<1.0> : tensor<16x16xf32>
  // expected-error @below {{is in flight, but only products of warpgroups run on}}
  %d = tile.dot %a, %a, %c in_flight : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  tile.return
}

// -----

#slot = #tile.layout<"16x16 unit 16x16 reg [0,1] [0,2] [0,4] [0,8] [1,0] [2,0] [4,0] [8,0]">
tile.kernel @rest grid 1 [-1] facts <fast> warps 4 params [] {
  %a = arith.constant dense<1.0> : tensor<16x16xf32>
  %r = tile.alloc : !tile.shared<1, tensor<16x16xf32, #slot>>
  // expected-error @below {{has a rest, but only warpgroups multiply by one, with precision tf32x3}}
  %d = tile.dot %a, %a, %a rest %r : !tile.shared<1, tensor<16x16xf32, #slot>> precision <tf32> warpgroups : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  tile.return
}

// -----

#slot = #tile.layout<"16x16 unit 16x16 reg [0,1] [0,2] [0,4] [0,8] [1,0] [2,0] [4,0] [8,0]">
#more = #tile.layout<"16x32 unit 16x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,0] [4,0] [8,0]">
tile.kernel @other_rest grid 1 [-1] facts <fast> warps 4 params [] {
  %c = arith.constant dense<1.0> : tensor<16x16xf32>
  %a = tile.alloc : !tile.shared<1, tensor<16x16xf32, #slot>>
  %r = tile.alloc : !tile.shared<1, tensor<16x32xf32, #more>>
  // expected-error @below {{which is no operand's}}
  %d = tile.dot %a, %a, %c rest %r : !tile.shared<1, tensor<16x32xf32, #more>> precision <tf32x3> warpgroups : !tile.shared<1, tensor<16x16xf32, #slot>>, !tile.shared<1, tensor<16x16xf32, #slot>>, tensor<16x16xf32>
  tile.return
}

// -----

#slot = #tile.layout<"16x16 unit 16x16 reg [0,1] [0,2] [0,4] [0,8] [1,0] [2,0] [4,0] [8,0]">
tile.kernel @put_rest grid 1 [-1] facts <fast> warps 4 params [] {
  %a = tile.alloc : !tile.shared<2, tensor<16x16xf32, #slot>>
  // expected-error @below {{needs one slot of f32, but has}}
  tile.put_rest %a into %a : !tile.shared<2, tensor<16x16xf32, #slot>>
  tile.return
}

// -----

tile.kernel @wait grid 1 [-1] facts <fast> warps 4 params [] {
  %c = arith.constant dense<1.0> : tensor<16x16xf32>
  // expected-error @below {{has other types of results than of values}}
  %d = tile.dot_wait 0 (%c) : tensor<16x16xf32> to tensor<8x16xf32>
  tile.return
}

// -----

tile.kernel @precision grid 1 [-1] facts <fast> warps 4 params [] {
  %a = arith.constant dense<1.0> : tensor<16x16xf16>
  %c = arith.constant dense<1.0> : tensor<16x16xf32>
  // expected-error @below {{has precision tf32 for 'f16'}}
  %d = tile.dot %a, %a, %c precision <tf32> : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @unplaced grid 1 [-1] facts <fast> warps 4 params [] {
  // expected-error @below {{the layout of a tile in shared memory has an offset for each element}}
  %a = tile.alloc : !tile.shared<1, tensor<16x16xf16>>
  tile.return
}

// -----

#s = #tile.layout<"4x4 unit 4x4 reg [0,1] [0,2] [1,0] [2,0]">
tile.kernel @slots grid 1 [-1] facts <fast> warps 4 params [] {
  %t = arith.constant dense<1.0> : tensor<4x4xf32>
  %a = tile.alloc : !tile.shared<2, tensor<4x4xf32, #s>>
  // expected-error @below {{needs one slot of a buffer of 2}}
  tile.put %t into %a : tensor<4x4xf32> into !tile.shared<2, tensor<4x4xf32, #s>>
  tile.return
}

// -----

#s = #tile.layout<"4x4 unit 4x4 reg [0,1] [0,2] [1,0] [2,0]">
tile.kernel @fits grid 1 [-1] facts <fast> warps 4 params [] {
  %t = arith.constant dense<1.0> : tensor<4x8xf32>
  %a = tile.alloc : !tile.shared<1, tensor<4x4xf32, #s>>
  // expected-error @below {{writes 'tensor<4x8xf32>' to a slot of}}
  tile.put %t into %a : tensor<4x8xf32> into !tile.shared<1, tensor<4x4xf32, #s>>
  tile.return
}

// -----

tile.kernel @wider grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, readonly>, #tile.param<extent 0, "N", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %c = tile.hold %x[point(%n) stride %n within(%n, %n), span(%n, 64) stride %n below(%n, %n)] : !tile.ptr<f32>
  %h = tile.await %c
  // expected-error @below {{is of a region that is no part of the held one}}
  %t = tile.load %x[point(%n) stride %n within(%n, %n), span(%n, 128) stride %n within(%n, %n)] held(%h) : !tile.ptr<f32> -> tensor<128xf32>
  tile.return
}

// -----

tile.kernel @not_awaited grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, readonly>, #tile.param<extent 0, "N", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %c = tile.hold %x[span(%n, 64) stride %n below(%n, %n)] : !tile.ptr<f32>
  // expected-error @below {{holds what is no result of tile.await}}
  %t = tile.load %x[span(%n, 64) stride %n within(%n, %n)] held(%c) : !tile.ptr<f32> -> tensor<64xf32>
  tile.return
}

// -----

tile.kernel @awaited_twice grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, readonly>, #tile.param<extent 0, "N", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %c = tile.hold %x[span(%n, 64) stride %n below(%n, %n)] : !tile.ptr<f32>
  %h = tile.await %c
  // expected-error @below {{awaits what is no result of tile.hold}}
  %again = tile.await %h
  tile.return
}

// -----

tile.kernel @no_turn grid 1 [-1] facts <fast> warps 4 params [] {
  %ring = tile.hold_ring 2
  // expected-error @below {{needs slot and parity of a ring, and of nothing else}}
  %h = tile.await %ring
  tile.return
}

// -----

tile.kernel @one_slot grid 1 [-1] facts <fast> warps 4 params [] {
  // expected-error @below {{has 1 slots, expected at least 2}}
  %ring = tile.hold_ring 1
  tile.return
}

// -----

tile.kernel @no_ring grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, readonly>, #tile.param<extent 0, "N", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %slot = arith.constant 0 : i32
  %yes = arith.constant true
  %c = tile.hold %x[span(%n, 64) stride %n below(%n, %n)] : !tile.ptr<f32>
  // expected-error @below {{fills what is no result of tile.hold_ring}}
  %d = tile.hold %x[span(%n, 64) stride %n below(%n, %n)] ring(%c[%slot] if %yes) : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @empty_ring grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, readonly>, #tile.param<extent 0, "N", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  %slot = arith.constant 0 : i32
  %ring = tile.hold_ring 2
  %h = tile.await %ring turn(%slot, %slot)
  // expected-error @below {{holds a ring that nothing fills}}
  %t = tile.load %x[span(%n, 64) stride %n within(%n, %n)] held(%h) : !tile.ptr<f32> -> tensor<64xf32>
  tile.return
}

// -----

tile.kernel @last_axis grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>, readonly>, #tile.param<extent 0, "N", i64>] {
  %x = tile.param 0 : !tile.ptr<f32>
  %n = tile.param 1 : i64
  // expected-error @below {{needs a region of points and spans, its last axis a span, and no group axis}}
  %c = tile.hold %x[span(%n, 64) stride %n below(%n, %n), point(%n) stride %n within(%n, %n)] : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @none grid 1 [-1] facts <fast> warps 4 params [] {
  // expected-error @below {{has phases of 0 arrivals, expected at least one}}
  %b = tile.make_mbarriers arrivals 0 : !tile.mbarriers<2>
  tile.return
}

// -----

// expected-error @below {{0 barriers, expected at least one}}
func.func private @count(!tile.mbarriers<0>)

// -----

tile.kernel @late grid 1 [-1] facts <fast> warps 4 params [] {
  tile.roles producer {
  } consumer {
  }
  // expected-error @below {{must precede the roles that use it}}
  %b = tile.make_mbarriers arrivals 1 : !tile.mbarriers<2>
  tile.return
}

// -----

tile.kernel @nested grid 1 [-1] facts <fast> warps 4 params [] {
  %yes = arith.constant true
  scf.if %yes {
    // expected-error @below {{must be in the kernel's own block}}
    %b = tile.make_mbarriers arrivals 1 : !tile.mbarriers<2>
  }
  tile.return
}

// -----

tile.kernel @tile grid 1 [-1] facts <fast> warps 4 params [] {
  tile.roles producer {
    // expected-error @below {{needs all threads, but a producer is one}}
    tile.barrier
  } consumer {
  }
  tile.return
}

// -----

tile.kernel @twice grid 1 [-1] facts <fast> warps 4 params [] {
  // expected-error @below {{is the second of its kernel}}
  tile.roles producer {
  } consumer {
  }
  tile.roles producer {
  } consumer {
  }
  tile.return
}

// -----

tile.kernel @branch grid 1 [-1] facts <fast> warps 4 params [] {
  %yes = arith.constant true
  scf.if %yes {
    // expected-error @below {{must be in the kernel's own block}}
    tile.roles producer {
    } consumer {
    }
  }
  tile.return
}

// -----

tile.kernel @whole grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "M", i64, list = 64>] {
  // expected-error @below {{needs the number of an element: 'M' has a value for each}}
  %m = tile.param 0 : i64
  tile.return
}

// -----

tile.kernel @element grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "N", i64>] {
  %g = arith.constant 0 : i64
  // expected-error @below {{names an element, but 'N' has one value}}
  %n = tile.param 0[%g] : i64
  tile.return
}

// -----

// expected-error @below {{parameter 'M' has room for 65 values, expected at most 64}}
tile.kernel @room grid 1 [-1] facts <fast> warps 4 params [#tile.param<extent 0, "M", i64, list = 65>] {
  tile.return
}
