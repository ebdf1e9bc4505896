// SPDX-License-Identifier: MIT
// Waiting: a thread that cannot go on is suspended with a reason, and is woken by what it waits for. When nothing can run any more, the
// reasons of all who wait are the text of the deadlock.
#pragma once
#include "compiler/simulator/Site.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tilegym::sim {

struct Thread;

/// Why a thread waits. Threads with equal texts and sites are told of together.
struct WaitReason {
  const Site *site = nullptr;
  /// Says what is waited for, as it stands when it is asked: "barrier 3 (96 of 128 threads arrived)". Called with `object` and `detail`.
  std::string (*describe)(const void *object, uint64_t detail) = nullptr;
  const void *object = nullptr;
  uint64_t detail = 0; ///< a phase, a group count
};

/// Threads suspended on one object. Waking makes them runnable; they run when the scheduler picks them, so a waiter whose condition can
/// become false again must test it in a loop.
class WaitList {
public:
  /// Suspends the current thread until somebody wakes the list.
  void wait(const WaitReason &reason);
  void wakeAll();
  bool empty() const { return threads.empty(); }
  const std::vector<Thread *> &all() const { return threads; }
  size_t size() const { return threads.size(); }

private:
  std::vector<Thread *> threads;
};

/// Suspends the current thread until wake(thread). Prefer a WaitList.
void suspend(const WaitReason &reason);
void wake(Thread &thread);
/// Lets others run; the current thread stays runnable. What polls (a failed try_wait, an atomic in a loop) calls it each time.
void yield();

} // namespace tilegym::sim
