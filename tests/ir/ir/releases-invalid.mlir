// SPDX-License-Identifier: MIT
// A slot that a product in flight reads is not released before the wait that ends the product; what turns, teams and shares of registers need.
// RUN: tilegym-opt %s -split-input-file -verify-diagnostics

#acc = #tile.layout<"64x8 unit 64x8 reg [0,1] [8,0] lane [0,2] [0,4] [1,0] [2,0] [4,0] warp [16,0] [32,0]">
#a = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">
#slot = #tile.layout<"32x8 unit 32x8 reg [1,0] [2,0] [4,0] [8,0] [16,0] [0,1] [8,2] [16,4]">

tile.kernel @early grid 1 [-1] facts <fast> warps 4 params [#tile.param<tensor_map 0, "a.map", !tile.tensor_map<bf16, [64 of dim 0 by 0, 32 of dim 1], swizzle 64>, readonly>] {
  %map = tile.param 0 : !tile.tensor_map<bf16, [64 of dim 0 by 0, 32 of dim 1], swizzle 64>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
  %ring = tile.alloc : !tile.shared<2, tensor<64x32xbf16, #a>>
  %other = tile.alloc : !tile.shared<1, tensor<32x8xbf16, #slot>>
  %full = tile.make_mbarriers arrivals 1 : !tile.mbarriers<2>
  %empty = tile.make_mbarriers arrivals 4 : !tile.mbarriers<2>
  tile.roles producer {
    tile.mbarrier_wait %empty[%zero] parity %one : !tile.mbarriers<2>
    tile.mbarrier_expect %full[%zero] bytes 4096 : !tile.mbarriers<2>
    %s = tile.slot %ring[%zero] : !tile.shared<2, tensor<64x32xbf16, #a>>
    tile.tensor_load %map[%zero, %zero] into %s signal %full[%zero] : !tile.tensor_map<bf16, [64 of dim 0 by 0, 32 of dim 1], swizzle 64> into !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.mbarriers<2>
  } consumer {
    %s = tile.slot %ring[%zero] : !tile.shared<2, tensor<64x32xbf16, #a>>
    %t = tile.slot %other[%zero] : !tile.shared<1, tensor<32x8xbf16, #slot>>
    tile.mbarrier_wait %full[%zero] parity %zero : !tile.mbarriers<2>
    %d = tile.dot %s, %t, %none warpgroups in_flight : !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.shared<1, tensor<32x8xbf16, #slot>>, tensor<64x8xf32, #acc>
    %e = tile.dot %s, %t, %none warpgroups in_flight : !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.shared<1, tensor<32x8xbf16, #slot>>, tensor<64x8xf32, #acc>
    // The other slot may be, whatever is in flight.
    tile.mbarrier_arrive %empty[%one] : !tile.mbarriers<2>
    %f = tile.dot_wait 1 (%d) : tensor<64x8xf32, #acc> to tensor<64x8xf32, #acc>
    // expected-error @below {{releases a slot that a product in flight may still read: put the tile.dot_wait that ends it before}}
    tile.mbarrier_arrive %empty[%zero] : !tile.mbarriers<2>
    %g = tile.dot_wait 0 (%e) : tensor<64x8xf32, #acc> to tensor<64x8xf32, #acc>
    tile.mbarrier_arrive %empty[%zero] : !tile.mbarriers<2>
  }
  tile.return
}

// -----

tile.kernel @no_turn grid 1 [-1] facts <fast> warps 8 params [] {
  // expected-error @below {{is for consumers}}
  tile.take_turn
  tile.return
}

// -----

tile.kernel @alone grid 1 [-1] facts <fast> warps 4 params [] {
  tile.roles producer {
  } consumer {
    // expected-error @below {{needs two to twelve warpgroups, but the kernel has 4 warps}}
    tile.pass_turn
  }
  tile.return
}

// -----

tile.kernel @halves grid 1 [-1] facts <fast> warps 2 params [] {
  // expected-error @below {{gives registers to 2 warps, which are no whole warpgroups}}
  tile.roles shift_registers producer {
  } consumer {
  }
  tile.return
}

// -----

tile.kernel @many grid 1 [-1] facts <fast> warps 4 params [] {
  // expected-error @below {{has 3 teams, expected 1 or 2}}
  tile.roles teams 3 producer {
  } consumer {
  }
  tile.return
}

