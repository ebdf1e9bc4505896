// SPDX-License-Identifier: MIT
// A product's result goes to its tensor through shared memory: whole where the loops' buffers left room, else in strips that take turns, of half the rows if need be; what the engine may not store stays.
// RUN: tilegym-opt --split-input-file --stage-stores=shared-bytes=65536 %s | FileCheck %s

#acc = #tile.layout<"64x256 unit 64x256 reg [0,1] [8,0] [0,8] [0,16] [0,32] [0,64] [0,128] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#s = #tile.layout<"64x64 unit 64x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32] [8,0] [16,0] [32,0]">

// The dead ring has room for all.
// CHECK-LABEL: tile.kernel @whole
// CHECK-SAME: #tile.param<tensor_map 0, "c.map", !tile.tensor_map<bf16, [64 of dim 0 by 0, 64 of dim 1], swizzle 128>>
// CHECK: %[[MAP:.*]] = tile.param 4
// CHECK: %[[T:.*]] = arith.truncf
// CHECK: tile.dealloc
// CHECK: %[[B:.*]] = tile.alloc : !tile.shared<1, tensor<64x256xbf16, #
// CHECK: %[[S:.*]] = tile.slot %[[B]][
// CHECK-NEXT: tile.put %[[T]] into %[[S]]
// CHECK-NEXT: tile.tensor_store %[[S]] to %[[MAP]][%[[I:.*]], %[[I]] : i64, i64]
// CHECK-NEXT: tile.dealloc %[[B]]
// CHECK-NEXT: tile.return
tile.kernel @whole grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "c", !tile.ptr<bf16>, divisor = 16>, #tile.param<extent 0, "m", i64, upper = 2146435071>,
    #tile.param<extent 1, "n", i64, divisor = 8, upper = 2146435071>, #tile.param<stride 0, "s", i64, divisor = 8, upper = 2147483647>] {
  %c = tile.param 0 : !tile.ptr<bf16>
  %m = tile.param 1 : i64
  %n = tile.param 2 : i64
  %stride = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ring = tile.alloc : !tile.shared<4, tensor<64x64xbf16, #s>>
  %x = arith.constant dense<1.0> : tensor<64x64xbf16>
  %none = arith.constant dense<0.0> : tensor<64x256xf32, #acc>
  %y = arith.constant dense<1.0> : tensor<64x256xbf16>
  %d = scf.for %k = %zero to %n step %one iter_args(%sum = %none) -> (tensor<64x256xf32, #acc>) : i64 {
    %e = tile.dot %x, %y, %sum : tensor<64x64xbf16>, tensor<64x256xbf16>, tensor<64x256xf32, #acc>
    scf.yield %e : tensor<64x256xf32, #acc>
  }
  %t = arith.truncf %d : tensor<64x256xf32, #acc> to tensor<64x256xbf16, #acc>
  tile.dealloc %ring : !tile.shared<4, tensor<64x64xbf16, #s>>
  tile.store %t to %c[span(%zero, 64) stride %stride below(%zero, %m), span(%zero, 256) stride %one below(%zero, %n)] : tensor<64x256xbf16, #acc> to !tile.ptr<bf16>
  tile.return
}

// -----

#acc = #tile.layout<"64x256 unit 64x256 reg [0,1] [8,0] [0,8] [0,16] [0,32] [0,64] [0,128] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#s = #tile.layout<"64x64 unit 64x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32] [8,0] [16,0] [32,0]">

