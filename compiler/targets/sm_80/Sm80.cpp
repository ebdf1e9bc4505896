// SPDX-License-Identifier: MIT
// Ampere's large chips, and Orin.
#include "compiler/targets/TargetFacts.h"

namespace tilegym::targets {

extern const TargetFacts sm80;
const TargetFacts sm80 = {
    .archs = {80, 87}, .maxSharedBytes = 163 * 1024, .float8Products = false, .clusters = false};

} // namespace tilegym::targets
