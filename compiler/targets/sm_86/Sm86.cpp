// SPDX-License-Identifier: MIT
// Ampere's and Ada's graphics chips.
#include "compiler/targets/TargetFacts.h"

namespace tilegym::targets {

extern const TargetFacts sm86;
const TargetFacts sm86 = {
    .archs = {86, 89}, .maxSharedBytes = 99 * 1024, .float8Products = false, .clusters = false};

} // namespace tilegym::targets
