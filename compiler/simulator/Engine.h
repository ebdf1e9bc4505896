// SPDX-License-Identifier: MIT
// Operations that run by themselves: cp.async, bulk and tensor copies and reductions, wgmma. An instruction issues one; the seeded
// scheduler carries its steps out at random later times, at the latest when no thread can run. So a kernel that does not wait sees
// memory as it was, and one that overwrites a source in flight is caught by the clocks.
//
//   AsyncOp &op = machine.engine().issue(thread, site, "tensor copy", /*asyncProxy=*/true);
//   op.steps = {[=](AsyncOp &op) { op.read(source, buffer, bytes); ... },          // a store's source is free after this step
//               [=](AsyncOp &op) { op.write(target, buffer, bytes); mbarrier.complete(op, bytes); }};
//   op.onDone = ...;
#pragma once
#include "compiler/simulator/Machine.h"
#include <deque>
#include <functional>

namespace tilegym::sim {

/// An operation in flight. It is an agent with a clock of its own, forked from the issuer's when it was issued; accesses of an async-proxy
/// operation to what the generic proxy wrote need a proxy fence on the path.
struct AsyncOp final : Agent {
  uint64_t serial = 0; ///< in order of issue
  Thread *issuer =
      nullptr; ///< its block stays until the operation is done, though the thread may have exited
  uint32_t issuerIndex = 0;
  const Site *site = nullptr;
  const char *what = ""; ///< "tensor copy"
  /// Carried out in order, at separate times, each as a whole. A step may access memory, release into a SyncClock, wake threads and stop
  /// the launch. It must not suspend.
  std::vector<std::function<void(AsyncOp &)>> steps;
  /// After the last step; the operation is destroyed afterwards.
  std::function<void(AsyncOp &)> onDone;
  /// Must be done first (operations that complete in the order of their issue): serial number, 0 for none.
  uint64_t after = 0;
  /// Its block's shared memory must stay: not for a store whose source has been read.
  bool holdsBlock = true;
  size_t nextStep = 0;

  std::string describe() const override;
  /// Checked accesses of this operation. The memory is at the address itself.
  void read(uint64_t address, void *to, uint64_t bytes, uint32_t alignment = 1);
  void write(uint64_t address, const void *from, uint64_t bytes, uint32_t alignment = 1);
  /// An element-wise atomic update (bulk reduction): marks the bytes as updated; the caller then does it.
  void update(uint64_t address, uint64_t bytes, uint32_t alignment = 1);
};

class Engine {
public:
  explicit Engine(Machine &machine) : machine(machine) {}
  /// The operation starts once the caller has filled it in, at the scheduler's next turn. The reference stays valid until it is done.
  AsyncOp &issue(Thread &issuer, const Site *site, const char *what, bool asyncProxy);
  bool isDone(uint64_t serial) const;
  size_t pending() const { return operations.size(); }
  /// Carries out one step of a random operation; false where there is none.
  bool step();
  /// An operation of the block's threads that is not done and needs the block, else null.
  const AsyncOp *anyOf(const Block &block) const;

private:
  Machine &machine;
  std::vector<std::unique_ptr<AsyncOp>> operations; ///< by serial
  uint64_t serial = 0;
};

} // namespace tilegym::sim