// Beside a ring that lives on there is room for two strips of 64 columns; each is converted next to its store.
// CHECK-LABEL: tile.kernel @strips
// CHECK: %[[A:.*]] = tile.alloc : !tile.shared<1, tensor<64x64xbf16, #
// CHECK: %[[B:.*]] = tile.alloc : !tile.shared<1, tensor<64x64xbf16, #
// CHECK-NOT: arith.truncf
// CHECK: %[[E0:.*]] = tile.extract %[[T:.*]] [0, 0] : tensor<64x256xf32
// CHECK: %[[P0:.*]] = arith.truncf %[[E0]] : tensor<64x64xf32
// CHECK: %[[S0:.*]] = tile.slot %[[A]][
// CHECK: tile.put %[[P0]] into %[[S0]]
// CHECK: tile.tensor_store %[[S0]] to %[[MAP:.*]][
// CHECK: tile.extract %[[T]] [0, 64]
// CHECK: %[[S1:.*]] = tile.slot %[[B]][
// CHECK: tile.tensor_store %[[S1]]
// CHECK: tile.extract %[[T]] [0, 128]
// CHECK: %[[S2:.*]] = tile.slot %[[A]][
// CHECK: tile.tensor_store %[[S2]]
// CHECK: tile.extract %[[T]] [0, 192]
// CHECK: %[[S3:.*]] = tile.slot %[[B]][
// CHECK: tile.tensor_store %[[S3]]
// CHECK-NEXT: tile.dealloc %[[A]]
// CHECK-NEXT: tile.dealloc %[[B]]
tile.kernel @strips grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "c", !tile.ptr<bf16>, divisor = 16>, #tile.param<extent 0, "m", i64, upper = 2146435071>,
    #tile.param<extent 1, "n", i64, divisor = 8, upper = 2146435071>, #tile.param<stride 0, "s", i64, divisor = 8, upper = 2147483647>] {
  %c = tile.param 0 : !tile.ptr<bf16>
  %m = tile.param 1 : i64
  %n = tile.param 2 : i64
  %stride = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ring = tile.alloc : !tile.shared<5, tensor<64x64xbf16, #s>>
  %x = arith.constant dense<1.0> : tensor<64x64xbf16>
  %y = arith.constant dense<1.0> : tensor<64x256xbf16>
  %none = arith.constant dense<0.0> : tensor<64x256xf32, #acc>
  %d = tile.dot %x, %y, %none : tensor<64x64xbf16>, tensor<64x256xbf16>, tensor<64x256xf32, #acc>
  %t = arith.truncf %d : tensor<64x256xf32, #acc> to tensor<64x256xbf16, #acc>
  tile.store %t to %c[span(%zero, 64) stride %stride below(%zero, %m), span(%zero, 256) stride %one below(%zero, %n)] : tensor<64x256xbf16, #acc> to !tile.ptr<bf16>
  tile.dealloc %ring : !tile.shared<5, tensor<64x64xbf16, #s>>
  tile.return
}

// -----

#acc = #tile.layout<"128x128 unit 128x128 reg [0,1] [8,0] [0,8] [0,16] [0,32] [0,64] [64,0] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#s = #tile.layout<"64x64 unit 64x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32] [8,0] [16,0] [32,0]">

