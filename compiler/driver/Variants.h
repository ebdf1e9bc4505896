// SPDX-License-Identifier: MIT
// The variant policy: without a tuned table, one point of the tune space for each (dtypes, consts, optional tensors, kernel, derived values), chosen by
// the cost model.
#pragma once
#include "compiler/semantics/OpModel.h"
#include <string_view>

namespace tilegym::driver {

/// What the command line asks for: empty lists mean all.
struct VariantFilter {
  std::vector<DType> dtypes;                               ///< of the type variables with a choice
  std::vector<std::pair<std::string, std::string>> consts; ///< `causal=true`, `D=128`
};

/// In the order of choice at dispatch. Kernels that only plans launch, and plans, are left out: `skipped` names them.
std::vector<sem::Specialization> enumerateVariants(const sem::OpModel &op, std::string_view arch,
                                                   const VariantFilter &filter,
                                                   std::vector<std::string> &skipped, DiagnosticSink &sink);

} // namespace tilegym::driver
