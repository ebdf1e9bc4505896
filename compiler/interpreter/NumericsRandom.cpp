// SPDX-License-Identifier: MIT
// Philox4x32-10: ten rounds of two 32 x 32 -> 64 bit products, keys bumped by the golden ratio and sqrt(3)
// - 1.
#include "compiler/interpreter/NumericsRandom.h"

namespace tilegym::interp {
namespace {

uint32_t fieldOf(const PhiloxBlock &block, uint64_t c, unsigned bits) {
  unsigned position = static_cast<unsigned>(c % (128 / bits)) * bits;
  return block[position / 32] >> (position % 32) & (~uint32_t(0) >> (32 - bits));
}

float scaled(uint32_t field, unsigned bits) {
  if (bits == 32)
    return static_cast<float>(field >> 8) * 0x1p-24f;
  return static_cast<float>(field) * (bits == 16 ? 0x1p-16f : 0x1p-8f);
}

} // namespace

PhiloxBlock philox4x32(PhiloxBlock counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t even = uint64_t(0xD2511F53) * counter[0];
    uint64_t odd = uint64_t(0xCD9E8D57) * counter[2];
    counter = {static_cast<uint32_t>(odd >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(odd),
               static_cast<uint32_t>(even >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(even)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

uint32_t philox(uint64_t seed, uint64_t c, unsigned bits) { return PhiloxStream(seed, bits).at(c); }

float uniform(uint64_t seed, uint64_t c, unsigned bits) { return PhiloxStream(seed, bits).uniformAt(c); }

DType philoxType(unsigned bits) { return bits == 32 ? DType::U32 : bits == 16 ? DType::U16 : DType::U8; }

uint32_t PhiloxStream::at(uint64_t c) {
  uint64_t wanted = c / (128 / bits);
  if (!filled || wanted != counter) {
    counter = wanted;
    filled = true;
    block = philox4x32({static_cast<uint32_t>(wanted), static_cast<uint32_t>(wanted >> 32), 0, 0},
                       {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  }
  return fieldOf(block, c, bits);
}

float PhiloxStream::uniformAt(uint64_t c) { return scaled(at(c), bits); }

} // namespace tilegym::interp