// Room for one strip of all rows is room for two of half of them: one is filled while the other is read.
// CHECK-LABEL: tile.kernel @layers
// CHECK: %[[A:.*]] = tile.alloc : !tile.shared<1, tensor<64x64xbf16, #
// CHECK: %[[B:.*]] = tile.alloc : !tile.shared<1, tensor<64x64xbf16, #
// CHECK: tile.extract %[[T:.*]] [0, 0] : tensor<128x128xf32
// CHECK: %[[S0:.*]] = tile.slot %[[A]][
// CHECK: tile.tensor_store %[[S0]] to %[[MAP:.*]][%[[I:.*]], %[[I]] : i64, i64]
// CHECK: tile.extract %[[T]] [0, 64]
// CHECK: %[[RIGHT:.*]] = arith.addi %[[I]], %c64
// CHECK: %[[S1:.*]] = tile.slot %[[B]][
// CHECK: tile.tensor_store %[[S1]] to %[[MAP]][%[[I]], %[[RIGHT]] : i64, i64] : !tile.shared<1, tensor<64x64xbf16, #{{.*}}>> to !tile.tensor_map<bf16, [64 of dim 0 by 0, 64 of dim 1], swizzle 128>
// CHECK: tile.extract %[[T]] [64, 0]
// CHECK: %[[LOW:.*]] = arith.addi %[[I]], %c64
// CHECK: %[[S2:.*]] = tile.slot %[[A]][
// CHECK: tile.tensor_store %[[S2]] to %[[MAP]][%[[LOW]], %[[I]] : i64, i64]
// CHECK: tile.extract %[[T]] [64, 64]
// CHECK: %[[S3:.*]] = tile.slot %[[B]][
// CHECK: tile.tensor_store %[[S3]]
tile.kernel @layers grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "c", !tile.ptr<bf16>, divisor = 16>, #tile.param<extent 0, "m", i64, upper = 2146435071>,
    #tile.param<extent 1, "n", i64, divisor = 8, upper = 2146435071>, #tile.param<stride 0, "s", i64, divisor = 8, upper = 2147483647>] {
  %c = tile.param 0 : !tile.ptr<bf16>
  %m = tile.param 1 : i64
  %n = tile.param 2 : i64
  %stride = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ring = tile.alloc : !tile.shared<5, tensor<64x64xbf16, #s>>
  %x = arith.constant dense<1.0> : tensor<128x64xbf16>
  %y = arith.constant dense<1.0> : tensor<64x128xbf16>
  %none = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
  %d = tile.dot %x, %y, %none : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32, #acc>
  %t = arith.truncf %d : tensor<128x128xf32, #acc> to tensor<128x128xbf16, #acc>
  tile.store %t to %c[span(%zero, 128) stride %stride below(%zero, %m), span(%zero, 128) stride %one below(%zero, %n)] : tensor<128x128xbf16, #acc> to !tile.ptr<bf16>
  tile.dealloc %ring : !tile.shared<5, tensor<64x64xbf16, #s>>
  tile.return
}

// -----

#acc = #tile.layout<"64x256 unit 64x256 reg [0,1] [8,0] [0,8] [0,16] [0,32] [0,64] [0,128] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#s = #tile.layout<"64x64 unit 64x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32] [8,0] [16,0] [32,0]">

// Of half the memory, which is a block's where two share the multiprocessor, the ring leaves room for one strip. Work before the store goes with each,
// and what it was done on at first goes away, also where it used a value twice.
// CHECK-LABEL: tile.kernel @one_buffer
// CHECK-COUNT-1: tile.alloc : !tile.shared<1, tensor<64x64xbf16, #
// CHECK-NOT: tile.alloc : !tile.shared<1,
// CHECK-NOT: tensor<64x256xbf16, #layout
// CHECK: %[[P:.*]] = arith.truncf {{.*}} to tensor<64x64xbf16
// CHECK-NEXT: arith.mulf %[[P]], %[[P]]
// CHECK-COUNT-4: tile.tensor_store
tile.kernel @one_buffer grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "c", !tile.ptr<bf16>, divisor = 16>, #tile.param<extent 0, "m", i64, upper = 2146435071>,
    #tile.param<extent 1, "n", i64, divisor = 8, upper = 2146435071>, #tile.param<stride 0, "s", i64, divisor = 8, upper = 2147483647>] resident 2 {
  %c = tile.param 0 : !tile.ptr<bf16>
  %m = tile.param 1 : i64
  %n = tile.param 2 : i64
  %stride = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ring = tile.alloc : !tile.shared<2, tensor<64x64xbf16, #s>>
  %x = arith.constant dense<1.0> : tensor<64x64xbf16>
  %y = arith.constant dense<1.0> : tensor<64x256xbf16>
  %none = arith.constant dense<0.0> : tensor<64x256xf32, #acc>
  %d = tile.dot %x, %y, %none : tensor<64x64xbf16>, tensor<64x256xbf16>, tensor<64x256xf32, #acc>
  %t = arith.truncf %d : tensor<64x256xf32, #acc> to tensor<64x256xbf16, #acc>
  %u = arith.mulf %t, %t : tensor<64x256xbf16, #acc>
  tile.store %u to %c[span(%zero, 64) stride %stride below(%zero, %m), span(%zero, 256) stride %one below(%zero, %n)] : tensor<64x256xbf16, #acc> to !tile.ptr<bf16>
  tile.dealloc %ring : !tile.shared<2, tensor<64x64xbf16, #s>>
  tile.return
}

