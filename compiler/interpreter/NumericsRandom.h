// SPDX-License-Identifier: MIT
// Philox4x32-10 (Salmon et al., SC'11), the language's only source of random numbers.
#pragma once

#include "compiler/semantics/DType.h"

#include <array>
#include <cstdint>

namespace tilegym::interp {

using PhiloxBlock = std::array<uint32_t, 4>;

/// The generator itself: 128 random bits for a counter and a key, both little-endian in 32-bit words.
PhiloxBlock philox4x32(PhiloxBlock counter, std::array<uint32_t, 2> key);

/// `philox(seed, c, bits=)`: field `c mod (128/bits)` of the block at counter `c div (128/bits)`, with `seed`
/// as key. Field 0 is the low end of word 0. The counter's upper 64 bits are zero; `c` and `seed` are taken
/// as unsigned 64-bit.
uint32_t philox(uint64_t seed, uint64_t c, unsigned bits = 32);

/// `uniform(seed, c, bits=)`: the same field scaled to [0, 1), exact in f32: of 32 bits the top 24 are used.
float uniform(uint64_t seed, uint64_t c, unsigned bits = 32);

/// The dtype `philox` yields: u32, u16 or u8. Other widths are refused before this is asked.
DType philoxType(unsigned bits);

/// Neighbouring elements share a block, so this keeps the last one: for filling arrays in order.
class PhiloxStream {
public:
  PhiloxStream(uint64_t seed, unsigned bits) : seed(seed), bits(bits) {}
  uint32_t at(uint64_t c);
  float uniformAt(uint64_t c);

private:
  uint64_t seed;
  unsigned bits;
  bool filled = false;
  uint64_t counter = 0;
  PhiloxBlock block{};
};

} // namespace tilegym::interp
