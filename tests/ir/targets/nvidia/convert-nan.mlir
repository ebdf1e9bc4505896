// SPDX-License-Identifier: MIT
// NaN as an integer is 0 in the language; `cvt` gives that only from f32 to 32 bits, and a select is needed where either side has 64.
// RUN: tilegym-opt --split-input-file --tiles-to-threads --cse %s | FileCheck %s

#v = #tile.layout<"32 unit 32 lane [1] [2] [4] [8] [16]">

// CHECK-LABEL: llvm.func @wide(
tile.kernel @wide grid 1 [-1] facts <fast> warps 1 params [#tile.param<base 0, "x", !tile.ptr<f32>>, #tile.param<base 1, "d", !tile.ptr<f64>>,
    #tile.param<base 2, "h", !tile.ptr<f16>>, #tile.param<base 3, "y", !tile.ptr<i64>>, #tile.param<base 4, "u", !tile.ptr<i32>>, #tile.param<base 5, "n", !tile.ptr<i8>>] {
  %xp = tile.param 0 : !tile.ptr<f32>
  %dp = tile.param 1 : !tile.ptr<f64>
  %hp = tile.param 2 : !tile.ptr<f16>
  %y = tile.param 3 : !tile.ptr<i64>
  %u = tile.param 4 : !tile.ptr<i32>
  %n = tile.param 5 : !tile.ptr<i8>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %x = tile.load %xp[span(%zero, 32) stride %one within(%zero, %one)] : !tile.ptr<f32> -> tensor<32xf32, #v>
  %d = tile.load %dp[span(%zero, 32) stride %one within(%zero, %one)] : !tile.ptr<f64> -> tensor<32xf64, #v>
  %h = tile.load %hp[span(%zero, 32) stride %one within(%zero, %one)] : !tile.ptr<f16> -> tensor<32xf16, #v>

  // CHECK: %[[XL:.*]] = ptx.convert <rz> %[[X:.*]] : f32 to i64
  // CHECK: %[[XN:.*]] = arith.cmpf uno, %[[X]], %[[X]] : f32
  // CHECK: arith.select %[[XN]], %{{.*}}, %[[XL]] : i64
  %a = tile.convert %x <toward_zero> : tensor<32xf32, #v> to tensor<32xi64, #v>
  // CHECK: %[[H:.*]] = arith.extf %{{.*}} : f16 to f32
  // CHECK: %[[HL:.*]] = ptx.convert <rz> %[[H]] : f32 to i64
  // CHECK: %[[HN:.*]] = arith.cmpf uno, %[[H]], %[[H]] : f32
  // CHECK: arith.select %[[HN]], %{{.*}}, %[[HL]] : i64
  %b = tile.convert %h <toward_zero> : tensor<32xf16, #v> to tensor<32xi64, #v>
  // CHECK: %[[DI:.*]] = ptx.convert <rz> %[[D:.*]] unsigned : f64 to i32
  // CHECK: %[[DN:.*]] = arith.cmpf uno, %[[D]], %[[D]] : f64
  // CHECK: arith.select %[[DN]], %{{.*}}, %[[DI]] : i32
  %c = tile.convert %d <toward_zero> unsigned : tensor<32xf64, #v> to tensor<32xi32, #v>
  // To 8 bits by way of 32.
  // CHECK: %[[DW:.*]] = ptx.convert <rz> %[[D]] : f64 to i32
  // CHECK: arith.select %[[DN]], %{{.*}}, %[[DW]] : i32
  // CHECK: arith.maxsi
  %e = tile.convert %d <toward_zero> : tensor<32xf64, #v> to tensor<32xi8, #v>
  // CHECK: ptx.convert <rz> %[[X]] : f32 to i32
  // CHECK-NOT: arith.select
  // CHECK: ptx.store_global
  %f = tile.convert %x <toward_zero> : tensor<32xf32, #v> to tensor<32xi32, #v>
  tile.store %f to %u[span(%zero, 32) stride %one within(%zero, %one)] : tensor<32xi32, #v> to !tile.ptr<i32>
  tile.store %c to %u[span(%zero, 32) stride %one within(%zero, %one)] : tensor<32xi32, #v> to !tile.ptr<i32>
  tile.store %a to %y[span(%zero, 32) stride %one within(%zero, %one)] : tensor<32xi64, #v> to !tile.ptr<i64>
  tile.store %b to %y[span(%zero, 32) stride %one within(%zero, %one)] : tensor<32xi64, #v> to !tile.ptr<i64>
  tile.store %e to %n[span(%zero, 32) stride %one within(%zero, %one)] : tensor<32xi8, #v> to !tile.ptr<i8>
  tile.return
}
