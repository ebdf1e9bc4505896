// SPDX-License-Identifier: MIT
// The device memory of a process, and the shared windows of its resident blocks. Addresses are host addresses: what compiled code loads
// and stores is really there, checked just before.
//
//   below 4 GiB   shared windows, one a resident block: a base that is a multiple of 16 MiB, + (rank in the cluster << 24), so that
//                 32-bit shared and cluster addresses, `mapa` and the 18-bit fields of matrix descriptors round-trip
//   arena         device memory: each allocation starts a page, is poisoned, and has unmapped guard zones around it
//   other         kernel parameters (readable, see LaunchConfig::parameterSpace); everything else is out of bounds
#pragma once
#include "compiler/simulator/Shadow.h"
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tilegym::sim {

/// What a read of memory that nobody wrote gives: NaN as any float type, and a large odd number as an integer.
inline constexpr uint8_t poisonByte = 0xFB;

struct Allocation {
  uint64_t address = 0, bytes = 0;
  std::string name; ///< for findings: "allocation 3", or what the host called it
  bool freed = false;
  std::unique_ptr<ShadowPage[]> shadow; ///< while it lives
};

/// Device memory. One process has one; at most one Machine runs on it at a time.
class Memory {
public:
  Memory();
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Poisoned; 256-byte aligned as a driver's (in fact page-aligned). `initialised`: reads before writes are no finding. Zero bytes give
  /// an address that nothing may access. Throws std::bad_alloc when the arena is full.
  uint64_t allocate(uint64_t bytes, std::string name = {}, bool initialised = false);
  /// False where no live allocation starts there.
  bool free(uint64_t address);
  /// The host's accesses (copies, fills); false where they leave the allocation. Writes initialise.
  bool write(uint64_t address, const void *from, uint64_t bytes);
  bool read(uint64_t address, void *to, uint64_t bytes) const;
  bool fill(uint64_t address, uint8_t value, uint64_t bytes);
  /// A host that writes through the pointer itself says so here.
  void markInitialised(uint64_t address, uint64_t bytes);
  /// The live or freed allocation nearest to an address, for findings: the one that holds it, else the one whose guard zone does.
  const Allocation *nearest(uint64_t address) const;
  /// The live allocation that holds [address, address + bytes), else null.
  const Allocation *find(uint64_t address, uint64_t bytes) const;

  bool owns(uint64_t address) const { return address - base < reserved; }
  /// The shadow of the page that holds the address; null where no live allocation does.
  ShadowPage *page(uint64_t address) { return pages[(address - base) >> ShadowPage::shift]; }

  /// Numbers launches, so that what one did is not held against the next.
  uint32_t beginLaunch() { return ++launches; }

private:
  uint64_t takeRange(uint64_t bytes);
  uint64_t base = 0, reserved = 0, next = 0;
  ShadowPage **pages = nullptr; ///< one a page of the arena, committed as it is touched
  std::map<uint64_t, Allocation> allocations;
  std::deque<uint64_t>
      quarantine; ///< freed, oldest first: their ranges are used again only when the arena is full
  unsigned serial = 0;
  uint32_t launches = 0;
};

/// Windows below 4 GiB, for the blocks of one cluster.
class SharedWindows {
public:
  static constexpr unsigned rankShift = 24;
  static constexpr uint64_t span = uint64_t(1) << rankShift;
  /// Where a block's shared memory starts in its window: the first KiB is the system's, as on the device, so that 0 is no address of it.
  static constexpr uint64_t dynamicStart = 1024;
  /// Null where no range of addresses is left.
  static std::unique_ptr<SharedWindows> take(unsigned blocks);
  ~SharedWindows();
  SharedWindows(const SharedWindows &) = delete;
  uint64_t base() const { return start; }

private:
  SharedWindows(uint64_t start, unsigned blocks) : start(start), blocks(blocks) {}
  uint64_t start;
  unsigned blocks;
};

} // namespace tilegym::sim
