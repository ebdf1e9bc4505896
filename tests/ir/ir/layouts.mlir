// SPDX-License-Identifier: MIT
// Layouts as encodings, and conversion between them.
// RUN: tilegym-opt %s -split-input-file -verify-diagnostics -canonicalize | FileCheck %s

// CHECK: #[[A:.*]] = #tile.layout<"64 unit 64 reg [1] lane [2] [4] [8] [16] [32]">
#a = #tile.layout<"64 unit 64 reg [1] lane [2] [4] [8] [16] [32]">
// CHECK: #[[B:.*]] = #tile.layout<"64 unit 64 reg [32] lane [1] [2] [4] [8] [16]">
#b = #tile.layout<"64 unit 64 reg [32] lane [1] [2] [4] [8] [16]">
// CHECK-LABEL: func @convert(
// CHECK-SAME: %[[x:.*]]: tensor<64xf32, #[[A]]>)
func.func @convert(%x: tensor<64xf32, #a>) -> (tensor<64xf32, #b>, tensor<64xf32, #a>, tensor<64xi1, #a>) {
  // CHECK: %[[y:.*]] = tile.convert_layout %[[x]] : tensor<64xf32, #[[A]]> to tensor<64xf32, #[[B]]>
  %y = tile.convert_layout %x : tensor<64xf32, #a> to tensor<64xf32, #b>
  // Back again is the value itself.
  %z = tile.convert_layout %y : tensor<64xf32, #b> to tensor<64xf32, #a>
  // CHECK: %[[c:.*]] = arith.cmpf olt, %[[x]], %{{.*}} : tensor<64xf32, #[[A]]>
  %i = arith.constant dense<0.0> : tensor<64xf32, #a>
  %c = arith.cmpf olt, %z, %i : tensor<64xf32, #a>
  // CHECK: return %[[y]], %[[x]], %[[c]]
  return %y, %z, %c : tensor<64xf32, #b>, tensor<64xf32, #a>, tensor<64xi1, #a>
}

// -----

// expected-error @below {{the layout is of a tile of shape [64], the tile's is [32]}}
func.func @shape(%x: tensor<32xf32, #tile.layout<"64 unit 64 reg [1] lane [2] [4] [8] [16] [32]">>) {
  return
}
