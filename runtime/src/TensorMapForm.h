// SPDX-License-Identifier: MIT
// Where in its 128 bytes the driver puts a tensor map's address, extents and strides: found by asking the driver, once for each rank, and never assumed. A
// call then writes them itself, which takes a tenth of what the driver takes.
#pragma once
#include "Driver.h"
#include "tilegym/format/Table.h"

namespace tilegym::runtime {

/// What the driver is given of one map.
struct TensorMapArguments {
  int type;
  uint32_t rank;
  uint64_t address;
  uint64_t extents[format::kMaxMapRank];
  uint64_t strides[format::kMaxMapRank]; ///< bytes; the innermost axis's is not looked at
  uint32_t box[format::kMaxMapRank];
  int swizzle; ///< the driver's number

  CUresult encode(const Driver &driver, unsigned char *bytes) const;
};

/// The places of the values of one rank.
class TensorMapForm {
public:
  static constexpr int kWords = int(kTensorMapBytes / 8);

  /// Asks the driver about every bit by itself. False where what it answers does not look like numbers put into places: then it is to make each map.
  bool learn(const Driver &driver, uint32_t rank);

  /// Encodes `base`, and checks by further maps whether `patch` makes of it what the driver makes. `words` becomes what to patch.
  bool makeBase(const Driver &driver, TensorMapArguments base, uint64_t words[kWords]) const;

  /// From what makeBase gave to the map of these values, at an address that is a multiple of 8; false where one has bits that were never seen in a place.
  bool patch(const uint64_t base[kWords], const TensorMapArguments &to, void *bytes) const;

private:
  /// Consecutive bits of a value that are consecutive in a word.
  struct Run {
    uint64_t mask;  ///< of the value
    uint8_t value;  ///< the address, extents less one, strides in units of 16 bytes
    uint8_t rotate; ///< how far to the left
    uint8_t word;
  };
  static constexpr int kMaxValues = 2 * int(format::kMaxMapRank);

  int numValues() const { return int(2 * rank); }
  static uint64_t get(const TensorMapArguments &a, int value);
  static void set(TensorMapArguments &a, int value, uint64_t number);
  bool learnValue(const Driver &driver, const TensorMapArguments &base, const uint64_t words[kWords],
                  int value);

  static constexpr int kMaxRuns = 4 * kMaxValues;
  uint32_t rank = 0;
  int numRuns = 0;
  uint64_t known[kMaxValues] = {}; ///< bits of each value that have a place
  Run runs[kMaxRuns];
};

} // namespace tilegym::runtime
