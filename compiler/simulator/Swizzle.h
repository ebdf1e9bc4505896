// SPDX-License-Identifier: MIT
// How shared memory is swizzled: the copy engine and the tensor cores XOR bits of the byte address alike, so that a tile written by one is
// read by the other.
#pragma once

#include <cstdint>

namespace tilegym::sim {

/// Bytes of a row of the pattern; the pattern is 8 rows, which start at 128-byte steps of `span` rows each.
enum class Swizzle : uint8_t { None = 0, B32 = 32, B64 = 64, B128 = 128 };

/// Bytes after which the pattern repeats; a tile starts at a multiple of it.
constexpr uint32_t patternBytes(Swizzle mode) { return mode == Swizzle::None ? 16 : 8 * uint32_t(mode); }

/// 128 bytes: bits 6:4 ^= 9:7; 64: 5:4 ^= 8:7; 32: 4 ^= 7. `base` shifts the phase: the pattern then starts at `base` * 128.
constexpr uint64_t swizzled(uint64_t address, Swizzle mode, uint32_t base = 0) {
  uint64_t chunks = mode == Swizzle::None ? 1 : uint64_t(mode) / 16;
  return address ^ ((((address >> 7) - base) & (chunks - 1)) << 4);
}

} // namespace tilegym::sim
