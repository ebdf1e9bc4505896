// SPDX-License-Identifier: MIT
// Blocks of a cluster: who they are, their barrier, and stores into each other's shared memory that signal an mbarrier.
#include "compiler/simulator/Engine.h"
#include "compiler/simulator/ExitChecks.h"
#include "compiler/simulator/Handover.h"
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/Mbarrier.h"
#include "compiler/simulator/Operands.h"

#include <array>
#include <cstring>

namespace tilegym::sim {

namespace {

struct ClusterBarrier {
  uint64_t phase = 0; ///< the current one
  uint32_t arrived = 0, exited = 0, expected = 0;
  SyncClock current, completed;
  WaitList waiting;
};
ClusterBarrier &barrierOf(Cluster &cluster) { return cluster.family.get<ClusterBarrier>(); }

/// A thread's part: it arrives, waits, and arrives again.
struct ClusterArrival {
  bool hasArrived = false;
  uint64_t phase = 0;
};

std::string describeWait(const void *object, uint64_t) {
  auto &barrier = *static_cast<const ClusterBarrier *>(object);
  return "the cluster's barrier, where " + std::to_string(barrier.arrived) + " of " +
         std::to_string(barrier.expected - barrier.exited) + " threads arrived";
}

void completeIfDone(ClusterBarrier &barrier) {
  if (barrier.arrived == 0 || barrier.arrived + barrier.exited < barrier.expected)
    return;
  ++barrier.phase;
  barrier.arrived = 0;
  barrier.completed.clear();
  barrier.completed.merge(barrier.current);
  barrier.current.clear();
  barrier.waiting.wakeAll();
}

[[noreturn]] void misuse(Thread &thread, const Site *site, std::string text) {
  thread.machine->stop(fault(FindingKind::BarrierMisuse, thread, site, std::move(text)));
}

void arrive(const uint64_t *, uint64_t *, const Site *site) {
  Thread &thread = current();
  ClusterBarrier &barrier = barrierOf(*thread.block->cluster);
  auto &arrival = thread.family.get<ClusterArrival>();
  if (arrival.hasArrived)
    misuse(thread, site, "arrives at the cluster's barrier twice; a wait must come between");
  arrival = {true, barrier.phase};
  barrier.expected =
      uint32_t(thread.machine->config().block.count() * thread.machine->config().cluster.count());
  if (site->attributes[0]) {
    SyncClock handed = handover(thread);
    barrier.current.merge(handed);
  } else {
    barrier.current.release(thread);
  }
  ++barrier.arrived;
  thread.machine->progress();
  completeIfDone(barrier);
}

void wait(const uint64_t *, uint64_t *, const Site *site) {
  Thread &thread = current();
  ClusterBarrier &barrier = barrierOf(*thread.block->cluster);
  auto &arrival = thread.family.get<ClusterArrival>();
  if (!arrival.hasArrived)
    misuse(thread, site, "waits at the cluster's barrier without having arrived there");
  while (barrier.phase == arrival.phase)
    barrier.waiting.wait({site, describeWait, &barrier, 0});
  arrival.hasArrived = false;
  barrier.completed.acquire(thread);
}

void rank(const uint64_t *, uint64_t *results, const Site *) { results[0] = current().block->rank; }

void size(const uint64_t *, uint64_t *results, const Site *) {
  results[0] = current().machine->config().cluster.count();
}

void mapSharedRank(const uint64_t *operands, uint64_t *results, const Site *site) {
  Thread &thread = current();
  uint64_t blocks = thread.machine->config().cluster.count(), wanted = uint32_t(operands[1]);
  if (wanted >= blocks)
    thread.machine->stop(fault(FindingKind::BadOperand, thread, site,
                               "maps an address to rank " + std::to_string(wanted) + " of a cluster of " +
                                   std::to_string(blocks) + " blocks"));
  results[0] = thread.block->cluster->windows->base() + (wanted << SharedWindows::rankShift) +
               (operands[0] & (SharedWindows::span - 1));
}

void storeAsync(const uint64_t *operands, uint64_t *, const Site *site) {
  Operands in(operands, site, 4, 0);
  if (!in.holds(3))
    return;
  Thread &thread = current();
  auto words = in.group(0);
  auto data = std::make_shared<std::array<uint64_t, 4>>();
  uint32_t size = Site::width(site->operandType(0)) / 8, bytes = size * uint32_t(words.size());
  for (size_t i = 0; i < words.size(); ++i)
    std::memcpy(reinterpret_cast<std::byte *>(data->data()) + i * size, &words[i], size);
  uint64_t to = in[1], barrier = in[2];
  findMbarrier(thread, barrier, site);
  if (thread.machine->windowOwner(to) != thread.machine->windowOwner(barrier))
    thread.machine->stop(
        fault(FindingKind::BadOperand, thread, site,
              "stores to one block and signals a barrier of another; both must be of the same one"));
  AsyncOp &op = thread.machine->engine().issue(thread, site, "st.async", false);
  op.steps = {[=](AsyncOp &self) {
    self.write(to, data->data(), bytes, bytes);
    completeTransactions(self, barrier, bytes, site);
  }};
}

constexpr Row rows[] = {
    {"cluster_rank", rank},     {"cluster_size", size}, {"map_shared_rank", mapSharedRank},
    {"cluster_arrive", arrive}, {"cluster_wait", wait}, {"store_async", storeAsync}};

} // namespace

void leaveClusterBarrier(Thread &thread) {
  ClusterBarrier &barrier = barrierOf(*thread.block->cluster);
  const ClusterArrival *arrival = thread.family.find<ClusterArrival>();
  // One that arrived and never waits has done its part in this phase, and is expected in none after it.
  if (arrival && arrival->hasArrived && arrival->phase == barrier.phase)
    --barrier.arrived;
  ++barrier.exited;
  completeIfDone(barrier);
}

std::span<const Row> clusterInstructions() { return rows; }

} // namespace tilegym::sim
