// SPDX-License-Identifier: MIT
// The layouts that kernels start from: blocked ones for memory access, matrix fragments, swizzled shared
// memory.
#pragma once

#include "compiler/layout/Layout.h"

namespace tilegym::layout {

struct BlockedSpec {
  int elemBytes = 4;
  int warps = 4;
  /// Axes from the contiguous one outwards; empty: last axis first.
  std::vector<int> order;
  int vectorBytes = 16;
  /// Axes in the order in which warps are spread over what the lanes leave; empty: as `order`. {0, 1} gives
  /// each warp whole rows of a row-major tile (as far as there are rows), so that a row's reduction stays in
  /// a warp.
  std::vector<int> warpOrder;
  /// Blocks of a cluster, which share `blockAxis` (none: each block has the whole tile). They take turns: what
  /// the threads of one cover together, then the next one's, so that a row that ends early leaves all with
  /// equal shares; or, `contiguous`, each has a stretch of the axis.
  int blocks = 1;
  int blockAxis = -1;
  bool contiguous = false;
};

/// Adjacent lanes cover adjacent vectors of the contiguous axis, then of the next. Vectors shrink before
/// threads go idle; threads beyond that hold copies.
Expected<Layout> blocked(const Shape &shape, const BlockedSpec &spec);

/// Warps of a matrix product along the rows and the columns of its result. With neither of them 1 the
/// operands are shared by several warps. `copies` warps hold the same.
struct WarpGrid {
  int rows = 1;
  int columns = 1;
  int copies = 1;
};

/// Operands and result of mma.sync m16n8: A [M, K], B [K, N], accumulator [M, N]. The 16-, 8- and 32-bit
/// (tf32) element sizes all put one 32-bit word of K in a register. Wgmma's A from registers is `mmaOperandA`
/// with four times the warps along the rows.
Expected<Layout> mmaOperandA(const Shape &shape, int elemBytes, WarpGrid warps);
Expected<Layout> mmaOperandB(const Shape &shape, int elemBytes, WarpGrid warps);
Expected<Layout> mmaAccumulator(const Shape &shape, WarpGrid warps);

/// Result [M, N] of a product on the plain cores. `rowVector` (`columnVector`) neighbouring rows (columns) are in
/// registers of one thread, for operands that are contiguous along them; lanes then take eight rows by four columns.
struct PlainSpec {
  int warps = 4;
  int rowVector = 1;
  int columnVector = 1;
};
Expected<Layout> plainAccumulator(const Shape &shape, const PlainSpec &spec);
/// What a thread needs of A [M, K] (`axis` 0) or B [K, N] (`axis` 1) for its part of the result: its rows or columns, all of K.
Expected<Layout> plainOperand(const Layout &accumulator, int axis, int64_t k);

/// Of what threads copy one 32-bit element at a time, from where `from` is the contiguous axis to a swizzled slot where the other is: eight lanes read a sector, and four such
/// have a chunk of 16 bytes of the slot each, so that no two lanes write to one bank.
Expected<Layout> acrossCopy(const Shape &shape, int from, int warps);

/// Accumulator of wgmma m64nN; `groups` counts warpgroups of four warps. Each has neighbouring columns of the power-of-two part.
Expected<Layout> wgmmaAccumulator(const Shape &shape, WarpGrid groups);

/// A shared-memory tile in rows of `swizzleBytes` (128, 64, 32) along order[0], in which the 16-byte chunk
/// number is XORed by the row as the copy engine and wgmma do it: atoms one after another along order[1],
/// then along order[0]; further axes are slowest. 0: plain rows in `order`. The register index of the layout
/// is the element offset.
Expected<Layout> sharedTile(const Shape &shape, int elemBytes, std::vector<int> order, int swizzleBytes);

} // namespace tilegym::layout
