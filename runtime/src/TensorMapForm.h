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

/// A map of which only the address and the extent of one axis move.
class MovingMap {
public:
  /// Writes what moves into a map that is right but for that; false where a value has bits that were never seen in a place. `extent` is not looked at where none moves.
  bool patch(uint64_t address, uint64_t extent, void *bytes) const;

private:
  friend class TensorMapForm;
  static constexpr int kMaxRuns = 8;
  struct Run {
    uint64_t mask;
    uint8_t value, rotate, part;
  };
  bool hasExtent = false;
  uint8_t numRuns = 0, numParts = 0;
  uint64_t known[2];       ///< bits that have a place: of the address and of the extent less one
  uint64_t rest[kMaxRuns]; ///< of each word that something moves in, what does not
  uint8_t words[kMaxRuns];
  Run runs[kMaxRuns];
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

  /// From what makeBase gave, and one map's values, to the maps that differ from it in address and the extent of `axis` (-1: in the address alone). False where there is no room.
  bool hold(const uint64_t base[kWords], const TensorMapArguments &of, int axis, MovingMap *moving) const;

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
