// SPDX-License-Identifier: MIT
// The bookkeeping of shadow pages.
#include "compiler/simulator/Shadow.h"
#include <algorithm>
#include <bit>

namespace tilegym::sim {
namespace {

/// Calls `visit(word, mask)` for the words of a bit set that [offset, offset + count) touches, until it gives false.
template <class Visit> bool eachWord(uint32_t offset, uint32_t count, Visit visit) {
  while (count) {
    uint32_t bit = offset % 64, here = std::min(64 - bit, count);
    uint64_t mask = (here == 64 ? ~uint64_t(0) : (uint64_t(1) << here) - 1) << bit;
    if (!visit(offset / 64, mask))
      return false;
    offset += here, count -= here;
  }
  return true;
}

Cell copyOf(const Cell &cell) {
  Cell copy{cell.write, cell.read, cell.writeSite, cell.readSite, nullptr};
  if (cell.readers)
    copy.readers = std::make_unique<ReadSet>(*cell.readers);
  return copy;
}

} // namespace

bool ShadowPage::isInitialised(uint32_t offset, uint32_t bytes) const {
  return eachWord(offset, bytes,
                  [&](uint32_t word, uint64_t mask) { return (initialised[word] & mask) == mask; });
}

void ShadowPage::setInitialised(uint32_t offset, uint32_t bytes, bool value) {
  eachWord(offset, bytes, [&](uint32_t word, uint64_t mask) {
    initialised[word] = value ? initialised[word] | mask : initialised[word] & ~mask;
    return true;
  });
}

void ShadowPage::refine(uint32_t offset, uint32_t bytes) {
  unsigned wanted = unsigned(std::countr_zero(offset | bytes | 1u << coarsest));
  if (cells.empty()) {
    cellShift = wanted;
    cells.resize(size >> cellShift);
  }
  if (wanted >= cellShift)
    return;
  std::vector<Cell> finer(size >> wanted);
  for (size_t i = 0; i < finer.size(); ++i)
    finer[i] = copyOf(cells[i >> (cellShift - wanted)]);
  cells = std::move(finer);
  cellShift = wanted;
}

} // namespace tilegym::sim
