// SPDX-License-Identifier: MIT
// Vector clocks: which events happened before which. An *agent* is what acts on its own: a thread, or an operation that the hardware
// carries out by itself (a copy, a matrix product). Agents are numbered by block and by index in the block: first `asyncSlots` slots that
// its asynchronous operations take in turn (those of the generic proxy, then those of the async proxy), then the block's threads.
//
// A clock is a shared, immutable snapshot of what is known of the others, and the agent's own count. So a barrier computes one snapshot
// and all who leave it share that.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tilegym::sim {

inline constexpr uint32_t genericSlots = 32, asyncSlots = 64;

/// One agent's moment, in 64 bits: block (23), index in it (12), atomic (1), count (28). Counts start at 1, so no epoch is 0.
class Epoch {
public:
  static constexpr uint64_t maxBlocks = uint64_t(1) << 23, maxIndex = 1 << 12;
  static constexpr uint32_t maxCount = (1u << 28) - 1;
  constexpr Epoch() = default;
  constexpr Epoch(uint32_t block, uint32_t index, uint32_t count, bool atomic = false)
      : bits(uint64_t(block) << 41 | uint64_t(index) << 29 | uint64_t(atomic) << 28 | count) {}
  static constexpr Epoch fromBits(uint64_t bits) {
    Epoch epoch;
    epoch.bits = bits;
    return epoch;
  }
  uint64_t raw() const { return bits; }
  explicit operator bool() const { return bits != 0; }
  uint32_t block() const { return uint32_t(bits >> 41); }
  uint32_t index() const { return uint32_t(bits >> 29) & (maxIndex - 1); }
  uint32_t count() const { return uint32_t(bits) & maxCount; }
  bool isAtomic() const { return bits >> 28 & 1; }
  uint64_t agent() const { return bits >> 29; }
  Epoch asAtomic() const { return fromBits(bits | uint64_t(1) << 28); }
  /// Of an operation of the async proxy.
  bool isAsyncProxy() const { return index() - genericSlots < asyncSlots - genericSlots; }
  bool operator==(const Epoch &) const = default;

private:
  uint64_t bits = 0;
};

/// What is known of every agent of some blocks: counts up to which their actions are ordered before. Immutable once shared.
class Snapshot {
public:
  /// One block's counts, by index; those past the end are 0.
  struct Part {
    uint32_t block;
    std::shared_ptr<const std::vector<uint32_t>> counts;
  };
  std::vector<Part> parts; ///< by block

  bool covers(Epoch epoch) const;
  bool covers(const Snapshot &other) const;
};
using Known = std::shared_ptr<const Snapshot>; ///< null: nothing is known

/// What both know; one of them where it covers the other.
Known join(const Known &a, const Known &b);

/// An agent's clock.
class Clock {
public:
  Clock() = default;
  Clock(uint32_t block, uint32_t index, uint32_t count) : own(block, index, count) {}
  /// The epoch that the agent's accesses bear now.
  Epoch epoch() const { return own; }
  const Known &known() const { return others; }
  /// Whether `epoch` happened before the agent's next action.
  bool covers(Epoch epoch) const {
    return epoch.agent() == own.agent() ? epoch.count() <= own.count() : others && others->covers(epoch);
  }
  void acquire(const Known &more);
  void setKnown(Known known) { others = std::move(known); }
  /// Later actions are no longer part of what was released. Call after each release.
  void tick() { own = Epoch(own.block(), own.index(), own.count() + 1); }
  void setOwn(Epoch epoch) { own = epoch; }

private:
  Epoch own;
  Known others;
};

/// What has been released into a synchronisation object and not yet been taken out. A release is cheap (an epoch is noted where the
/// snapshots are the same), and the join is computed when somebody acquires.
class Released {
public:
  void add(const Clock &clock);
  void add(const Known &more);
  /// All that was added, as one snapshot; null where nothing was.
  const Known &settle();
  /// Orders all that was added before what the clock's agent does next.
  void handTo(Clock &clock);
  bool empty() const { return !base && fresh.empty(); }
  void clear();

private:
  Known base;
  std::vector<Epoch> fresh;
  Known handedFrom, handedTo; ///< the last join of handTo: those who leave a barrier mostly knew the same
};

/// What a proxy fence may be for; shared memory of the block and of the cluster are one.
enum class ProxyMemory : uint8_t { Shared, Global };

struct Agent;

/// A synchronisation object's clocks: what is ordered before those who acquire it, and what of that the async proxy may see too. Every
/// barrier, mbarrier phase and atomic location holds one.
class SyncClock {
public:
  void release(Agent &agent); ///< adds what `agent` did; its count ticks
  void acquire(Agent &agent); ///< orders all that was released before what `agent` does next
  void merge(SyncClock &other);
  void clear();
  bool empty() const { return order.empty() && visible[0].empty() && visible[1].empty(); }

private:
  Released order;
  std::array<Released, 2> visible; ///< by ProxyMemory
};

/// fence.proxy.async: what happened before becomes visible to the async proxy in the spaces that the fence is for. (Clocks `visible` start
/// empty; operations issued later carry it.)
void fenceProxyAsync(Agent &agent, bool shared = true, bool global = true);

} // namespace tilegym::sim
