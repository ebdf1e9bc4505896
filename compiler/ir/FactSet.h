// SPDX-License-Identifier: MIT
// What a variant is compiled for to know of its arguments.
#pragma once
#include "compiler/ir/TileEnums.h"
#include <cstdint>
#include <string_view>

namespace tilegym::tile {

/// Fast: all that a kernel can use. Dense: the same without 16-byte alignment and whole vectors, for views at odd distances and bases. General: none.
enum class FactKind { General, Dense, Fast };

inline std::string_view nameOf(FactKind kind) {
  return kind == FactKind::Fast ? "fast" : kind == FactKind::Dense ? "dense" : "general";
}

struct FactSet {
  FactKind kind = FactKind::General;
  uint64_t transposed =
      0; ///< bit a tensor of a fast set: neighbours in memory lie along its last axis but one
  FactSet(FactKind kind = FactKind::General, uint64_t transposed = 0) : kind(kind), transposed(transposed) {}
  bool isFast() const { return kind == FactKind::Fast; }
  /// What passes and dispatch see: a dense kernel is a fast one that asks less of its tensors.
  Facts facts() const { return kind == FactKind::General ? Facts::General : Facts::Fast; }
  bool operator==(const FactSet &) const = default;
};

} // namespace tilegym::tile
