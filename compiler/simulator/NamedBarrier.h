// SPDX-License-Identifier: MIT
// The 16 named barriers of a block (`bar.sync`, `bar.arrive`).
#pragma once
#include "compiler/simulator/Thread.h"

namespace tilegym::sim {

/// One barrier: `expected` threads arrive, of which those that sync wait. Everything before an arrival happens before what follows a sync.
struct NamedBarrier {
  uint32_t id = 0, expected = 0, arrived = 0;
  uint64_t phase = 0;
  SyncClock clocks;
  WaitList waiting;
  std::vector<const Site *> sites; ///< by warp: where its lanes arrived in this phase
};

class BarrierTable {
public:
  static constexpr unsigned count = 16;
  NamedBarrier barriers[count];
};

/// The current thread arrives, and waits if `sync`. `threads` is the number that take part, 0 for the whole block.
void arriveAtBarrier(uint32_t id, uint32_t threads, bool sync, const Site *site);

} // namespace tilegym::sim
