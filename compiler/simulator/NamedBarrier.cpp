// SPDX-License-Identifier: MIT
// bar.sync and bar.arrive.
#include "compiler/simulator/NamedBarrier.h"
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/Machine.h"

namespace tilegym::sim {
namespace {

std::string describeBarrier(const void *object, uint64_t) {
  auto &barrier = *static_cast<const NamedBarrier *>(object);
  return "barrier " + std::to_string(barrier.id) + ", where " + std::to_string(barrier.arrived) + " of " +
         std::to_string(barrier.expected) + " threads arrived";
}

[[noreturn]] void misuse(const Thread &thread, const Site *site, const std::string &text) {
  thread.machine->stop(fault(FindingKind::BarrierMisuse, thread, site, text));
}

} // namespace

void arriveAtBarrier(uint32_t id, uint32_t threads, bool sync, const Site *site) {
  Thread &thread = current();
  Block &block = *thread.block;
  uint32_t inBlock = uint32_t(block.threads.size());
  if (id >= BarrierTable::count)
    misuse(thread, site, "arrives at barrier " + std::to_string(id) + "; a block has 16, 0 to 15");
  if (threads % 32 || threads > inBlock)
    misuse(thread, site,
           "arrives at barrier " + std::to_string(id) + " of " + std::to_string(threads) +
               " threads; a number of whole warps of the block's " + std::to_string(inBlock) +
               " is expected");
  NamedBarrier &barrier = block.barriers->barriers[id];
  uint32_t expected = threads ? threads : inBlock;
  if (barrier.arrived == 0) {
    barrier.id = id;
    barrier.expected = expected;
    barrier.sites.assign(block.warps.size(), nullptr);
  } else if (barrier.expected != expected) {
    misuse(thread, site,
           "arrives at barrier " + std::to_string(id) + " of " + std::to_string(expected) +
               " threads, at which others arrived with " + std::to_string(barrier.expected));
  }
  const Site *&place = barrier.sites[thread.warp->index];
  if (place && place != site) {
    Finding finding = fault(FindingKind::Divergence, thread, site,
                            "arrives at barrier " + std::to_string(id) +
                                ", at which lanes of its warp arrived elsewhere (" + sim::place(place) + ")");
    finding.other = place;
    thread.machine->report(std::move(finding));
  }
  place = site;
  barrier.clocks.release(thread);
  if (++barrier.arrived < barrier.expected) {
    if (sync)
      barrier.waiting.wait({.site = site, .describe = describeBarrier, .object = &barrier});
    return;
  }
  for (Thread *waiter : barrier.waiting.all())
    barrier.clocks.acquire(*waiter);
  if (sync)
    barrier.clocks.acquire(thread);
  barrier.clocks.clear();
  barrier.arrived = 0;
  ++barrier.phase;
  barrier.waiting.wakeAll();
  thread.machine->progress();
}

namespace {

/// The whole block.
void barrier(const uint64_t *, uint64_t *, const Site *site) { arriveAtBarrier(0, 0, true, site); }

enum Attribute { Kind, Threads };

void namedBarrier(const uint64_t *operands, uint64_t *, const Site *site) {
  bool sync = site->attributes[Kind] == 0; // the other kind only arrives
  arriveAtBarrier(uint32_t(operands[0]), uint32_t(site->attributes[Threads]), sync, site);
}

constexpr Row rows[] = {{"barrier", barrier}, {"named_barrier", namedBarrier}};

} // namespace

std::span<const Row> barrierInstructions() { return rows; }

} // namespace tilegym::sim
