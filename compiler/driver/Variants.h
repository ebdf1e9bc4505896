// SPDX-License-Identifier: MIT
// The variant policy, where there is no tuned table: docs/architecture.md, "Which variants are built".
#pragma once
#include "compiler/ir/FactSet.h"
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
  tile::FactSet facts;
  std::vector<sem::Specialization> candidates; ///< likely fastest first; never empty
  bool spare = false;                          ///< a later kernel takes all its calls, so it may be left out
  /// Of a plan, whose facts are `Fast`: its points in the order that suits its launches without facts. Scratch buffers are of a size that may follow from
  /// tile parameters, so that both kinds of launches share these.
  std::vector<sem::Specialization> generalOrder;
  bool isPlan() const { return !generalOrder.empty(); }
};

/// In the order of choice at dispatch, of kernels and plans; what only plans launch is theirs. `chip` names the target in the spec's `arch` settings.
std::vector<VariantSlot> enumerateVariants(const sem::OpModel &op, std::string_view chip,
                                           const targets::TargetFacts &target, const VariantFilter &filter,
                                           DiagnosticSink &sink);

} // namespace tilegym::driver
