// SPDX-License-Identifier: MIT
// Which values the derived parameters of a kernel can take: the range that the guard and the op's checks leave to each dim, and the
// parameters evaluated over it.
#pragma once
#include "compiler/semantics/HostEval.h"

namespace tilegym::sem {

/// What a derived pow2ceil of run-time values gives at least.
constexpr int64_t kLeastDerivedPow2 = 128;
/// More combinations of derived values than this, and a parameter should be tuned or bounded.
constexpr size_t kMaxDerived = 256;

struct DerivedValues {
  std::vector<std::vector<int64_t>>
      tuples; ///< by KernelModel::tileParams (tuned ones hold 0), ascending; one empty-handed tuple if none is derived
  std::string error, help; ///< why they cannot be listed
  SourceRange range;
};
/// No tuple at all where the guard cannot hold for `interface`.
DerivedValues deriveValues(const OpModel &op, const Specialization &interface, int64_t kernel);

/// The least and greatest value a condition leaves to a dim or scalar; dims are at least 1, as nothing runs on empty tensors.
struct HostBounds {
  static constexpr int64_t none = INT64_MAX;
  std::vector<int64_t> dimLow, dimHigh, scalarLow, scalarHigh;
};
HostBounds boundsOf(const OpModel &op, const std::vector<ExprPtr> &conditions);

} // namespace tilegym::sem
