// SPDX-License-Identifier: MIT
// How atomics and fences order memory, for the block or for the device: cluster scope counts as the device's.
#pragma once
#include "compiler/simulator/Shadow.h"
#include "compiler/simulator/Thread.h"
#include <map>

namespace tilegym::sim {

/// Numbered as the dialect numbers them.
enum class Ordering : uint8_t { Relaxed, Acquire, Release, AcqRel, Sc };
inline bool acquires(Ordering order) { return order != Ordering::Relaxed && order != Ordering::Release; }
inline bool releases(Ordering order) { return order >= Ordering::Release; }

/// Numbered as the dialect numbers them.
enum class Scope : uint8_t { Cta, Cluster, Gpu, System };

/// Numbered as the dialect numbers them: what a fence_proxy_async is for.
enum class ProxySpace : uint8_t { All, Global, SharedCta, SharedCluster };

/// What was released into a word: for the device, and for each block that a release came from, all of it.
struct LocationClock {
  SyncClock device;
  std::map<uint32_t, SyncClock> blocks; ///< by number
};

/// fence.acq_rel: what the thread's atomics read before happens before what follows, and what happened before is handed over by its atomic
/// writes after it.
void fence(Thread &thread, Scope scope = Scope::Gpu);

/// An atomic access of the thread to a word, to be called just before it is made: checks it, lets others run now and then, and takes and
/// hands over clocks as the order says.
void atomicAccess(Thread &thread, uint64_t address, uint32_t bytes, Touch touch, Ordering order, Scope scope,
                  const Site *site);

} // namespace tilegym::sim
