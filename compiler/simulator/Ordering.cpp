// SPDX-License-Identifier: MIT
// Release and acquire through words of memory.
#include "compiler/simulator/Ordering.h"
#include "compiler/simulator/Machine.h"

namespace tilegym::sim {

void fence(Thread &thread) {
  thread.seen.acquire(thread);
  thread.seen.clear();
  thread.fenced.clear();
  thread.fenced.release(thread);
}

void atomicAccess(Thread &thread, uint64_t address, uint32_t bytes, Touch touch, Ordering order,
                  const Site *site) {
  Machine &machine = *thread.machine;
  // A loop that polls one word must let others run; the rest of the atomics do so now and then.
  if (thread.lastPoll == address || machine.random(8) == 0)
    yield();
  thread.lastPoll = address;
  machine.access(thread, address, bytes, touch, bytes, site);
  machine.noteTraffic(thread, address, bytes, writes(touch), site);
  if (reads(touch))
    if (SyncClock *clock = machine.findLocationClock(address)) {
      if (acquires(order))
        clock->acquire(thread);
      else
        thread.seen.merge(*clock);
    }
  if (!writes(touch))
    return;
  // A plain atomic store starts anew; an update goes on with what it found.
  if (touch == Touch::AtomicWrite)
    if (SyncClock *clock = machine.findLocationClock(address))
      clock->clear();
  if (releases(order))
    machine.locationClock(address).release(thread);
  else if (!thread.fenced.empty())
    machine.locationClock(address).merge(thread.fenced);
}

} // namespace tilegym::sim
