// SPDX-License-Identifier: MIT
// What a variant is compiled for to know of its arguments.
#pragma once
#include "compiler/ir/TileEnums.h"
#include <cstdint>

namespace tilegym::tile {

struct FactSet {
  Facts kind = Facts::General;
  uint64_t transposed =
      0; ///< bit a tensor of a fast set: neighbours in memory lie along its last axis but one
  FactSet(Facts kind = Facts::General, uint64_t transposed = 0) : kind(kind), transposed(transposed) {}
  bool isFast() const { return kind == Facts::Fast; }
  bool operator==(const FactSet &) const = default;
};

} // namespace tilegym::tile
