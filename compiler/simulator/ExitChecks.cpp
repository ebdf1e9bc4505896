// SPDX-License-Identifier: MIT
// The ends of threads and blocks.
#include "compiler/simulator/ExitChecks.h"

#include "compiler/simulator/Machine.h"

#include <map>

namespace tilegym::sim {

namespace {

struct Ends {
  struct Access {
    Epoch epoch;
    const Site *site;
    std::string who;
  };
  std::map<uint64_t, Access> remote; ///< the latest of each agent
  Released ended;                    ///< what the block's ended threads knew
};

/// Only another block of its cluster can touch a block's memory.
bool isReachable(const Block &block) { return block.machine->config().cluster.count() > 1; }

} // namespace

void noteRemoteAccess(Block &owner, const Agent &agent, const Site *site) {
  auto &latest = owner.family.get<Ends>().remote[agent.clock.epoch().agent()];
  if (latest.epoch != agent.clock.epoch())
    latest = {agent.clock.epoch(), site, agent.describe()};
}

void checkThreadAtExit(Thread &thread) {
  if (isReachable(*thread.block))
    thread.block->family.get<Ends>().ended.add(thread.clock);
  leaveClusterBarrier(thread);
  checkBulkGroupsAtExit(thread);
  checkCopiesAtExit(thread);
  checkWgmmasAtExit(thread);
}

void checkBlockAtExit(Block &block) {
  checkMbarriersAtExit(block);
  if (!isReachable(block))
    return;
  auto &ends = block.family.get<Ends>();
  const Known &known = ends.ended.settle();
  for (auto &[agent, access] : ends.remote)
    if (!known || !known->covers(access.epoch))
      block.machine->report({.kind = FindingKind::PendingAtExit,
                             .text = "block " + std::to_string(block.index) + " ends while " + access.who +
                                     " may still touch its shared memory (" + place(access.site) +
                                     "): a cluster barrier, or a wait for it, must come first",
                             .site = access.site,
                             .block = block.index});
}

} // namespace tilegym::sim
