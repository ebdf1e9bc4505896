// SPDX-License-Identifier: MIT
// Commit and wait.
#include "compiler/simulator/AsyncGroups.h"

#include "compiler/simulator/Handover.h"

namespace tilegym::sim {

std::shared_ptr<AsyncGroup> AsyncGroups::join(const Site *site) {
  if (!open)
    open = std::make_shared<AsyncGroup>();
  open->site = site;
  open->isReadWaited = false;
  ++open->running;
  ++open->unread;
  return open;
}

void AsyncGroups::sourceRead(AsyncOp &op, AsyncGroup &group) {
  group.read.release(op);
  op.holdsBlock = false;
  if (--group.unread == 0)
    waiting.wakeAll();
}

void AsyncGroups::finished(AsyncOp &op, AsyncGroup &group) {
  group.done.release(op);
  if (--group.running == 0)
    waiting.wakeAll();
}

void AsyncGroups::commit() { committed.push_back(open ? std::move(open) : std::make_shared<AsyncGroup>()); }

std::string AsyncGroups::describe(const void *object, uint64_t detail) {
  return std::to_string(static_cast<const AsyncGroups *>(object)->committed.size()) +
         " groups of copies to fall to " + std::to_string(detail);
}

void AsyncGroups::wait(size_t pending, bool read, const Site *site) {
  Thread &thread = current();
  for (size_t i = 0; i + pending < committed.size(); ++i) {
    std::shared_ptr<AsyncGroup> group = committed[i];
    while (read ? group->unread : group->running)
      waiting.wait({site, describe, this, pending});
    SyncClock &clock = read ? group->read : group->done;
    clock.acquire(thread);
    handover(thread).merge(clock);
    group->isReadWaited = true;
  }
  retire(pending, !read);
  if (!read) {
    retired.acquire(thread);
    handover(thread).merge(retired);
    retired.clear();
  }
}

void AsyncGroups::retire(size_t pending, bool all) {
  while (committed.size() > pending && (all || committed.front()->running == 0)) {
    retired.merge(committed.front()->done);
    committed.pop_front();
  }
}

void AsyncGroups::handOver() {
  for (const auto &group : committed)
    group->isReadWaited = true;
  if (open)
    open->isReadWaited = true;
}

const Site *AsyncGroups::unwaited() const {
  for (const auto &group : committed)
    if (!group->isReadWaited && group->site)
      return group->site;
  return open && !open->isReadWaited ? open->site : nullptr;
}

} // namespace tilegym::sim
