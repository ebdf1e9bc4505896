// SPDX-License-Identifier: MIT
// A launch from end to end, and what is kept of its findings.
#include "compiler/simulator/Machine.h"
#include "compiler/simulator/Engine.h"
#include "compiler/simulator/MachineState.h"
#include "compiler/simulator/Scheduler.h"
#include <limits>

namespace tilegym::sim {
namespace {

constexpr uint32_t maxThreads = 1024, maxClusterBlocks = 16, maxSharedBytes = 227 << 10;

/// What is wrong with a configuration; empty where nothing is.
std::string refusal(const LaunchConfig &config) {
  auto text = [](uint64_t number) { return std::to_string(number); };
  const auto [x, y, z] = config.cluster;
  if (!config.kernel)
    return "no kernel";
  if (!config.grid.count() || config.grid.count() >= Epoch::maxBlocks)
    return "a grid of " + text(config.grid.count()) + " blocks; 1 to " + text(Epoch::maxBlocks - 1) +
           " can be run";
  if (!config.block.count() || config.block.count() > maxThreads)
    return "a block of " + text(config.block.count()) + " threads; 1 to " + text(maxThreads) +
           " are possible";
  if (!config.cluster.count() || config.cluster.count() > maxClusterBlocks)
    return "a cluster of " + text(config.cluster.count()) + " blocks; 1 to " + text(maxClusterBlocks) +
           " are possible";
  if (config.grid.x % x || config.grid.y % y || config.grid.z % z)
    return "the grid is no whole number of clusters";
  if (config.sharedBytes > maxSharedBytes)
    return text(config.sharedBytes) + " bytes of shared memory; a block has at most " + text(maxSharedBytes);
  if (!config.residentClusters)
    return "no cluster may be resident";
  return "";
}

} // namespace

Machine::Machine() = default;
Machine::~Machine() = default;

bool Machine::State::isNew(FindingKind kind, const Site *site, const Site *other) {
  auto found = known.find(keyOf(kind, site, other));
  if (found == known.end())
    return true;
  if (found->second < machine.running->findings.size())
    ++machine.running->findings[found->second].count;
  return false;
}

Report Machine::launch(const LaunchConfig &config, Memory &memory) {
  Report report;
  report.seed = config.seed;
  running = &report;
  launched = &config;
  deviceMemory = &memory;
  state = std::make_unique<State>(*this);
  state->seed = config.seed;
  windows = {};
  idleTurns = 0;
  launchNumber = memory.beginLaunch();
  if (std::string why = refusal(config); !why.empty()) {
    this->report({.kind = FindingKind::BadOperand, .text = "cannot launch " + config.name + ": " + why});
    return report;
  }
  if (!stacks || stacks->bytes() < config.stackBytes)
    stacks = std::make_unique<StackPool>(config.stackBytes);
  untilPreempt = config.preemptEvery ? int64_t(1 + random(2 * config.preemptEvery))
                                     : std::numeric_limits<int64_t>::max();
  asyncEngine = std::make_unique<Engine>(*this);
  fibers = std::make_unique<Scheduler>(*this, *stacks);
  struct Clear { // whatever ends the launch, the kernel's own exceptions among them
    Machine &machine;
    ~Clear() {
      machine.asyncEngine.reset();
      machine.fibers.reset();
    }
  } clear{*this};
  fibers->run();
  report.traffic = state->traffic.take();
  return report;
}

uint64_t Machine::random(uint64_t bound) {
  return uint64_t((unsigned __int128)(state->next()) * bound >> 64);
}

void Machine::preempt() {
  if (!launched->preemptEvery) {
    untilPreempt = std::numeric_limits<int64_t>::max();
    return;
  }
  untilPreempt = int64_t(1 + random(2 * launched->preemptEvery));
  yield();
}

void Machine::keep(Finding finding) {
  bool hasRoom = running->findings.size() < launched->maxFindings;
  state->known[State::keyOf(finding.kind, finding.site, finding.other)] =
      hasRoom ? running->findings.size() : SIZE_MAX;
  if (hasRoom)
    running->findings.push_back(std::move(finding));
}

void Machine::report(Finding finding) {
  if (state->isNew(finding.kind, finding.site, finding.other))
    keep(std::move(finding));
}

void Machine::stop(Finding finding) {
  report(std::move(finding));
  fibers->abandon();
}

void Machine::countTraffic(Thread &thread, uint64_t address, uint32_t bytes, bool isWrite, const Site *site) {
  state->traffic.note(thread, address, bytes, isWrite, site);
}

LocationClock &Machine::locationClock(uint64_t address) { return state->locations[address]; }

LocationClock *Machine::findLocationClock(uint64_t address) {
  auto found = state->locations.find(address);
  return found == state->locations.end() ? nullptr : &found->second;
}

Finding fault(FindingKind kind, const Agent &agent, const Site *site, std::string text) {
  Finding finding;
  finding.kind = kind;
  finding.site = site;
  finding.block = agent.block->index;
  if (auto *thread = dynamic_cast<const Thread *>(&agent))
    finding.thread = thread->index;
  else if (auto *op = dynamic_cast<const AsyncOp *>(&agent))
    finding.thread = op->issuerIndex;
  finding.text = agent.describe() + " " + std::move(text) + " (" + place(site) + ")";
  return finding;
}

std::string Thread::describe() const {
  return "block " + std::to_string(block->index) + " thread " + std::to_string(index);
}

} // namespace tilegym::sim
