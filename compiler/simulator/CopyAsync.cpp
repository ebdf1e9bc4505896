// SPDX-License-Identifier: MIT
// cp.async: each thread's small copies, by the generic proxy, with their groups and their arrivals at mbarriers.
#include "compiler/simulator/AsyncGroups.h"
#include "compiler/simulator/ExitChecks.h"
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/Mbarrier.h"
#include "compiler/simulator/Operands.h"

#include <array>
#include <cstring>

namespace tilegym::sim {

namespace {

/// An arrival that comes when the copies before it are done.
struct DeferredArrival {
  uint64_t barrier;
  uint32_t copies;
  SyncClock clocks;
  const Site *site;
};

struct ThreadCopies {
  using Arrivals = std::vector<std::shared_ptr<DeferredArrival>>;
  AsyncGroups groups;
  std::vector<std::shared_ptr<Arrivals>> running; ///< of each copy that is not done: who waits for it
  SyncClock done;
};
ThreadCopies &copiesOf(Thread &thread) { return thread.family.get<ThreadCopies>(); }

void arriveDeferred(Agent &agent, DeferredArrival &arrival) {
  Mbarrier &barrier = findMbarrier(agent, arrival.barrier, arrival.site);
  barrier.current.merge(arrival.clocks);
  arriveFor(agent, barrier, 1, arrival.site);
}

void finishCopy(AsyncOp &op, ThreadCopies &copies, AsyncGroup &group,
                const std::shared_ptr<ThreadCopies::Arrivals> &arrivals) {
  copies.groups.sourceRead(op, group);
  copies.groups.finished(op, group);
  copies.done.release(op);
  for (const auto &arrival : *arrivals) {
    arrival->clocks.release(op);
    if (--arrival->copies == 0)
      arriveDeferred(op, *arrival);
  }
  std::erase(copies.running, arrivals);
}

void copyAsync(const uint64_t *operands, uint64_t *, const Site *site) {
  Operands in(operands, site, 4, 2);
  if (!in.holds(3))
    return;
  Thread &thread = current();
  auto bytes = uint32_t(site->attributes[0]);
  uint64_t to = in[0], from = in[1], count = in.get(2, bytes);
  if (count > bytes)
    thread.machine->stop(fault(FindingKind::BadOperand, thread, site,
                               "copies from " + std::to_string(count) + " bytes; at most " +
                                   std::to_string(bytes) + ", the copy's size, are allowed"));
  if (from % bytes || to % bytes)
    thread.machine->stop(fault(FindingKind::Misaligned, thread, site,
                               "copies " + std::to_string(bytes) +
                                   " bytes between addresses that are not both multiples of that"));
  ThreadCopies &copies = copiesOf(thread);
  auto group = copies.groups.join(site);
  auto arrivals = std::make_shared<ThreadCopies::Arrivals>();
  copies.running.push_back(arrivals);
  AsyncOp &op = thread.machine->engine().issue(thread, site, "cp.async", false);
  auto data = std::make_shared<std::array<std::byte, 16>>();
  op.steps = {[=](AsyncOp &self) {
                if (count)
                  self.read(from, data->data(), count);
              },
              [=, &copies](AsyncOp &self) {
                self.write(to, data->data(), bytes, bytes);
                finishCopy(self, copies, *group, arrivals);
              }};
}

void commit(const uint64_t *, uint64_t *, const Site *) { copiesOf(current()).groups.commit(); }

void wait(const uint64_t *, uint64_t *, const Site *site) {
  copiesOf(current()).groups.wait(size_t(site->attributes[0]), false, site);
}

void arrive(const uint64_t *operands, uint64_t *, const Site *site) {
  Thread &thread = current();
  ThreadCopies &copies = copiesOf(thread);
  bool isPlanned = site->attributes[0] != 0; // noinc: one of the arrivals that the barrier expects
  findMbarrier(thread, operands[0], site);
  thread.machine->access(thread, operands[0], 8, Touch::Update, 8, site);
  if (!isPlanned)
    expectOneMore(thread, operands[0], site);
  auto arrival = std::make_shared<DeferredArrival>(
      DeferredArrival{operands[0], uint32_t(copies.running.size()), copies.done, site});
  for (const auto &running : copies.running)
    running->push_back(arrival);
  copies.groups.handOver();
  if (copies.running.empty())
    arriveDeferred(thread, *arrival);
}

constexpr Row rows[] = {{"copy_async", copyAsync},
                        {"copy_async_commit", commit},
                        {"copy_async_wait", wait},
                        {"copy_async_arrive", arrive}};

} // namespace

void checkCopiesAtExit(Thread &thread) {
  const ThreadCopies *copies = thread.family.find<ThreadCopies>();
  if (const Site *copy = copies ? copies->groups.unwaited() : nullptr)
    thread.machine->report(fault(FindingKind::PendingAtExit, thread, copy,
                                 "ends without having waited for its copies: its block's memory may be "
                                 "another's when they come; copy_async_wait 0 must come first"));
}

std::span<const Row> copyAsyncInstructions() { return rows; }

} // namespace tilegym::sim
