// SPDX-License-Identifier: MIT
// Blackwell's graphics chips.
#include "compiler/targets/TargetFacts.h"

namespace tilegym::targets {

extern const TargetFacts sm120;
const TargetFacts sm120 = {.archs = {120, 121},
                           .maxSharedBytes = 99 * 1024,
                           .float8Products = true,
                           .clusters = true,
                           .bulkCopies = true,
                           .dependentLaunches = true};

} // namespace tilegym::targets