// -----

#acc = #tile.layout<"64x64 unit 64x64 reg [0,1] [8,0] [0,8] [0,16] [0,32] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">

// What may begin before the tensor, what no product made, what has no map, and what a loop may write again.
// CHECK-LABEL: tile.kernel @stays
// CHECK-NOT: tile.tensor_store
// CHECK-COUNT-4: tile.store
// CHECK-NOT: tile.tensor_store
tile.kernel @stays grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "c", !tile.ptr<f32>, divisor = 16>, #tile.param<extent 0, "m", i64, upper = 2146435071>,
    #tile.param<extent 1, "n", i64, divisor = 4, upper = 2146435071>, #tile.param<stride 0, "s", i64, divisor = 4, upper = 2147483647>,
    #tile.param<base 1, "d", !tile.ptr<f32>, divisor = 16>, #tile.param<base 2, "e", !tile.ptr<f32>>, #tile.param<base 3, "f", !tile.ptr<f32>, divisor = 16>] {
  %c = tile.param 0 : !tile.ptr<f32>
  %m = tile.param 1 : i64
  %n = tile.param 2 : i64
  %stride = tile.param 3 : i64
  %d = tile.param 4 : !tile.ptr<f32>
  %e = tile.param 5 : !tile.ptr<f32>
  %f = tile.param 6 : !tile.ptr<f32>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %x = arith.constant dense<1.0> : tensor<64x64xbf16>
  %none = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %t = tile.dot %x, %x, %none : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32, #acc>
  tile.store %t to %c[span(%zero, 64) stride %stride in(%zero, %m), span(%zero, 64) stride %one below(%zero, %n)] : tensor<64x64xf32, #acc> to !tile.ptr<f32>
  tile.store %none to %d[span(%zero, 64) stride %stride below(%zero, %m), span(%zero, 64) stride %one below(%zero, %n)] : tensor<64x64xf32, #acc> to !tile.ptr<f32>
  tile.store %t to %e[span(%zero, 64) stride %stride below(%zero, %m), span(%zero, 64) stride %one below(%zero, %n)] : tensor<64x64xf32, #acc> to !tile.ptr<f32>
  scf.for %k = %zero to %n step %one : i64 {
    tile.store %t to %f[span(%zero, 64) stride %stride below(%zero, %m), span(%zero, 64) stride %one below(%zero, %n)] : tensor<64x64xf32, #acc> to !tile.ptr<f32>
  }
  tile.return
}

// -----

#acc = #tile.layout<"64x64 unit 64x64 reg [0,1] [8,0] [0,8] [0,16] [0,32] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">

// The engine does not wait for threads that read the tensor.
// CHECK-LABEL: tile.kernel @read
// CHECK-NOT: tile.tensor_store
tile.kernel @read grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "c", !tile.ptr<f32>, divisor = 16>, #tile.param<extent 0, "m", i64, upper = 2146435071>,
    #tile.param<extent 1, "n", i64, divisor = 4, upper = 2146435071>, #tile.param<stride 0, "s", i64, divisor = 4, upper = 2147483647>] {
  %c = tile.param 0 : !tile.ptr<f32>
  %m = tile.param 1 : i64
  %n = tile.param 2 : i64
  %stride = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %x = arith.constant dense<1.0> : tensor<64x64xbf16>
  %old = tile.load %c[span(%zero, 64) stride %stride within(%zero, %m), span(%zero, 64) stride %one within(%zero, %n)] : !tile.ptr<f32> -> tensor<64x64xf32, #acc>
  %t = tile.dot %x, %x, %old : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32, #acc>
  tile.store %t to %c[span(%zero, 64) stride %stride below(%zero, %m), span(%zero, 64) stride %one below(%zero, %n)] : tensor<64x64xf32, #acc> to !tile.ptr<f32>
  tile.return
}

