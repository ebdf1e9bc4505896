// SPDX-License-Identifier: MIT
// What the sanitizers know of memory: for each page, which bytes exist, which were written, and who touched each cell last. A cell is
// 16 bytes at first and is split when a finer access comes, so that wide accesses stay cheap and neighbouring bytes stay apart.
#pragma once
#include "compiler/simulator/Clock.h"
#include "compiler/simulator/Site.h"
#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <vector>

namespace tilegym::sim {

/// How memory is touched. `Update` is an atomic read-modify-write; the other two atomics are loads and stores that are relaxed or stronger
/// (volatile ones too). Atomics do not race with each other.
enum class Touch : uint8_t { Read, Write, AtomicRead, AtomicWrite, Update };
inline bool reads(Touch touch) {
  return touch == Touch::Read || touch == Touch::AtomicRead || touch == Touch::Update;
}
inline bool writes(Touch touch) {
  return touch == Touch::Write || touch == Touch::AtomicWrite || touch == Touch::Update;
}
inline bool isAtomic(Touch touch) { return touch >= Touch::AtomicRead; }

/// Readers of one cell that are not ordered with each other, a warp's lanes of one count in one entry.
struct ReadSet {
  struct Entry {
    Epoch first; ///< of lane 0 of the warp (index rounded down to 32)
    uint32_t lanes;
    const Site *site;
  };
  /// More readers than these are forgotten at random: a race with one of them may be missed, none is invented.
  static constexpr size_t limit = 64;
  std::vector<Entry> entries;
};

/// The last write, and the reads since it that it does not know to be ordered.
struct Cell {
  Epoch write, read;
  const Site *writeSite = nullptr, *readSite = nullptr;
  std::unique_ptr<ReadSet> readers; ///< where one epoch does not say it; `read` is then unused
};

struct ShadowPage {
  static constexpr unsigned shift = 12, coarsest = 4;
  static constexpr uint64_t size = uint64_t(1) << shift;
  uint32_t validBytes = size; ///< bytes of the page from its start that exist
  uint32_t launch = 0;        ///< cells are of this launch; older ones count as untouched
  unsigned cellShift = coarsest;
  std::vector<Cell> cells; ///< empty until the first access
  std::array<uint64_t, size / 64> initialised{};

  bool isInitialised(uint32_t offset, uint32_t bytes) const;
  void setInitialised(uint32_t offset, uint32_t bytes, bool value = true);
  /// Makes cells as fine as an access of `bytes` at `offset` needs.
  void refine(uint32_t offset, uint32_t bytes);
};

} // namespace tilegym::sim
