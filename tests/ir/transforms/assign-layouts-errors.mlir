// SPDX-License-Identifier: MIT
// RUN: tilegym-opt --split-input-file --assign-layouts --verify-diagnostics %s

// expected-error @below {{has a tile that no threads can hold: found 3 where a layout needs a power of two}}
tile.kernel @warps grid 1 [-1] facts <fast> warps 3 params [] {
  %i = tile.iota 0 : tensor<64xi64>
  tile.print "{}" %i : tensor<64xi64>
  tile.return
}
