// SPDX-License-Identifier: MIT
// Decides who runs next: a random warp that can run, its lanes in a random rotation, each until it waits, ends or loses its turn; between
// them, steps of operations in flight; and which cluster takes the place of one that ended.
#pragma once
#include "compiler/simulator/Fiber.h"
#include "compiler/simulator/Machine.h"
#include <deque>
#include <exception>

namespace tilegym::sim {

class Scheduler {
public:
  Scheduler(Machine &machine, StackPool &stacks);
  ~Scheduler();

  /// The whole launch, once the machine is set up. Rethrows what a kernel written in C++ threw.
  void run();
  /// From a fiber, with `current()` set to wait or to be ready.
  void leave() { running->leave(); }
  [[noreturn]] void abandon(); ///< ends the launch from a fiber
  void makeReady(Thread &thread);
  bool hasStopped() const { return stopped; }

private:
  void startCluster(uint32_t index);
  void startBlock(Cluster &cluster, uint32_t rank);
  void retire(Thread &thread);
  void dismissClusters();
  void runWarp(Warp &warp);
  bool stepEngine();
  void deadlock();
  void livelock(const std::string &why);
  static void runThread(Fiber &fiber);
  static void runSteps(Fiber &fiber);

  Machine &machine;
  StackPool &stacks;        ///< the machine's, so that a next launch finds them warm
  std::deque<Fiber> fibers; ///< all that were made; those of exited threads are in `spareFibers`
  std::vector<Fiber *> spareFibers;
  Fiber *stepper = nullptr; ///< runs the engine's steps, so that they can stop the launch
  Fiber *running = nullptr;
  std::vector<Warp *> ready;
  std::vector<std::unique_ptr<Cluster>> clusters; ///< resident
  std::vector<std::unique_ptr<SharedWindows>> spareWindows;
  std::vector<uint32_t> waitingClusters; ///< not started, in the seed's order, last first
  bool stopped = false;
  bool hasEnded = false; ///< a cluster may have ended
  std::exception_ptr thrown;
};

} // namespace tilegym::sim
