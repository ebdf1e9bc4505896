// SPDX-License-Identifier: MIT
// Where in shared memory each register of a thread goes, as arithmetic that a thread can do cheaply, and what
// it costs in bank conflicts.
#pragma once

#include "compiler/layout/Layout.h"

namespace tilegym::layout {

/// A part of an element offset: all `bits` are XORed, all `step`s added, and the two sums added.
struct OffsetPart {
  int64_t bits = 0;
  int64_t step = 0;
};

/// offset(reg, lane, warp) = XOR of the bits + sum of the steps, over reg's part and the parts of the index
/// bits that are set.
struct SharedAddresses {
  std::vector<OffsetPart> registers;
  std::vector<OffsetPart> laneBits;
  std::vector<OffsetPart> warpBits;

  int64_t offset(int64_t reg, int64_t lane, int64_t warp) const;
};

/// The element offset in `shared` of what each place of `tile` holds. Fails if `shared` lacks an element or
/// the offset is no such sum. Block bits must be nought: a cluster's blocks have shared memories of their
/// own.
Expected<SharedAddresses> sharedAddresses(const Layout &tile, const Layout &shared);

/// How many neighbours along `axis`, a power of two up to `most`, a shared layout has at neighbouring offsets: it is a multiple of that many
/// offsets in which they start.
int64_t contiguousRun(const Layout &shared, int axis, int64_t most);

/// Cycles of the shared-memory port that one instruction of a warp takes: lane i accesses `bytes` (a power of
/// two up to 16) at addresses[i]. 16-byte accesses go by quarter warps, 8-byte ones by halves; lanes that
/// want the same word share it.
int wavefronts(const std::vector<int64_t> &addresses, int bytes);
/// What it would take without conflicts.
int idealWavefronts(int bytes);

} // namespace tilegym::layout
