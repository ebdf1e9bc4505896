// SPDX-License-Identifier: MIT
// Release and acquire through words of memory.
#include "compiler/simulator/Ordering.h"
#include "compiler/simulator/Machine.h"

namespace tilegym::sim {
namespace {

/// Of a thread, by scope, the block's and then the device's: what the last fence hands over to atomic writes after it, and what atomic
/// reads saw and the next fence will order.
struct Fences {
  std::array<SyncClock, 2> fenced, seen;
};

void takeIn(Thread &thread, SyncClock &clock, bool acquires, size_t level) {
  if (acquires)
    clock.acquire(thread);
  else
    thread.family.get<Fences>().seen[level].merge(clock);
}

void handOut(Thread &thread, SyncClock &clock, bool releases, size_t level) {
  if (releases)
    clock.release(thread);
  else
    clock.merge(thread.family.get<Fences>().fenced[level]);
}

bool hasFenced(const Thread &thread) {
  const Fences *fences = thread.family.find<Fences>();
  return fences && !fences->fenced[0].empty();
}

} // namespace

void fence(Thread &thread, Scope scope) {
  size_t levels = scope == Scope::Cta ? 1 : 2;
  auto &fences = thread.family.get<Fences>();
  for (size_t level = 0; level < levels; ++level) {
    fences.seen[level].acquire(thread);
    fences.seen[level].clear();
  }
  for (size_t level = 0; level < levels; ++level) {
    fences.fenced[level].clear();
    fences.fenced[level].release(thread);
  }
}

void atomicAccess(Thread &thread, uint64_t address, uint32_t bytes, Touch touch, Ordering order, Scope scope,
                  const Site *site) {
  Machine &machine = *thread.machine;
  // A loop that polls one word must let others run; the rest of the atomics do so now and then.
  if (thread.lastPoll == address || machine.random(8) == 0)
    yield();
  thread.lastPoll = address;
  machine.access(thread, address, bytes, touch, bytes, site);
  machine.noteTraffic(thread, address, bytes, writes(touch), site);
  bool isWide = scope != Scope::Cta;
  uint32_t block = thread.block->index;
  LocationClock *clock = machine.findLocationClock(address);
  if (clock && reads(touch)) {
    if (auto own = clock->blocks.find(block); own != clock->blocks.end())
      takeIn(thread, own->second, acquires(order), 0);
    if (isWide)
      takeIn(thread, clock->device, acquires(order), 1);
  }
  if (!writes(touch))
    return;
  // A plain atomic store starts anew; an update goes on with what it found.
  if (clock && touch == Touch::AtomicWrite) {
    clock->device.clear();
    clock->blocks.clear();
  }
  if (!releases(order) && !hasFenced(thread))
    return;
  clock = &machine.locationClock(address);
  handOut(thread, clock->blocks[block], releases(order), 0);
  if (isWide)
    handOut(thread, clock->device, releases(order), 1);
}

} // namespace tilegym::sim
