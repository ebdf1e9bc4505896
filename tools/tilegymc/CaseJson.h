// SPDX-License-Identifier: MIT
// A call's names for Python: what the expression of an `oracle` or a `peer` may say beside the tensors.
#pragma once
#include "compiler/semantics/TestCalls.h"
#include <nlohmann/json.hpp>

namespace tilegym::cli {

/// {"op", "case", "dtypes": {T: "f16"}, "dims": {R: 4096}, "scalars": {...}}
nlohmann::ordered_json caseJson(const sem::OpModel &op, const sem::TestCall &call);

} // namespace tilegym::cli
