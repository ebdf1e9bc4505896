// SPDX-License-Identifier: MIT
// Which clusters are on the device: what a block starts with, and when its place is free again.
#include "compiler/simulator/Collective.h"
#include "compiler/simulator/Engine.h"
#include "compiler/simulator/NamedBarrier.h"
#include "compiler/simulator/Scheduler.h"
#include <algorithm>
#include <cstring>

namespace tilegym::sim {
namespace {

Dim3 positionOf(uint64_t index, Dim3 extent) {
  return {uint32_t(index % extent.x), uint32_t(index / extent.x % extent.y),
          uint32_t(index / extent.x / extent.y)};
}

} // namespace

void Scheduler::startBlock(Cluster &cluster, uint32_t rank) {
  const LaunchConfig &config = machine.config();
  auto made = std::make_unique<Block>();
  Block &block = *made;
  block.machine = &machine;
  block.cluster = &cluster;
  block.rank = rank;
  Dim3 clusters{config.grid.x / config.cluster.x, config.grid.y / config.cluster.y,
                config.grid.z / config.cluster.z};
  Dim3 at = positionOf(cluster.index, clusters), within = positionOf(rank, config.cluster);
  block.position = {at.x * config.cluster.x + within.x, at.y * config.cluster.y + within.y,
                    at.z * config.cluster.z + within.z};
  block.index = (block.position.z * config.grid.y + block.position.y) * config.grid.x + block.position.x;
  block.window = cluster.windows->base() + (uint64_t(rank) << SharedWindows::rankShift);
  block.sharedStart = block.window + SharedWindows::dynamicStart;
  block.sharedBytes = config.sharedBytes;
  std::memset(reinterpret_cast<void *>(block.sharedStart), poisonByte, block.sharedBytes);
  block.shadow.resize((SharedWindows::dynamicStart + block.sharedBytes) / ShadowPage::size + 1);
  block.slotCounts.assign(asyncSlots, 0);
  block.barriers = std::make_unique<BarrierTable>();
  machine.windows[block.window >> SharedWindows::rankShift] = &block;
  uint32_t threads = uint32_t(config.block.count());
  block.alive = threads;
  block.warps.resize((threads + 31) / 32);
  block.threads = std::vector<Thread>(threads);
  for (uint32_t i = 0; i < threads; ++i) {
    Thread &thread = block.threads[i];
    thread.machine = &machine;
    thread.block = &block;
    thread.index = i;
    thread.lane = i % 32;
    thread.warp = &block.warps[i / 32];
    thread.clock = Clock(block.index, asyncSlots + i, 1);
    thread.visible.fill(Clock(block.index, asyncSlots + i, 0));
    Warp &warp = *thread.warp;
    warp.block = &block;
    warp.index = i / 32;
    warp.lanes |= 1u << thread.lane;
    warp.threads[thread.lane] = &thread;
    if (spareFibers.empty()) {
      fibers.emplace_back();
      fibers.back().start(stacks.take(), stacks.bytes(), runThread, &thread);
      thread.fiber = &fibers.back();
    } else {
      thread.fiber = spareFibers.back();
      spareFibers.pop_back();
      thread.fiber->start(thread.fiber->stack(), stacks.bytes(), runThread, &thread);
    }
    makeReady(thread);
  }
  cluster.blocks.push_back(std::move(made));
  ++machine.result().blocks;
}

void Scheduler::startCluster(uint32_t index) {
  auto cluster = std::make_unique<Cluster>();
  cluster->machine = &machine;
  cluster->index = index;
  auto isTaken = [&](const auto &other) { return other->place == cluster->place; };
  while (std::any_of(clusters.begin(), clusters.end(), isTaken))
    ++cluster->place;
  uint32_t blocks = uint32_t(machine.config().cluster.count());
  if (!spareWindows.empty()) {
    cluster->windows = std::move(spareWindows.back());
    spareWindows.pop_back();
  } else if (!(cluster->windows = SharedWindows::take(blocks))) {
    machine.report({.kind = FindingKind::BadOperand,
                    .text = "cannot launch " + machine.config().name +
                            ": no addresses below 4 GiB are left for the shared memory of " +
                            std::to_string(blocks) +
                            " more blocks; let fewer be resident, or fewer machines run"});
    stopped = true;
    return;
  }
  clusters.push_back(std::move(cluster));
  for (uint32_t rank = 0; rank < blocks; ++rank)
    startBlock(*clusters.back(), rank);
}

/// Clusters whose threads have ended and whose operations are done make room for others.
void Scheduler::dismissClusters() {
  hasEnded = false;
  for (size_t i = clusters.size(); i-- > 0;) {
    Cluster &cluster = *clusters[i];
    bool isDone = cluster.pending == 0;
    for (const auto &block : cluster.blocks)
      isDone &= block->hasExited();
    if (!isDone)
      continue;
    for (const auto &block : cluster.blocks)
      machine.windows[block->window >> SharedWindows::rankShift] = nullptr;
    spareWindows.push_back(std::move(cluster.windows));
    clusters.erase(clusters.begin() + ptrdiff_t(i));
  }
}

} // namespace tilegym::sim
