// SPDX-License-Identifier: MIT
// How to bring a tile from one layout to another, cheapest way first: renaming registers, shuffles within a
// warp, shared memory. A plan is data: the registers, lanes and offsets that the code needs.
#pragma once

#include "compiler/layout/Layout.h"

namespace tilegym::layout {

enum class ConvertKind { Registers, Shuffle, Shared };

/// A number that depends linearly on the lane: base, XOR a mask for each set bit of the lane.
struct LaneValue {
  int64_t base = 0;
  std::array<int64_t, laneBits> masks{};

  int64_t at(int64_t lane) const;
  bool isUniform() const { return masks == std::array<int64_t, laneBits>{}; }
};

/// Every lane l does: destination register receive(l) = source register send(m) of lane m = source(l). Where
/// `send` is not uniform, a lane first selects what it sends by its own number; `receive` likewise after.
struct ShuffleStep {
  LaneValue send;
  LaneValue source;
  LaneValue receive;

  /// The x with source(l) = l ^ x, if there is one: a butterfly; 0 means that nothing leaves its lane.
  std::optional<int64_t> laneXor() const;
};

/// One vector access of a thread.
struct SharedAccess {
  std::vector<int64_t> registers; // in order of the address
  int64_t offset;                 // elements, of thread 0
};

/// One side of a trip through shared memory. A thread's offset is that of the access XOR the masks of its set
/// lane and warp bits.
struct SharedSide {
  int width = 1; // elements of an access
  std::vector<int64_t> laneMasks, warpMasks;
  std::vector<std::vector<SharedAccess>> passes;
  int wavefronts = 1; // of one access of a warp, conflicts included

  int64_t offset(const SharedAccess &access, int64_t lane, int64_t warp) const;
};

/// For each pass: store, barrier, load; between passes another barrier. Passes cover one unit tile each and
/// may use one buffer after another, or with `numElements` * passes in hand, all at once.
struct SharedPlan {
  SharedSide store, load;
  int64_t numElements = 0; // of a pass's buffer
  int64_t sizeBytes = 0;   // of a pass's buffer
  /// Only threads whose index has none of these bits need to store: the others hold copies.
  Vec copyLaneBits = 0, copyWarpBits = 0;
};

struct ConvertPlan {
  ConvertKind kind = ConvertKind::Registers;
  /// Registers: for each register of the destination, the source register to take, in the same thread.
  std::vector<int64_t> registers;
  std::vector<ShuffleStep> shuffles;
  SharedPlan shared;

  bool isIdentity() const;
};

/// Whether each block of a cluster holds in `from` all that it is to hold in `to`.
bool staysInBlocks(const Layout &from, const Layout &to);

/// Both must describe the same shape on the same numbers of warps and blocks, with the whole power-of-two
/// part as unit tile (what the builders of register layouts and all of Transform.h give). Data never moves
/// between blocks.
Expected<ConvertPlan> planConversion(const Layout &from, const Layout &to, int elemBytes);

/// The same by shared memory even where shuffles would do.
Expected<SharedPlan> planShared(const Layout &from, const Layout &to, int elemBytes);

} // namespace tilegym::layout
