// SPDX-License-Identifier: MIT
// Groups of a thread's asynchronous operations: those issued between two commits. A wait names how many of the youngest may go on.
#pragma once
#include "compiler/simulator/Engine.h"
#include <deque>
#include <memory>

namespace tilegym::sim {

struct AsyncGroup {
  const Site *site = nullptr; ///< its latest operation's
  uint32_t running = 0;       ///< operations that are not done
  uint32_t unread = 0;        ///< of those, whose sources may still be read
  bool isReadWaited = false;  ///< somebody waited for that
  SyncClock done, read;
};

/// One thread's groups of one kind of operations. An operation calls `sourceRead` and `finished` once each, in that order.
class AsyncGroups {
public:
  /// The group that an operation issued now belongs to; it counts as running.
  std::shared_ptr<AsyncGroup> join(const Site *site);
  void sourceRead(AsyncOp &op, AsyncGroup &group);
  void finished(AsyncOp &op, AsyncGroup &group);
  void commit();
  /// Suspends the current thread until all but the `pending` youngest groups are done (`read`: their sources read), and orders that before what follows.
  void wait(size_t pending, bool read, const Site *site);
  /// An mbarrier tells of the end of all operations so far: nobody need wait for the groups.
  void handOver();
  /// The latest operation of a group whose source nobody waited for, committed or not; null where there is none.
  const Site *unwaited() const;

private:
  static std::string describe(const void *object, uint64_t detail);
  void retire(size_t pending, bool all);
  std::shared_ptr<AsyncGroup> open;
  std::deque<std::shared_ptr<AsyncGroup>> committed; ///< oldest first
  SyncClock retired; ///< of groups that are done and forgotten, though only their sources were waited for
  WaitList waiting;
};

} // namespace tilegym::sim
