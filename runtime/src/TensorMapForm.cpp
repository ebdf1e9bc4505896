// SPDX-License-Identifier: MIT
// Learning a tensor map's form bit by bit: a map and the same with one bit of one value turned over must differ in one bit, which is that bit's place.
#include "TensorMapForm.h"
#include <bit>
#include <cstring>

namespace tilegym::runtime {

using namespace format;

namespace {

/// Bits that are tried: of addresses (aligned to 16 bytes), extents less one, strides in units of 16 bytes.
constexpr int kAddressBits[2] = {4, 57}, kExtentBits[2] = {0, 31}, kStrideBits[2] = {0, 36};

/// A map like any other, no value of which becomes 0 by one bit.
TensorMapArguments anyMap(uint32_t rank) {
  TensorMapArguments a{};
  a.type = 6; // f16
  a.rank = rank;
  a.address = (uint64_t(1) << 40) + (uint64_t(1) << 30);
  for (uint32_t i = 0; i < rank; ++i) {
    a.extents[i] = 2;
    a.strides[i] = 3 * 16;
    a.box[i] = 8;
  }
  return a;
}

/// Numbers without an order, the same each time.
struct Mixer {
  uint64_t state = 0x9e3779b97f4a7c15;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
};

} // namespace

CUresult TensorMapArguments::encode(const Driver &driver, unsigned char *bytes) const {
  constexpr uint32_t steps[kMaxMapRank] = {1, 1, 1, 1, 1};
  return driver.tensorMapEncodeTiled(bytes, type, rank, reinterpret_cast<void *>(address), extents,
                                     strides + 1, box, steps, kInterleaveNone, swizzle, kPromote256Bytes,
                                     kFillZeros);
}

uint64_t TensorMapForm::get(const TensorMapArguments &a, int value) {
  int rank = int(a.rank);
  return value == 0 ? a.address : value <= rank ? a.extents[value - 1] - 1 : a.strides[value - rank] >> 4;
}

void TensorMapForm::set(TensorMapArguments &a, int value, uint64_t number) {
  int rank = int(a.rank);
  if (value == 0)
    a.address = number;
  else if (value <= rank)
    a.extents[value - 1] = number + 1;
  else
    a.strides[value - rank] = number << 4;
}

bool TensorMapForm::learnValue(const Driver &driver, const TensorMapArguments &base,
                               const uint64_t words[kWords], int value) {
  const int *bits = value == 0 ? kAddressBits : value <= int(rank) ? kExtentBits : kStrideBits;
  Place &place = places[value];
  int lastTo = -2; // the place of the bit before
  for (int bit = bits[0]; bit < bits[1]; ++bit, ++lastTo) {
    TensorMapArguments other = base;
    set(other, value, get(base, value) ^ uint64_t(1) << bit);
    alignas(64) uint64_t made[kWords] = {};
    if (other.encode(driver, reinterpret_cast<unsigned char *>(made)) != kSuccess) {
      lastTo = -3; // more than the driver takes: a value with this bit is for it to refuse
      continue;
    }
    int to = -1, count = 0;
    for (int w = 0; w < kWords; ++w)
      if (uint64_t difference = made[w] ^ words[w]) {
        count += std::popcount(difference);
        to = w * 64 + std::countr_zero(difference);
      }
    if (count != 1)
      return false;
    bool goesOn = place.numRuns && to == lastTo + 1 && to % 64 != 0;
    if (!goesOn) {
      if (place.numRuns == Place::kMaxRuns)
        return false;
      place.runs[place.numRuns++] = {0, int8_t(to % 64 - bit), uint8_t(to / 64)};
    }
    place.runs[place.numRuns - 1].mask |= uint64_t(1) << bit;
    place.known |= uint64_t(1) << bit;
    lastTo = to - 1; // and one more at the loop's end
  }
  return true;
}

bool TensorMapForm::learn(const Driver &driver, uint32_t ofRank) {
  rank = ofRank;
  TensorMapArguments base = anyMap(rank);
  alignas(64) uint64_t words[kWords] = {}, again[kWords] = {};
  if (base.encode(driver, reinterpret_cast<unsigned char *>(words)) != kSuccess ||
      base.encode(driver, reinterpret_cast<unsigned char *>(again)) != kSuccess ||
      std::memcmp(words, again, sizeof words) != 0)
    return false;
  for (int value = 0; value < numValues(); ++value)
    if (!learnValue(driver, base, words, value))
      return false;
  return true;
}

bool TensorMapForm::makeBase(const Driver &driver, TensorMapArguments base, uint64_t words[kWords]) const {
  // Every value 0 in what is kept, so that patching is putting values into places.
  alignas(64) uint64_t made[kWords] = {};
  if (base.encode(driver, reinterpret_cast<unsigned char *>(made)) != kSuccess)
    return false;
  for (int value = 0; value < numValues(); ++value)
    for (int r = 0; r < places[value].numRuns; ++r) {
      const Run &run = places[value].runs[r];
      made[run.word] &= ~(run.left >= 0 ? run.mask << run.left : run.mask >> -run.left);
    }
  std::memcpy(words, made, sizeof made);
  alignas(64) uint64_t patched[kWords];
  if (!patch(words, base, patched))
    return false;
  Mixer mixer;
  for (int trial = 0; trial < 6; ++trial) {
    TensorMapArguments other = base;
    for (int value = 0; value < numValues(); ++value) {
      // As many bits as a tensor's extents and strides have, and now and then all.
      uint64_t known = places[value].known,
               some = trial == 0 ? known : known & ((uint64_t(2) << (mixer.next() % 40)) - 1);
      uint64_t number = value == 0 ? mixer.next() & known : mixer.next() & some;
      set(other, value, number ? number : uint64_t(1) << std::countr_zero(known | uint64_t(1) << 63));
    }
    std::memset(made, 0, sizeof made);
    if (other.encode(driver, reinterpret_cast<unsigned char *>(made)) != kSuccess)
      continue; // no such map
    if (!patch(words, other, patched) || std::memcmp(made, patched, sizeof made) != 0)
      return false;
  }
  return true;
}

bool TensorMapForm::patch(const uint64_t base[kWords], const TensorMapArguments &to, void *bytes) const {
  uint64_t words[kWords];
  std::memcpy(words, base, sizeof words);
  uint64_t unknown = 0;
  for (int value = 0; value < numValues(); ++value) {
    uint64_t number = get(to, value);
    if (value > int(rank)) // of which only the part in units of 16 bytes has places
      unknown |= to.strides[value - int(rank)] & 15;
    const Place &place = places[value];
    unknown |= number & ~place.known;
    for (int r = 0; r < place.numRuns; ++r) {
      const Run &run = place.runs[r];
      uint64_t bits = number & run.mask;
      words[run.word] |= run.left >= 0 ? bits << run.left : bits >> -run.left;
    }
  }
  std::memcpy(bytes, words, sizeof words);
  return unknown == 0;
}

} // namespace tilegym::runtime
