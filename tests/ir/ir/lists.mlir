// SPDX-License-Identifier: MIT
// Round trip of parameters that have a value for each tensor of a list, and how their values become loads from the parameters.
// RUN: tilegym-opt %s | tilegym-opt | FileCheck %s
// RUN: tilegym-opt --tiles-to-threads --cse %s | FileCheck %s --check-prefix=THREADS

// CHECK-LABEL: tile.kernel @lists
// CHECK-SAME: #tile.param<base 0, "a", !tile.ptr<bf16>, divisor = 16, readonly, list = 64>
// CHECK-SAME: #tile.param<extent 0, "M", i64, upper = 100, list = 8>
// CHECK-SAME: #tile.param<list_length 0, "a.length", i64, upper = 64>
// THREADS-LABEL: llvm.func @lists(
// THREADS-SAME: %[[A:[^ ]*]]: !llvm.ptr {llvm.align = 8 : i64, llvm.byval = !llvm.array<64 x ptr<1>>, nvvm.grid_constant}
// THREADS-SAME: %[[M:[^ ]*]]: !llvm.ptr {llvm.align = 8 : i64, llvm.byval = !llvm.array<8 x i64>, nvvm.grid_constant}
// THREADS-SAME: %[[LENGTH:[^ ]*]]: i64
tile.kernel @lists grid 1 [-1] facts <fast> warps 4 params [
    #tile.param<base 0, "a", !tile.ptr<bf16>, divisor = 16, readonly, list = 64>,
    #tile.param<extent 0, "M", i64, upper = 100, list = 8>, #tile.param<list_length 0, "a.length", i64, upper = 64>] {
  %g = tile.linear_block_id
  // A number beyond the room reads the last place.
  // CHECK: %a = tile.param 0[%[[G:.*]]] : !tile.ptr<bf16>
  // THREADS: %[[LAST:.*]] = arith.minui %{{.*}}, %c63
  // THREADS: %[[AT:.*]] = llvm.getelementptr %[[A]][%[[LAST]]] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr<1>
  // THREADS: llvm.load %[[AT]] : !llvm.ptr -> !llvm.ptr<1>
  %a = tile.param 0[%g] : !tile.ptr<bf16>
  // CHECK: %M = tile.param 1[%[[G]]] : i64
  // THREADS: arith.minui %{{.*}}, %c7
  // THREADS: llvm.getelementptr %[[M]]
  %m = tile.param 1[%g] : i64
  // CHECK: %a.length = tile.param 2 : i64
  %n = tile.param 2 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %pad = arith.constant 0.0 : bf16
  %x = tile.load %a[point(%zero) stride %one below(%zero, %m)] pad(%pad : bf16) : !tile.ptr<bf16> -> bf16
  tile.print "{} {}" %x, %n : bf16, i64
  tile.return
}
