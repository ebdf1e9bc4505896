// SPDX-License-Identifier: MIT
// The loop that runs a launch.
#include "compiler/simulator/Scheduler.h"
#include "compiler/simulator/Collective.h"
#include "compiler/simulator/Engine.h"
#include "compiler/simulator/ExitChecks.h"
#include "compiler/simulator/MachineState.h"
#include "compiler/simulator/NamedBarrier.h"
#include <bit>
#include <cassert>
#include <numeric>

namespace tilegym::sim {

constinit thread_local Thread *runningThread = nullptr;

void suspend(const WaitReason &reason) {
  Thread &thread = current();
  thread.reason = reason;
  thread.state = ThreadState::Waiting;
  thread.machine->scheduler().leave();
}

void wake(Thread &thread) {
  if (thread.state == ThreadState::Waiting)
    thread.machine->scheduler().makeReady(thread);
}

void yield() {
  Thread &thread = current();
  thread.machine->scheduler().makeReady(thread);
  thread.machine->scheduler().leave();
}

void WaitList::wait(const WaitReason &reason) {
  threads.push_back(&current());
  suspend(reason);
}

void WaitList::wakeAll() {
  for (Thread *thread : threads)
    wake(*thread);
  threads.clear();
}

Scheduler::Scheduler(Machine &machine, StackPool &stacks) : machine(machine), stacks(stacks) {}

Scheduler::~Scheduler() {
  for (const Fiber &fiber : fibers)
    stacks.give(fiber.stack());
}

void Scheduler::makeReady(Thread &thread) {
  thread.state = ThreadState::Ready;
  Warp &warp = *thread.warp;
  warp.ready |= 1u << thread.lane;
  if (!warp.isQueued) {
    warp.isQueued = true;
    ready.push_back(&warp);
  }
}

void Scheduler::abandon() {
  assert(running && "only what runs on a fiber may stop a launch");
  stopped = true;
  running->leave(true);
  __builtin_unreachable();
}

void Scheduler::runThread(Fiber &fiber) {
  auto &thread = *static_cast<Thread *>(fiber.owner());
  Scheduler &scheduler = thread.machine->scheduler();
  const LaunchConfig &config = thread.machine->config();
  try {
    config.kernel(config.parameters);
  } catch (...) {
    scheduler.thrown = std::current_exception();
    scheduler.stopped = true;
  }
  thread.state = ThreadState::Exited;
  fiber.leave(true);
}

void Scheduler::runSteps(Fiber &fiber) {
  auto &scheduler = *static_cast<Scheduler *>(fiber.owner());
  for (;;) {
    try {
      scheduler.machine.engine().step();
    } catch (...) {
      scheduler.thrown = std::current_exception();
      scheduler.stopped = true;
    }
    fiber.leave();
  }
}

bool Scheduler::stepEngine() {
  if (!machine.engine().pending())
    return false;
  if (!stepper) {
    fibers.emplace_back();
    stepper = &fibers.back();
    stepper->start(stacks.take(), stacks.bytes(), runSteps, this);
  }
  runningThread = nullptr;
  running = stepper;
  stepper->resume();
  running = nullptr;
  machine.progress();
  hasEnded = true;
  return true;
}

/// A thread came to its end.
void Scheduler::retire(Thread &thread) {
  Warp &warp = *thread.warp;
  Block &block = *thread.block;
  warp.exited |= 1u << thread.lane;
  spareFibers.push_back(thread.fiber);
  thread.fiber = nullptr;
  machine.progress();
  if (const Finding left = leftAlone(thread); !left.text.empty()) {
    machine.report(left);
    stopped = true;
    return;
  }
  if (warp.exited == warp.lanes)
    machine.state->traffic.finish(warp);
  checkThreadAtExit(thread);
  if (--block.alive)
    return;
  hasEnded = true;
  checkBlockAtExit(block);
  if (const AsyncOp *op = machine.engine().anyOf(block))
    machine.report({.kind = FindingKind::PendingAtExit,
                    .text = "block " + std::to_string(block.index) + " exits while its " + op->what + " (" +
                            place(op->site) + ") is in flight: wait for it before the last thread ends",
                    .site = op->site,
                    .block = block.index,
                    .thread = op->issuerIndex});
}

void Scheduler::runWarp(Warp &warp) {
  uint32_t lanes = warp.ready;
  warp.ready = 0;
  unsigned turn = unsigned(machine.random(32));
  for (uint32_t left = std::rotr(lanes, int(turn)); left && !stopped; left &= left - 1) {
    unsigned lane = (unsigned(std::countr_zero(left)) + turn) % 32;
    Thread &thread = *warp.threads[lane];
    runningThread = &thread;
    running = thread.fiber;
    ++machine.result().switches;
    ++machine.idleTurns;
    running->resume();
    running = nullptr;
    if (thread.state == ThreadState::Exited && !stopped)
      retire(thread);
  }
  runningThread = nullptr;
}

void Scheduler::run() {
  const LaunchConfig &config = machine.config();
  uint64_t count = config.grid.count() / config.cluster.count();
  waitingClusters.resize(count);
  std::iota(waitingClusters.begin(), waitingClusters.end(), 0u);
  for (uint64_t i = count; i > 1; --i)
    std::swap(waitingClusters[i - 1], waitingClusters[machine.random(i)]);
  while (!stopped) {
    if (hasEnded)
      dismissClusters();
    while (!stopped && clusters.size() < config.residentClusters && !waitingClusters.empty()) {
      startCluster(waitingClusters.back());
      waitingClusters.pop_back();
    }
    if (clusters.empty() || stopped)
      break;
    if (machine.engine().pending() && (ready.empty() || machine.random(4) == 0)) {
      stepEngine();
    } else if (ready.empty()) {
      deadlock();
    } else {
      std::swap(ready[machine.random(ready.size())], ready.back());
      Warp *warp = ready.back();
      ready.pop_back();
      warp->isQueued = false;
      runWarp(*warp);
    }
    if (machine.idleTurns > config.idleLimit)
      livelock("nothing changed in " + std::to_string(config.idleLimit) + " turns");
    if (machine.result().accesses + machine.result().switches > config.stepLimit)
      livelock("the step limit of " + std::to_string(config.stepLimit) + " is reached");
  }
  machine.result().completed = !stopped;
  if (thrown)
    std::rethrow_exception(thrown);
}

} // namespace tilegym::sim
