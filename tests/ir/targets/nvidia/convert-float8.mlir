// SPDX-License-Identifier: MIT
// f32 to f8: two by one instruction where the target has it and the conversion saturates to the nearest, as the language has it unless told otherwise; else in integers.
// RUN: tilegym-opt --split-input-file --tiles-to-threads=float8-pairs=true --cse %s | FileCheck %s
// RUN: tilegym-opt --split-input-file --tiles-to-threads --cse %s | FileCheck %s --check-prefix=INTEGERS

#v = #tile.layout<"64 unit 64 reg [1] lane [2] [4] [8] [16] [32]">

// INTEGERS-NOT: ptx.convert_pair
// CHECK-LABEL: llvm.func @pairs(
tile.kernel @pairs grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !tile.ptr<f32>>, #tile.param<base 1, "h", !tile.ptr<f16>>,
    #tile.param<base 2, "y", !tile.ptr<f8E4M3FN>>] {
  %xp = tile.param 0 : !tile.ptr<f32>
  %hp = tile.param 1 : !tile.ptr<f16>
  %y = tile.param 2 : !tile.ptr<f8E4M3FN>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %x = tile.load %xp[span(%zero, 64) stride %one within(%zero, %one)] : !tile.ptr<f32> -> tensor<64xf32, #v>
  %h = tile.load %hp[span(%zero, 64) stride %one within(%zero, %one)] : !tile.ptr<f16> -> tensor<64xf16, #v>
  // CHECK: %[[W:.*]] = ptx.convert_pair %{{.*}}, %{{.*}} to <e4m3>
  // CHECK: %[[U:.*]] = arith.shrui %[[W]], %{{.*}} : i16
  // CHECK: arith.trunci %[[W]] : i16 to i8
  // CHECK: arith.trunci %[[U]] : i16 to i8
  %a = tile.convert %x <nearest_even> saturate : tensor<64xf32, #v> to tensor<64xf8E4M3FN, #v>
  // CHECK: %[[F:.*]] = arith.extf %{{.*}} : f16 to f32
  // CHECK: ptx.convert_pair %[[F]], %{{.*}} to <e4m3>
  %b = tile.convert %h <nearest_even> saturate : tensor<64xf16, #v> to tensor<64xf8E4M3FN, #v>
  // CHECK-NOT: ptx.convert_pair
  %c = tile.convert %x <toward_zero> saturate : tensor<64xf32, #v> to tensor<64xf8E4M3FN, #v>
  %d = tile.convert %x <nearest_even> : tensor<64xf32, #v> to tensor<64xf8E4M3FN, #v>
  tile.store %a to %y[span(%zero, 64) stride %one within(%zero, %one)] : tensor<64xf8E4M3FN, #v> to !tile.ptr<f8E4M3FN>
  tile.store %b to %y[span(%zero, 64) stride %one within(%zero, %one)] : tensor<64xf8E4M3FN, #v> to !tile.ptr<f8E4M3FN>
  tile.store %c to %y[span(%zero, 64) stride %one within(%zero, %one)] : tensor<64xf8E4M3FN, #v> to !tile.ptr<f8E4M3FN>
  tile.store %d to %y[span(%zero, 64) stride %one within(%zero, %one)] : tensor<64xf8E4M3FN, #v> to !tile.ptr<f8E4M3FN>
  tile.return
}
