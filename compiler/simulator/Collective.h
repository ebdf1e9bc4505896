// SPDX-License-Identifier: MIT
// Instructions that the lanes of a warp, or the threads of a warpgroup, carry out together. Each deposits its operands and waits; the
// last to arrive computes for all. Coming to another instruction while the others wait, or having exited, is a finding.
#pragma once
#include "compiler/simulator/Report.h"
#include "compiler/simulator/Thread.h"
#include <array>

namespace tilegym::sim {

/// A collective in progress. `operands[i]` and `results[i]` are lane i's own arrays (on its stack), null where it takes no part.
class Meeting {
public:
  const Site *site = nullptr;                    ///< null: not in use
  Warp *warp = nullptr;                          ///< the first one, for a warpgroup
  uint32_t width = 32;                           ///< 32, or 128
  std::array<uint32_t, 4> expected{}, arrived{}; ///< masks, by warp
  uint32_t missing = 0;                          ///< how many have not arrived
  std::array<const uint64_t *, 128> operands{};
  std::array<uint64_t *, 128> results{};
  std::array<Thread *, 128> threads{};

  bool expects(const Thread &thread) const;
  /// Who has come: "lanes 0-30 of warp 2 (block 0)".
  std::string whoArrived() const;
};

/// The finding that a thread which exits leaves others waiting for it in a collective; without text where it does not.
Finding leftAlone(const Thread &thread);

using Compute = void (*)(Meeting &meeting);

/// All lanes of `mask` (those that exist) meet; `compute` runs once, on the last to arrive, and fills every lane's results. It may call
/// access(), report() and stop(), and must not suspend. Gives memory no order: add that through SyncClock where the PTX ISA does.
void meetWarp(uint32_t mask, const uint64_t *operands, uint64_t *results, const Site *site, Compute compute);
/// The same for the 128 threads of the current thread's warpgroup.
void meetWarpgroup(const uint64_t *operands, uint64_t *results, const Site *site, Compute compute);

} // namespace tilegym::sim
