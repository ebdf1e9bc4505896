// SPDX-License-Identifier: MIT
// Warpgroups beside a producer that each hold rows of their own store them without waiting for each other, and meet among themselves around their part of the buffer.
// RUN: tilegym-opt --split-input-file --stage-stores=shared-bytes=98304 --place-barriers %s | FileCheck %s

#acc = #tile.layout<"128x128 unit 128x128 reg [0,1] [8,0] [0,8] [0,16] [0,32] [0,64] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0] [64,0]">
#a = #tile.layout<"128x64 unit 128x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32] [8,0] [16,0] [32,0] [64,0]">
#b = #tile.layout<"64x128 unit 64x128 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32] [8,0] [16,0] [32,0] [0,64]">

// Boxes of 64 rows, one a warpgroup; a buffer is written again when the warpgroup's own store has read it.
// CHECK-LABEL: tile.kernel @apart
// CHECK-SAME: !tile.tensor_map<bf16, [64 of dim 0 by 0, 64 of dim 1], swizzle 128>
// CHECK: scf.for
// CHECK: tile.tensor_store_wait 0
// CHECK-NEXT: tile.barrier apart
// CHECK-NEXT: tile.put
// CHECK-NEXT: tile.barrier async apart
// CHECK-NEXT: tile.tensor_store %{{.*}} apart
// CHECK-NOT: tile.barrier{{( async)?$}}
tile.kernel @apart grid 1 [-1] facts <fast> warps 8 params [#tile.param<base 0, "c", !tile.ptr<bf16>, divisor = 16>, #tile.param<extent 0, "m", i64, upper = 2146435071>,
    #tile.param<extent 1, "n", i64, divisor = 8, upper = 2146435071>, #tile.param<stride 0, "s", i64, divisor = 8, upper = 2147483647>] {
  %c = tile.param 0 : !tile.ptr<bf16>
  %m = tile.param 1 : i64
  %n = tile.param 2 : i64
  %stride = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = tile.alloc : !tile.shared<1, tensor<128x64xbf16, #a>>
  %columns = tile.alloc : !tile.shared<1, tensor<64x128xbf16, #b>>
  tile.roles producer {
  } consumer {
    %block = tile.block_id 0
    %blocks = tile.num_blocks 0
    %step = tile.launch_size
    scf.for %i = %block to %blocks step %step : i64 {
      %none = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
      %d = tile.dot %rows, %columns, %none warpgroups : !tile.shared<1, tensor<128x64xbf16, #a>>, !tile.shared<1, tensor<64x128xbf16, #b>>, tensor<128x128xf32, #acc>
      %t = arith.truncf %d : tensor<128x128xf32, #acc> to tensor<128x128xbf16, #acc>
      tile.store %t to %c[span(%zero, 128) stride %stride below(%zero, %m), span(%zero, 128) stride %one below(%zero, %n)] : tensor<128x128xbf16, #acc> to !tile.ptr<bf16>
    }
  }
  tile.dealloc %columns : !tile.shared<1, tensor<64x128xbf16, #b>>
  tile.dealloc %rows : !tile.shared<1, tensor<128x64xbf16, #a>>
  tile.return
}

// -----

#acc = #tile.layout<"128x128 unit 128x128 reg [0,1] [8,0] [0,8] [0,16] [0,32] [0,64] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0] [64,0]">
#b = #tile.layout<"64x128 unit 64x128 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32] [8,0] [16,0] [32,0] [0,64]">
#f = #tile.layout<"128x64 unit 128x64 reg [0,1] [8,0] [0,8] [0,16] [0,32] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0] [64,0]">

// Where threads make an operand, all meet.
// CHECK-LABEL: tile.kernel @made
// CHECK-SAME: !tile.tensor_map<bf16, [128 of dim 0 by 0, 64 of dim 1], swizzle 128>
// CHECK-NOT: apart
tile.kernel @made grid 1 [-1] facts <fast> warps 8 params [#tile.param<base 0, "c", !tile.ptr<bf16>, divisor = 16>, #tile.param<extent 0, "m", i64, upper = 2146435071>,
    #tile.param<extent 1, "n", i64, divisor = 8, upper = 2146435071>, #tile.param<stride 0, "s", i64, divisor = 8, upper = 2147483647>] {
  %c = tile.param 0 : !tile.ptr<bf16>
  %m = tile.param 1 : i64
  %n = tile.param 2 : i64
  %stride = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %columns = tile.alloc : !tile.shared<1, tensor<64x128xbf16, #b>>
  tile.roles producer {
  } consumer {
    %block = tile.block_id 0
    %blocks = tile.num_blocks 0
    %step = tile.launch_size
    scf.for %i = %block to %blocks step %step : i64 {
      %x = arith.constant dense<1.0> : tensor<128x64xbf16, #f>
      %none = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
      %d = tile.dot %x, %columns, %none warpgroups : tensor<128x64xbf16, #f>, !tile.shared<1, tensor<64x128xbf16, #b>>, tensor<128x128xf32, #acc>
      %t = arith.truncf %d : tensor<128x128xf32, #acc> to tensor<128x128xbf16, #acc>
      tile.store %t to %c[span(%zero, 128) stride %stride below(%zero, %m), span(%zero, 128) stride %one below(%zero, %n)] : tensor<128x128xbf16, #acc> to !tile.ptr<bf16>
    }
  }
  tile.dealloc %columns : !tile.shared<1, tensor<64x128xbf16, #b>>
  tile.return
}
