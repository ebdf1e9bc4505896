// SPDX-License-Identifier: MIT
// Where a tile's elements lie in shared memory, as formulas that know nothing of descriptors or of the copy engine.
#pragma once

#include <cstdint>

namespace tilegym::sim {

/// Byte offset of (row, k) where rows hold k contiguously: columns of `span` bytes, all `rows` of one after the other. `es` bytes an element.
inline uint32_t kMajorOffset(uint32_t r, uint32_t k, uint32_t rows, uint32_t es, uint32_t span) {
  uint32_t c = span / es, chunk = (k % c) * es / 16, phase = (r & 7) * span / 128 & (span / 16 - 1);
  return k / c * rows * span + (r >> 3) * 8 * span + (r & 7) * span + ((chunk ^ phase) << 4) + (k * es & 15);
}

/// The same where k rows hold the other dimension contiguously, 16-bit elements: columns of `span` bytes, all `depth` rows one after the other.
inline uint32_t mnMajorOffset(uint32_t mn, uint32_t k, uint32_t depth, uint32_t span) {
  uint32_t c = span / 2, chunk = (mn % c) / 8, phase = (k & 7) * span / 128 & (span / 16 - 1);
  return mn / c * depth * span + (k >> 3) * 8 * span + (k & 7) * span + ((chunk ^ phase) << 4) + (mn & 7) * 2;
}

/// Without swizzle: columns of 16 bytes, all rows of one after the other.
inline uint32_t columnsOffset(uint32_t row, uint32_t along, uint32_t rows, uint32_t es) {
  return along * es / 16 * rows * 16 + row * 16 + (along * es & 15);
}

} // namespace tilegym::sim
