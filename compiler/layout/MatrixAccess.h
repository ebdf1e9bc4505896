// SPDX-License-Identifier: MIT
// Where ldmatrix and stmatrix fit: between a fragment in registers and a shared tile, one instruction moves up to four 8 x 16-byte
// matrices, to or from rows whose addresses the lanes supply.
#pragma once

#include "compiler/layout/Shared.h"

namespace tilegym::layout {

/// Lane l supplies the address of row l % 8 of matrix l / 8: the offset of the instruction, XOR and plus the parts of its set lane bits and warp bits.
struct MatrixAccess {
  bool transposed = false;
  int count = 1; // matrices an instruction: 1, 2 or 4
  struct Instruction {
    /// For each matrix, the registers of a thread's 32-bit word, lowest element first.
    std::vector<std::vector<int64_t>> words;
    OffsetPart offset;
  };
  std::vector<Instruction> instructions;
  std::vector<OffsetPart> laneBits; // of the address: 3 of the row, then those that choose the matrix
  std::vector<OffsetPart> warpBits;

  /// In elements.
  int64_t rowOffset(const Instruction &instruction, int64_t lane, int64_t warp) const;
};

/// Fails where a thread's words or the tile's rows are not as the instructions have them; then vectors of plain accesses do. Transposed
/// needs 16-bit elements.
Expected<MatrixAccess> matrixAccess(const Layout &tile, const Layout &shared, int elemBytes);

} // namespace tilegym::layout