// -----

tile.kernel @small_teams grid 1 [-1] facts <fast> warps 2 params [] {
  // expected-error @below {{has teams of 2 warps, expected a power of two from 4 on}}
  tile.roles teams 2 producer {
  } consumer {
  }
  tile.return
}

// -----

tile.kernel @no_team grid 1 [-1] facts <fast> warps 4 params [] {
  // expected-error @below {{is for consumers}}
  %t = tile.team
  tile.return
}

// -----

// As it should be: each warp of both blocks says that it has read, to both.
#a = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">

tile.kernel @shares grid 1 [-1] facts <fast> warps 4 params [#tile.param<tensor_map 0, "a.map", !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64>, readonly>] knobs {spread = 2 : i64} {
  %map = tile.param 0 : !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ring = tile.alloc : !tile.shared<2, tensor<64x32xbf16, #a>>
  %full = tile.make_mbarriers arrivals 1 : !tile.mbarriers<2>
  %empty = tile.make_mbarriers arrivals 8 : !tile.mbarriers<2>
  tile.roles producer {
    tile.mbarrier_wait %empty[%zero] parity %one : !tile.mbarriers<2>
    tile.mbarrier_expect %full[%zero] bytes 4096 : !tile.mbarriers<2>
    %s = tile.slot %ring[%zero] : !tile.shared<2, tensor<64x32xbf16, #a>>
    tile.tensor_load %map[%zero, %zero] into %s signal %full[%zero] shared : !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64> into !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.mbarriers<2>
  } consumer {
    tile.mbarrier_wait %full[%zero] parity %zero : !tile.mbarriers<2>
    tile.mbarrier_arrive %empty[%zero] everywhere : !tile.mbarriers<2>
  }
  tile.return
}

// -----

#a = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">

tile.kernel @counts_its_own grid 1 [-1] facts <fast> warps 4 params [#tile.param<tensor_map 0, "a.map", !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64>, readonly>] knobs {spread = 2 : i64} {
  %map = tile.param 0 : !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ring = tile.alloc : !tile.shared<2, tensor<64x32xbf16, #a>>
  %full = tile.make_mbarriers arrivals 1 : !tile.mbarriers<2>
  // expected-error @below {{counts 4 arrivals, expected 8: each warp of each block of the cluster}}
  %empty = tile.make_mbarriers arrivals 4 : !tile.mbarriers<2>
  tile.roles producer {
    tile.mbarrier_wait %empty[%zero] parity %one : !tile.mbarriers<2>
    tile.mbarrier_expect %full[%zero] bytes 4096 : !tile.mbarriers<2>
    %s = tile.slot %ring[%zero] : !tile.shared<2, tensor<64x32xbf16, #a>>
    tile.tensor_load %map[%zero, %zero] into %s signal %full[%zero] shared : !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64> into !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.mbarriers<2>
  } consumer {
    tile.mbarrier_wait %full[%zero] parity %zero : !tile.mbarriers<2>
    tile.mbarrier_arrive %empty[%zero] everywhere : !tile.mbarriers<2>
  }
  tile.return
}

// -----

#a = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">

tile.kernel @says_it_at_home grid 1 [-1] facts <fast> warps 4 params [#tile.param<tensor_map 0, "a.map", !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64>, readonly>] knobs {spread = 2 : i64} {
  %map = tile.param 0 : !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ring = tile.alloc : !tile.shared<2, tensor<64x32xbf16, #a>>
  %full = tile.make_mbarriers arrivals 1 : !tile.mbarriers<2>
  %empty = tile.make_mbarriers arrivals 8 : !tile.mbarriers<2>
  tile.roles producer {
    tile.mbarrier_wait %empty[%zero] parity %one : !tile.mbarriers<2>
    tile.mbarrier_expect %full[%zero] bytes 4096 : !tile.mbarriers<2>
    %s = tile.slot %ring[%zero] : !tile.shared<2, tensor<64x32xbf16, #a>>
    tile.tensor_load %map[%zero, %zero] into %s signal %full[%zero] shared : !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64> into !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.mbarriers<2>
  } consumer {
    tile.mbarrier_wait %full[%zero] parity %zero : !tile.mbarriers<2>
    // expected-error @below {{releases a slot that other blocks of the cluster fill: it must arrive everywhere}}
    tile.mbarrier_arrive %empty[%zero] : !tile.mbarriers<2>
  }
  tile.return
}

