// SPDX-License-Identifier: MIT
// The variant policy, where there is no tuned table: docs/architecture.md, "Which variants are built".
#pragma once
#include "compiler/ir/TileEnums.h"
#include "compiler/semantics/OpModel.h"
#include "compiler/targets/TargetFacts.h"
#include <string_view>

namespace tilegym::driver {

/// What the command line asks for: empty lists mean all.
struct VariantFilter {
  std::vector<DType> dtypes;                               ///< of the type variables with a choice
  std::vector<std::pair<std::string, std::string>> consts; ///< `causal=true`, `D=128`
};

/// A variant to build: dtypes, consts, optional tensors, kernel, derived values and facts are settled; any point of the tune space will do.
struct VariantSlot {
  tile::Facts facts = tile::Facts::General;
  std::vector<sem::Specialization> candidates; ///< likely fastest first; never empty
  bool spare = false;                          ///< a later kernel takes all its calls, so it may be left out
};

/// In the order of choice at dispatch, of kernels: plans, and what only they launch, are the caller's to refuse. `chip` names the target in the
/// spec's `arch` settings.
std::vector<VariantSlot> enumerateVariants(const sem::OpModel &op, std::string_view chip,
                                           const targets::TargetFacts &target, const VariantFilter &filter,
                                           DiagnosticSink &sink);

} // namespace tilegym::driver
