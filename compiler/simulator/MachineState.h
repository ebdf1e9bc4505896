// SPDX-License-Identifier: MIT
// What a machine keeps for one launch, out of sight of the instructions.
#pragma once
#include "compiler/simulator/Machine.h"
#include "compiler/simulator/Ordering.h"
#include "compiler/simulator/TrafficCounter.h"
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>

namespace tilegym::sim {

struct Machine::State {
  explicit State(Machine &machine) : machine(machine) {}
  Machine &machine;
  /// splitmix64: every seed gives a good sequence.
  uint64_t seed = 0;
  uint64_t next() {
    uint64_t z = seed += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }

  /// Equal faults are one finding: counts one more and gives false where it is known already. Asked before a text is made.
  bool isNew(FindingKind kind, const Site *site, const Site *other);
  /// A race seen from either side is one.
  using Key = std::tuple<FindingKind, const Site *, const Site *>;
  static Key keyOf(FindingKind kind, const Site *site, const Site *other) {
    return std::less<>()(other, site) ? Key(kind, other, site) : Key(kind, site, other);
  }
  std::map<Key, size_t> known; ///< index in the report

  std::unordered_map<uint64_t, LocationClock> locations;
  TrafficCounter traffic;
};

} // namespace tilegym::sim
