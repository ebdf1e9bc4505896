// SPDX-License-Identifier: MIT
// How atomics and fences order memory. Scopes are not told apart: every ordering holds for the whole device.
#pragma once
#include "compiler/simulator/Shadow.h"
#include "compiler/simulator/Thread.h"

namespace tilegym::sim {

/// Numbered as the dialect numbers them.
enum class Ordering : uint8_t { Relaxed, Acquire, Release, AcqRel, Sc };
inline bool acquires(Ordering order) { return order != Ordering::Relaxed && order != Ordering::Release; }
inline bool releases(Ordering order) { return order >= Ordering::Release; }

/// fence.acq_rel: what the thread's atomics read before happens before what follows, and what happened before is handed over by its atomic
/// writes after it.
void fence(Thread &thread);

/// An atomic access of the thread to a word, to be called just before it is made: checks it, lets others run now and then, and takes and
/// hands over clocks as the order says.
void atomicAccess(Thread &thread, uint64_t address, uint32_t bytes, Touch touch, Ordering order,
                  const Site *site);

} // namespace tilegym::sim
