// SPDX-License-Identifier: MIT
// Who runs: threads in warps in blocks in clusters, and the agents that act for them.
#pragma once
#include "compiler/simulator/Clock.h"
#include "compiler/simulator/DeviceMemory.h"
#include "compiler/simulator/Wait.h"
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tilegym::sim {

class Machine;
class Fiber;
class Meeting;
class BarrierTable;
struct Block;
struct Cluster;
struct Warp;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// What acts on memory: a thread, or an asynchronous operation.
struct Agent {
  Machine *machine = nullptr;
  Block *block = nullptr; ///< the issuer's, for an operation
  bool asyncProxy = false;
  Clock clock;                  ///< what happened before
  std::array<Clock, 2> visible; ///< what of that the async proxy may see, by ProxyMemory
  /// "block 0 thread 5", "copy issued by block 0 thread 0 (a.tile:7)".
  virtual std::string describe() const = 0;
  virtual ~Agent() = default;
};

/// State that an instruction family keeps for a thread, warp, block or cluster: groups of copies, mbarriers, registers of a warpgroup.
/// Made on first use, and destroyed with its owner.
class FamilyState {
public:
  /// One object of type T for each owner; T is default-constructible.
  template <class T> T &get() {
    if (T *there = find<T>())
      return *there;
    entries.push_back({keyOf<T>(), std::make_shared<T>()});
    return *static_cast<T *>(entries.back().object.get());
  }
  /// Null where nobody has asked for it yet.
  template <class T> T *find() const {
    for (const Entry &entry : entries)
      if (entry.key == keyOf<T>())
        return static_cast<T *>(entry.object.get());
    return nullptr;
  }

private:
  template <class T> static const void *keyOf() {
    static char key;
    return &key;
  }
  struct Entry {
    const void *key;
    std::shared_ptr<void> object;
  };
  std::vector<Entry> entries;
};

enum class ThreadState : uint8_t { Ready, Waiting, Exited };

/// Many blocks of small launches come and go, so that what few threads need is kept in `family`.
struct Thread final : Agent {
  uint32_t index = 0; ///< linear in the block
  uint32_t lane = 0;
  Warp *warp = nullptr;
  ThreadState state = ThreadState::Ready;
  WaitReason reason; ///< while Waiting
  Fiber *fiber = nullptr;
  FamilyState family;
  uint64_t lastPoll = 0; ///< address of the last atomic, to notice a loop that polls

  std::string describe() const override;
};

struct Warp {
  Block *block = nullptr;
  uint32_t index = 0; ///< in the block; a warpgroup is 4 of them from a multiple of 4
  uint32_t lanes = 0; ///< mask of those that exist
  uint32_t exited = 0;
  uint32_t ready = 0;    ///< mask of those that can run
  bool isQueued = false; ///< in the scheduler's list
  std::array<Thread *, 32> threads{};
  std::vector<std::unique_ptr<Meeting>> meetings; ///< collectives that some lanes wait in
  FamilyState family;
};

struct Block {
  Machine *machine = nullptr;
  Cluster *cluster = nullptr;
  uint32_t index = 0; ///< linear in the grid
  uint32_t rank = 0;  ///< in the cluster
  Dim3 position;      ///< in the grid
  uint64_t window =
      0; ///< address of the shared window; its memory is [sharedStart, sharedStart + sharedBytes)
  uint64_t sharedStart = 0;
  uint32_t sharedBytes = 0;
  uint32_t alive = 0;          ///< threads that have not exited
  std::vector<Thread> threads; ///< made at once, and never moved
  std::vector<Warp> warps;
  std::unique_ptr<BarrierTable> barriers;
  std::vector<ShadowPage> shadow; ///< of the window, by page
  /// Clocks of the operations' slots: the next count of each.
  std::vector<uint32_t> slotCounts;
  std::array<uint32_t, asyncSlots> slotsInUse{}; ///< by operations in flight
  uint32_t nextSlot = 0;
  FamilyState family;
  bool hasExited() const { return alive == 0; }
};

struct Cluster {
  Machine *machine = nullptr;
  uint32_t index = 0;                         ///< linear among clusters
  uint32_t place = 0;                         ///< among the resident ones: its multiprocessor
  std::vector<std::unique_ptr<Block>> blocks; ///< by rank
  std::unique_ptr<SharedWindows> windows;
  uint32_t pending = 0; ///< asynchronous operations issued by its threads and not done
  FamilyState family;
};

extern constinit thread_local Thread *runningThread;
/// The thread whose code runs now. On an operation's step there is none: use the operation.
inline Thread &current() { return *runningThread; }

} // namespace tilegym::sim
