// SPDX-License-Identifier: MIT
// wgmma: a warpgroup's matrix products, which run while its threads go on.
//
// In hardware the accumulators are registers that change some time before the wait. Here the instruction's results are *handles*: NaNs that name
// the product and the register. The next wgmma that adds to them takes them and gives newer ones; the wait exchanges them for the values. So
// whatever touches accumulators too early computes with NaNs, and a handle that comes back changed, late or in another place is a finding.
#pragma once
#include "compiler/simulator/Engine.h"
#include "compiler/simulator/MatrixDescriptor.h"
#include "compiler/simulator/MatrixMultiply.h"
#include <deque>
#include <map>

namespace tilegym::sim {

/// What one instruction says, apart from its operands.
struct WgmmaShape {
  MatrixUnit unit;
  int n = 0, k = 0;
  Major majorA = Major::K, majorB = Major::K;
  bool negateA = false, negateB = false, hasRegistersA = false;

  /// Accumulator registers a thread.
  int registers() const { return unit.accumulator == AccumulatorType::F16 ? n / 4 : n / 2; }
};
/// Why hardware has no such instruction.
std::optional<std::string> wgmmaFault(const WgmmaShape &shape);

/// Accumulators of 128 threads, from their first product to the wait that gives them back.
struct WgmmaChain {
  uint64_t latest = 0;          ///< number of the newest product; its handles are the valid ones
  std::vector<uint32_t> values; ///< thread * registers + register
  int registers = 0;
  size_t returned = 0; ///< values that waits gave back
};

struct WgmmaProduct {
  uint64_t number = 0;
  uint64_t operation = 0; ///< of the engine
  const Site *site = nullptr;
  std::shared_ptr<WgmmaChain> chain;
  bool hasRegistersA = false, isDone = false;
  SyncClock clock; ///< its reads, and what comes before its issue where A is in registers
};

/// A warp's own view: all four commit and wait for themselves.
struct WgmmaWarp {
  std::deque<uint64_t> groups; ///< of each group that was not waited for: the number after its last product
  uint64_t committed = 0;      ///< the number after the last committed product
  uint64_t waited = 0;         ///< products before this number are over for this warp
  bool fencedSinceWait = false, fencedSinceCommit = false;
};

struct Warpgroup {
  uint64_t issued = 0;                                    ///< the number of the next product
  std::deque<std::shared_ptr<WgmmaProduct>> products;     ///< the latest, oldest first
  std::map<uint64_t, std::shared_ptr<WgmmaChain>> chains; ///< by the number of the latest product
  std::array<WgmmaWarp, 4> warps;
  WaitList waiting;
};
Warpgroup &warpgroupOf(Thread &thread);

/// The bits that stand for a register of a product: a signalling NaN as f32, a NaN in the upper half as f16.
constexpr uint32_t wgmmaHandle(uint64_t number, int reg) {
  return 0xFFA00000u | uint32_t(number & 0x3FFF) << 7 | uint32_t(reg);
}
constexpr bool looksLikeHandle(uint32_t bits) { return bits >> 21 == 0xFFA00000u >> 21; }

} // namespace tilegym::sim
