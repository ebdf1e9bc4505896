// SPDX-License-Identifier: MIT
// Learning a tensor map's form bit by bit: a map and the same with one bit of one value turned over must differ in one bit, which is that bit's place.
#include "TensorMapForm.h"
#include <algorithm>
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
  // Promoted to 256 bytes, rows that begin anywhere would come at 0.85 of the rate.
  return driver.tensorMapEncodeTiled(bytes, type, rank, reinterpret_cast<void *>(address), extents,
                                     strides + 1, box, steps, kInterleaveNone, swizzle, kPromote128Bytes,
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
  int next = -1; // the place that would go on where the last bit's is
  for (int bit = bits[0]; bit < bits[1]; ++bit) {
    TensorMapArguments other = base;
    set(other, value, get(base, value) ^ uint64_t(1) << bit);
    alignas(64) uint64_t made[kWords] = {};
    if (other.encode(driver, reinterpret_cast<unsigned char *>(made)) != kSuccess) {
      next = -1; // more than the driver takes: a value with this bit is for it to refuse
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
    if (to != next || to % 64 == 0) {
      if (numRuns == kMaxRuns)
        return false;
      runs[numRuns++] = {0, uint8_t(value), uint8_t((to - bit) & 63), uint8_t(to / 64)};
    }
    runs[numRuns - 1].mask |= uint64_t(1) << bit;
    known[value] |= uint64_t(1) << bit;
    next = to + 1;
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
  for (int r = 0; r < numRuns; ++r)
    made[runs[r].word] &= ~std::rotl(runs[r].mask, runs[r].rotate);
  std::memcpy(words, made, sizeof made);
  alignas(64) uint64_t patched[kWords];
  if (!patch(words, base, patched))
    return false;
  // All values small, all large, each small among large ones, and some of as many bits as tensors' have: what more than one value decides shows.
  Mixer mixer;
  int count = numValues();
  for (int trial = 0; trial < count + 8; ++trial) {
    TensorMapArguments other = base;
    for (int value = 0; value < count; ++value) {
      uint64_t all = known[value], lowest = value >= 1 && value <= int(rank) ? 0 : all & -all;
      bool isLow = trial < 2 ? trial == 0 : trial < 4 ? (value + trial) % 2 == 0 : value == trial - 4;
      uint64_t number = isLow ? lowest : all;
      if (trial >= count + 4)
        number = std::max(lowest, mixer.next() & all & ((uint64_t(2) << (mixer.next() % 48)) - 1));
      set(other, value, number);
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
  uint64_t values[kMaxValues] = {to.address}, unknown = to.address & ~known[0];
  for (uint32_t i = 0; i < rank; ++i) {
    values[1 + i] = to.extents[i] - 1;
    unknown |= values[1 + i] & ~known[1 + i];
  }
  for (uint32_t i = 1; i < rank; ++i) { // of which only the part in units of 16 bytes has places
    values[rank + i] = to.strides[i] >> 4;
    unknown |= (values[rank + i] & ~known[rank + i]) | (to.strides[i] & 15);
  }
  auto *words = static_cast<uint64_t *>(bytes);
  std::memcpy(words, base, kTensorMapBytes);
  for (const Run *run = runs; run != runs + numRuns; ++run)
    words[run->word] |= std::rotl(values[run->value] & run->mask, run->rotate);
  return unknown == 0;
}

bool TensorMapForm::hold(const uint64_t base[kWords], const TensorMapArguments &of, int axis,
                         MovingMap *moving) const {
  uint64_t words[kWords];
  if (!patch(base, of, words))
    return false;
  auto isMoving = [&](const Run &run) { return run.value == 0 || int(run.value) == axis + 1; };
  for (const Run *run = runs; run != runs + numRuns; ++run)
    if (isMoving(*run))
      words[run->word] &= ~std::rotl(run->mask, run->rotate);
  *moving = MovingMap();
  moving->hasExtent = axis >= 0;
  moving->known[0] = known[0];
  moving->known[1] = axis >= 0 ? known[axis + 1] : 0;
  for (const Run *run = runs; run != runs + numRuns; ++run) {
    if (!isMoving(*run))
      continue;
    if (moving->numRuns == MovingMap::kMaxRuns)
      return false;
    uint8_t part = 0;
    while (part < moving->numParts && moving->words[part] != run->word)
      ++part;
    if (part == moving->numParts) {
      moving->words[part] = run->word;
      moving->rest[part] = words[run->word];
      ++moving->numParts;
    }
    moving->runs[moving->numRuns++] = {run->mask, uint8_t(run->value != 0), run->rotate, part};
  }
  return true;
}

bool MovingMap::patch(uint64_t address, uint64_t extent, void *bytes) const {
  const uint64_t values[] = {address, hasExtent ? extent - 1 : 0};
  if ((values[0] & ~known[0]) | (values[1] & ~known[1])) [[unlikely]]
    return false;
  uint64_t made[kMaxRuns];
  for (int part = 0; part < numParts; ++part)
    made[part] = rest[part];
  for (int run = 0; run < numRuns; ++run)
    made[runs[run].part] |= std::rotl(values[runs[run].value] & runs[run].mask, runs[run].rotate);
  auto *into = static_cast<uint64_t *>(bytes);
  for (int part = 0; part < numParts; ++part)
    into[words[part]] = made[part];
  return true;
}

} // namespace tilegym::runtime
