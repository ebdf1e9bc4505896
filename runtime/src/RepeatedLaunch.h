// SPDX-License-Identifier: MIT
// What a thread's calls hand to the driver while they are alike and take one variant: made once, and then, for each, only what moves is written anew: addresses, how many
// rows there are, scalars, the grid.
#pragma once
#include "ChoiceCache.h"
#include "KernelLaunch.h"

namespace tilegym::runtime {

/// The grids of a package's variants as terms. Each is made when it is first asked for, under a lock, and stays.
class Grids {
public:
  struct OfVariant {
    Terms terms;
    size_t axes;
  };
  explicit Grids(const Table &table);
  ~Grids();
  Grids(const Grids &) = delete;
  Grids &operator=(const Grids &) = delete;
  const OfVariant &of(const Call &call, const Choice &choice);

private:
  std::mutex mutex;
  std::vector<size_t> firsts; ///< by op (Table::numberOf): its first variant's place
  std::unique_ptr<std::atomic<const OfVariant *>[]> made;
  size_t count = 0;
};

class RepeatedLaunch {
public:
  void drop() { variant = nullptr; }
  bool isOf(const Driver &driver, const Choice &choice) const {
    return variant == choice.variant && encoder == driver.tensorMapEncodeTiled;
  }
  /// For calls that are like this one, whose variant is no plan. What has more that moves than there is room for is of no choice then.
  TilegymStatus make(const Driver &driver, const Call &call, const Choice &choice, Grids &grids,
                     MapTemplate *maps);
  /// Of a call that is like the one that it was made for. False where this has no words for it: then the launch is worked out as a first one.
  bool update(const Call &call, const Choice &choice, int64_t *blocks);
  void **parameters() { return kept.pointers; }

private:
  static constexpr size_t kMaxMoving = 32;
  struct Moving {
    format::Param param;
    uint32_t place;
  };
  bool makeMaps(const Driver &driver, const Call &call, MapTemplate *templates);

  const format::Variant *variant = nullptr; ///< null: of none
  decltype(Driver::tensorMapEncodeTiled) encoder = nullptr;
  const Grids::OfVariant *grid = nullptr;
  size_t numMoving = 0, numMaps = 0;
  Moving moving[kMaxMoving];
  MovingMap maps[format::kMaxMaps];
  uint32_t mapTensors[format::kMaxMaps];
  Terms::State gridState;
  Parameters kept;
};

} // namespace tilegym::runtime
