// SPDX-License-Identifier: MIT
// The machine: runs one launch at a time, on the OS thread that calls it. Several machines may run in several OS threads, each on a
// Memory of its own.
//
//   Memory memory;
//   uint64_t p = memory.allocate(1024);
//   Machine machine;
//   Report report = machine.launch({.grid = {4}, .block = {128}, .seed = 7, .kernel = [&](const void *const *) { ... }}, memory);
//
// The pretended device has 3 multiprocessors, each with one resident cluster (or block), in an order that the seed chooses: persistent
// loops wrap, and blocks of one grid run in several orders.
#pragma once
#include "compiler/simulator/Report.h"
#include "compiler/simulator/Thread.h"
#include <functional>
#include <memory>
#include <string>

namespace tilegym::sim {

class Engine;
struct LocationClock;
class Scheduler;
class StackPool;

inline constexpr unsigned multiprocessors = 3;

struct LaunchConfig {
  Dim3 grid = {}, block = {}, cluster = {};
  uint32_t sharedBytes = 0; ///< dynamic and static together
  /// Called once a thread, on that thread's fiber, with `parameters`: CUDA's `void **`.
  std::function<void(const void *const *parameters)> kernel = {};
  const void *const *parameters = nullptr;
  /// Memory of the parameters that the kernel may read through a generic pointer (tensor maps): address and bytes.
  std::vector<std::pair<uint64_t, uint64_t>> parameterSpace = {};
  uint64_t seed = 0;
  std::string name = "kernel"; ///< in texts
  unsigned residentClusters =
      multiprocessors; ///< at most; a kernel that waits for its whole grid needs the grid's number
  unsigned preemptEvery =
      96; ///< a thread may lose its turn after as many memory accesses, at random and on average; 0: never
  bool countTraffic = false;
  uint64_t stepLimit = uint64_t(4) << 30; ///< accesses and switches, in all
  uint64_t idleLimit = 1 << 20;           ///< turns in a row that change nothing
  size_t maxFindings = 100;      ///< different ones; the launch goes on after that, and they are not kept
  size_t stackBytes = 256 << 10; ///< of a thread
};

class Machine {
public:
  Machine();
  ~Machine();
  Machine(const Machine &) = delete;

  /// Runs a grid to its end, or to the first finding after which going on makes no sense. A bad configuration is a finding too.
  Report launch(const LaunchConfig &config, Memory &memory);

  // --- For instructions ---------------------------------------------------------------------------------------------------------------

  /// The check before every access: bounds, alignment (`alignment` bytes are claimed, 0 or 1 for none), uninitialised reads, races, the
  /// missing proxy fence. Marks written bytes as initialised. Stops the launch where the access cannot be made. `address` is generic.
  void access(Agent &agent, uint64_t address, uint32_t bytes, Touch touch, uint32_t alignment,
              const Site *site);
  /// The same for [address, address + bytes) of any length.
  void accessRange(Agent &agent, uint64_t address, uint64_t bytes, Touch touch, uint32_t alignment,
                   const Site *site);
  /// Counts a thread's access as one of a warp's request; called by accesses of plain loads and stores, where a predicate is false with no
  /// bytes, so that lanes stay together.
  void noteTraffic(Thread &thread, uint64_t address, uint32_t bytes, bool isWrite, const Site *site) {
    if (launched->countTraffic)
      countTraffic(thread, address, bytes, isWrite, site);
  }

  /// Notes a fault and goes on.
  void report(Finding finding);
  /// Notes a fault and ends the launch: the fibers are abandoned, nothing on their stacks is destroyed. Callers hold nothing that must be.
  [[noreturn]] void stop(Finding finding);
  /// Something changed that somebody may wait for: not a livelock.
  void progress() { idleTurns = 0; }
  /// The current thread's chance to lose its turn.
  void maybePreempt() {
    if (--untilPreempt <= 0)
      preempt();
  }
  /// A random number from the launch's seed, below `bound`.
  uint64_t random(uint64_t bound);

  /// The block whose shared window holds a 32-bit (shared, cluster or generic) address; null where none is resident there.
  Block *windowOwner(uint64_t address) const {
    return address < (uint64_t(1) << 32) ? windows[address >> 24] : nullptr;
  }
  Memory &memory() { return *deviceMemory; }
  Engine &engine() { return *asyncEngine; }
  Scheduler &scheduler() { return *fibers; }
  const LaunchConfig &config() const { return *launched; }
  Report &result() { return *running; }
  /// A location's clock, for atomics that order other accesses.
  LocationClock &locationClock(uint64_t address);
  LocationClock *findLocationClock(uint64_t address);

private:
  friend class Scheduler;
  void preempt();
  void countTraffic(Thread &thread, uint64_t address, uint32_t bytes, bool isWrite, const Site *site);
  [[noreturn]] void outOfBounds(Agent &agent, uint64_t address, uint64_t bytes, Touch touch,
                                const Site *site);
  ShadowPage *shadowOf(Agent &agent, uint64_t address, uint32_t bytes, Touch touch, const Site *site);
  void touchCell(Cell &cell, Agent &agent, uint64_t address, Touch touch, const Site *site);
  void checkReaders(const Cell &cell, Agent &agent, uint64_t address, Touch touch, const Site *site);
  void addReader(Cell &cell, const Agent &agent, Epoch me, const Site *site);
  void race(Agent &agent, uint64_t address, Touch touch, const Site *site, Epoch earlier,
            const Site *earlierSite, bool earlierWrote);
  void missingProxyFence(Agent &agent, uint64_t address, Touch touch, const Site *site, Epoch earlier,
                         const Site *earlierSite, bool earlierWrote);
  void keep(Finding finding); ///< one that is known to be new
  struct State;
  const LaunchConfig *launched = nullptr;
  Memory *deviceMemory = nullptr;
  Report *running = nullptr;
  std::array<Block *, 256> windows{};
  uint32_t launchNumber = 0;
  uint64_t idleTurns = 0;
  int64_t untilPreempt = 0;
  std::unique_ptr<StackPool> stacks;
  std::unique_ptr<Engine> asyncEngine;
  std::unique_ptr<Scheduler> fibers;
  std::unique_ptr<State> state;
};

/// A finding of an agent, ready for report() or stop(): its text is "block B thread T ", `text`, and the place in brackets.
Finding fault(FindingKind kind, const Agent &agent, const Site *site, std::string text);

} // namespace tilegym::sim
