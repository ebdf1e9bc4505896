// SPDX-License-Identifier: MIT
// Blackwell's large chips.
#include "compiler/targets/TargetFacts.h"

namespace tilegym::targets {

extern const TargetFacts sm100;
const TargetFacts sm100 = {.archs = {100, 103},
                           .maxSharedBytes = 227 * 1024,
                           .float8Products = true,
                           .clusters = true,
                           .bulkCopies = true,
                           .dependentLaunches = true};

} // namespace tilegym::targets
