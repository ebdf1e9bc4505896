// SPDX-License-Identifier: MIT
// Counts what the lanes of a warp cost the memory system together: shared wavefronts (bank conflicts) and global sectors (coalescing).
#pragma once
#include "compiler/simulator/Report.h"
#include "compiler/simulator/Thread.h"
#include <deque>
#include <unordered_map>

namespace tilegym::sim {

/// Lanes run one after another, so the n-th time that each lane comes to an access is taken for one request of its warp.
class TrafficCounter {
public:
  void note(const Thread &thread, uint64_t address, uint32_t bytes, bool isWrite, const Site *site);
  /// The warp ends: what its lanes left open is counted.
  void finish(const Warp &warp);
  std::vector<Traffic> take();

private:
  struct Request {
    uint32_t lanes = 0;
    std::array<uint64_t, 32> addresses{};
    uint32_t bytes = 0;
  };
  struct Stream {
    std::deque<Request> open; ///< requests that not every lane has reached; the first is number `done`
    uint64_t done = 0;
    std::array<uint64_t, 32> reached{};
    bool isWrite = false;
  };
  void count(const Site *site, const Request &request, bool isWrite);

  std::unordered_map<const Warp *, std::unordered_map<const Site *, Stream>> streams;
  std::unordered_map<const Site *, Traffic> totals;
};

/// Cycles in which shared memory serves such a request: at most 128 bytes each, each of 32 banks one 4-byte word. Wider accesses go a
/// half or quarter warp at a time.
unsigned sharedWavefronts(uint32_t lanes, const std::array<uint64_t, 32> &addresses, uint32_t bytes);
/// 32-byte pieces of global memory that it touches.
unsigned globalSectors(uint32_t lanes, const std::array<uint64_t, 32> &addresses, uint32_t bytes);

} // namespace tilegym::sim