// -----

#acc = #tile.layout<"64x64 unit 64x64 reg [0,1] [0,2] [8,0] [16,0] [32,0] lane [0,4] [0,8] [0,16] [0,32] [1,0] warp [2,0] [4,0]">

// Threads that hold 16 bytes of a row store them as well.
// CHECK-LABEL: tile.kernel @wide
// CHECK-NOT: tile.tensor_store
tile.kernel @wide grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "c", !tile.ptr<f32>, divisor = 16>, #tile.param<extent 0, "m", i64, upper = 2146435071>,
    #tile.param<extent 1, "n", i64, divisor = 4, upper = 2146435071>, #tile.param<stride 0, "s", i64, divisor = 4, upper = 2147483647>] {
  %c = tile.param 0 : !tile.ptr<f32>
  %m = tile.param 1 : i64
  %n = tile.param 2 : i64
  %stride = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %x = arith.constant dense<1.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %t = tile.dot %x, %x, %none : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32, #acc>
  tile.store %t to %c[span(%zero, 64) stride %stride below(%zero, %m), span(%zero, 64) stride %one below(%zero, %n)] : tensor<64x64xf32, #acc> to !tile.ptr<f32>
  tile.return
}

// -----

#acc = #tile.layout<"64x256 unit 64x256 reg [0,1] [8,0] [0,8] [0,16] [0,32] [0,64] [0,128] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#s = #tile.layout<"64x64 unit 64x64 reg [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32] [8,0] [16,0] [32,0]">

// Rows that may end within 16 bytes are stored by threads: the engine would write beyond them.
// CHECK-LABEL: tile.kernel @part_of_a_unit
// CHECK-NOT: tile.tensor_store
// CHECK: tile.store
tile.kernel @part_of_a_unit grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "c", !tile.ptr<bf16>, divisor = 16>, #tile.param<extent 0, "m", i64, upper = 2146435071>,
    #tile.param<extent 1, "n", i64, divisor = 4, upper = 2146435071>, #tile.param<stride 0, "s", i64, divisor = 8, upper = 2147483647>] {
  %c = tile.param 0 : !tile.ptr<bf16>
  %m = tile.param 1 : i64
  %n = tile.param 2 : i64
  %stride = tile.param 3 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ring = tile.alloc : !tile.shared<4, tensor<64x64xbf16, #s>>
  %x = arith.constant dense<1.0> : tensor<64x64xbf16>
  %none = arith.constant dense<0.0> : tensor<64x256xf32, #acc>
  %y = arith.constant dense<1.0> : tensor<64x256xbf16>
  %d = scf.for %k = %zero to %n step %one iter_args(%sum = %none) -> (tensor<64x256xf32, #acc>) : i64 {
    %e = tile.dot %x, %y, %sum : tensor<64x64xbf16>, tensor<64x256xbf16>, tensor<64x256xf32, #acc>
    scf.yield %e : tensor<64x256xf32, #acc>
  }
  %t = arith.truncf %d : tensor<64x256xf32, #acc> to tensor<64x256xbf16, #acc>
  tile.dealloc %ring : !tile.shared<4, tensor<64x64xbf16, #s>>
  tile.store %t to %c[span(%zero, 64) stride %stride below(%zero, %m), span(%zero, 256) stride %one below(%zero, %n)] : tensor<64x256xbf16, #acc> to !tile.ptr<bf16>
  tile.return
}
