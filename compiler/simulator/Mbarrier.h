// SPDX-License-Identifier: MIT
// mbarriers: barriers in shared memory that count arrivals of threads and bytes of copies. The 8 bytes in memory only say that one is there; its
// state is the block's.
#pragma once
#include "compiler/simulator/Machine.h"
#include <array>
#include <map>

namespace tilegym::sim {

struct Mbarrier {
  static constexpr uint32_t maxCount = (1u << 20) - 1; ///< of arrivals and of bytes

  uint64_t address = 0;
  uint64_t generation = 0; ///< which of those made in its block
  Block *block = nullptr;
  uint32_t expected = 0;    ///< arrivals of each phase
  uint32_t pending = 0;     ///< still to come in this one
  int64_t transactions = 0; ///< bytes announced and not yet there
  uint64_t phase = 0;       ///< the current one, which is not complete
  /// Its initialiser fenced: copies may signal it.
  bool published = false;
  const Site *initSite = nullptr;
  Epoch initialised;
  SyncClock current, completed; ///< of this phase and the one before

  /// Who arrived in a phase and who saw its end, for the latest phases: a thread that knows of all the former, or of one of the latter, knows that
  /// the phase is complete.
  struct History {
    std::vector<Epoch> arrivals, witnesses;
  };
  static constexpr uint64_t kept = 4;
  std::array<History, kept> history;
  int64_t seenByOwner = -1;  ///< the latest phase that a thread of its own block saw complete
  int64_t latestRemote = -1; ///< the latest phase that another block arrived in
  const Site *remoteSite = nullptr;
  WaitList waiting;

  /// "mbarrier at 0x1400 (phase 3, parity 1: 1 of 2 arrivals, 4096 bytes to come)".
  std::string describe() const;
};

/// How an arrival or a wait orders memory.
struct MbarrierOrder {
  bool relaxed = false;
  bool clusterScope = false;
};

Mbarrier &initMbarrier(Thread &thread, uint64_t address, uint32_t count, const Site *site);
void invalidateMbarrier(Thread &thread, uint64_t address, const Site *site);
/// The mbarrier at an address of any block of the cluster; a launch ends where there is none.
Mbarrier &findMbarrier(Agent &agent, uint64_t address, const Site *site);

/// `bytes` more to come in this phase, then `count` arrivals (0: none). The state is that of the phase which it arrived in.
uint64_t arriveAtMbarrier(Thread &thread, uint64_t address, uint32_t count, uint32_t bytes,
                          MbarrierOrder order, const Site *site);
/// Bytes of a copy are there; what the agent did is released.
void completeTransactions(Agent &agent, uint64_t address, uint32_t bytes, const Site *site);
/// Arrival by an operation, for cp.async.
void arriveFor(Agent &agent, Mbarrier &barrier, uint32_t count, const Site *site);
/// One more arrival is expected, in this phase only.
void expectOneMore(Thread &thread, uint64_t address, const Site *site);

/// Which phase a wait is for: by parity, or by the state of an arrival.
struct PhaseName {
  uint64_t value = 0;
  bool isState = false;
};
/// Whether the phase is complete. `suspends`: waits for it (or, now and then, gives up as the hardware may).
bool testMbarrier(Thread &thread, uint64_t address, PhaseName name, bool suspends, MbarrierOrder order,
                  const Site *site);

/// fence_mbarrier_init, and every fence that hands shared memory to the async proxy: barriers that the thread initialised are published.
void publishMbarriers(Thread &thread);

} // namespace tilegym::sim