// -----

#a = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">

tile.kernel @reads grid 1 [-1] facts <fast> warps 4 params [#tile.param<tensor_map 0, "a.map", !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64>, readonly>] knobs {spread = 2 : i64} {
  %map = tile.param 0 : !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ring = tile.alloc : !tile.shared<2, tensor<64x32xbf16, #a>>
  %full = tile.make_mbarriers arrivals 1 : !tile.mbarriers<2>
  %empty = tile.make_mbarriers arrivals 8 : !tile.mbarriers<2>
  tile.roles producer {
    tile.mbarrier_wait %empty[%zero] parity %one : !tile.mbarriers<2>
    tile.mbarrier_expect %full[%zero] bytes 4096 : !tile.mbarriers<2>
    %s = tile.slot %ring[%zero] : !tile.shared<2, tensor<64x32xbf16, #a>>
    tile.tensor_load %map[%zero, %zero] into %s signal %full[%zero] shared : !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64> into !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.mbarriers<2>
  } consumer {
    tile.mbarrier_wait %full[%zero] parity %zero : !tile.mbarriers<2>
    // expected-error @below {{cannot say everywhere what its threads have read themselves}}
    tile.mbarrier_arrive %empty[%zero] reads everywhere : !tile.mbarriers<2>
  }
  tile.return
}

// -----

#a = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">

tile.kernel @no_cluster grid 1 [-1] facts <fast> warps 4 params [#tile.param<tensor_map 0, "a.map", !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64>, readonly>] {
  %map = tile.param 0 : !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ring = tile.alloc : !tile.shared<2, tensor<64x32xbf16, #a>>
  %full = tile.make_mbarriers arrivals 1 : !tile.mbarriers<2>
  %empty = tile.make_mbarriers arrivals 4 : !tile.mbarriers<2>
  tile.roles producer {
    tile.mbarrier_wait %empty[%zero] parity %one : !tile.mbarriers<2>
    tile.mbarrier_expect %full[%zero] bytes 4096 : !tile.mbarriers<2>
    %s = tile.slot %ring[%zero] : !tile.shared<2, tensor<64x32xbf16, #a>>
    tile.tensor_load %map[%zero, %zero] into %s signal %full[%zero] : !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64> into !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.mbarriers<2>
  } consumer {
    tile.mbarrier_wait %full[%zero] parity %zero : !tile.mbarriers<2>
    // expected-error @below {{arrives everywhere, but its kernel has no clusters}}
    tile.mbarrier_arrive %empty[%zero] everywhere : !tile.mbarriers<2>
  }
  tile.return
}

// -----

#a = #tile.layout<"64x32 unit 64x32 reg [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0]">

tile.kernel @eighths grid 1 [-1] facts <fast> warps 4 params [#tile.param<tensor_map 0, "a.map", !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64>, readonly>] knobs {spread = 8 : i64} {
  %map = tile.param 0 : !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ring = tile.alloc : !tile.shared<2, tensor<64x32xbf16, #a>>
  %full = tile.make_mbarriers arrivals 1 : !tile.mbarriers<2>
  %empty = tile.make_mbarriers arrivals 32 : !tile.mbarriers<2>
  tile.roles producer {
    tile.mbarrier_wait %empty[%zero] parity %one : !tile.mbarriers<2>
    tile.mbarrier_expect %full[%zero] bytes 4096 : !tile.mbarriers<2>
    %s = tile.slot %ring[%zero] : !tile.shared<2, tensor<64x32xbf16, #a>>
    // expected-error @below {{has boxes that 8 blocks cannot share}}
    tile.tensor_load %map[%zero, %zero] into %s signal %full[%zero] shared : !tile.tensor_map<bf16, [32 of dim 0 by 0, 32 of dim 1], swizzle 64> into !tile.shared<1, tensor<64x32xbf16, #a>>, !tile.mbarriers<2>
  } consumer {
    tile.mbarrier_wait %full[%zero] parity %zero : !tile.mbarriers<2>
    tile.mbarrier_arrive %empty[%zero] everywhere : !tile.mbarriers<2>
  }
  tile.return
}
