// SPDX-License-Identifier: MIT
// Registers of warpgroups, and grids that depend on grids.
#include "compiler/simulator/Collective.h"
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/Machine.h"

namespace tilegym::sim {

namespace {

constexpr int64_t registersOfBlock = 65536, threadsOfWarpgroup = 128;

/// Registers a thread of each warpgroup asked for; 0 before that.
struct RegisterPool {
  std::array<int64_t, 8> asked{};
};

void setMaxRegisters(Meeting &meeting) {
  Thread &thread = *meeting.threads[0];
  int64_t count = meeting.site->attributes[1];
  if (count % 8 || count < 24 || count > 256)
    thread.machine->stop(fault(FindingKind::BadOperand, thread, meeting.site,
                               "sets " + std::to_string(count) +
                                   " registers a thread; a multiple of 8 from 24 to 256 is allowed"));
  auto &pool = thread.block->family.get<RegisterPool>();
  pool.asked[thread.warp->index / 4] = count;
  int64_t sum = 0;
  for (int64_t asked : pool.asked)
    sum += asked * threadsOfWarpgroup;
  // Warpgroups that have not asked yet have registers as well; their number is the assembler's.
  if (sum > registersOfBlock)
    thread.machine->stop(fault(FindingKind::Deadlock, thread, meeting.site,
                               "waits for registers that never come: the block's warpgroups ask for " +
                                   std::to_string(sum) + " in all, of " + std::to_string(registersOfBlock)));
}

void setMaxRegistersOf(const uint64_t *operands, uint64_t *results, const Site *site) {
  meetWarpgroup(operands, results, site, setMaxRegisters);
}

/// Launches follow one another: what a grid depends on has ended.
void gridDependency(const uint64_t *, uint64_t *, const Site *) {}

constexpr Row rows[] = {{"set_max_registers", setMaxRegistersOf},
                        {"grid_dependency_wait", gridDependency},
                        {"grid_launch_dependents", gridDependency}};

} // namespace

std::span<const Row> launchInstructions() { return rows; }

} // namespace tilegym::sim
