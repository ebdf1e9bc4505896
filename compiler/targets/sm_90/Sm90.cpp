// SPDX-License-Identifier: MIT
// Hopper; sm_90a is the same GPU.
#include "compiler/targets/TargetFacts.h"

namespace tilegym::targets {

extern const TargetFacts sm90;
const TargetFacts sm90 = {.archs = {90},
                          .maxSharedBytes = 227 * 1024,
                          .float8Products = true,
                          .warpgroupProducts = true,
                          .clusters = true,
                          .bulkCopies = true,
                          .dependentLaunches = true};

} // namespace tilegym::targets
