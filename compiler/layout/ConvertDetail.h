// SPDX-License-Identifier: MIT
// What the two halves of conversion planning share; not for users of the library.
#pragma once

#include "compiler/layout/Convert.h"

namespace tilegym::layout::detail {

/// Steps for one unit tile, none if data must change warps or lanes cannot trade one for one.
std::optional<std::vector<ShuffleStep>> planShuffles(const Layout &from, const Layout &to);
/// Instructions a thread, roughly.
int shuffleCost(const std::vector<ShuffleStep> &steps);
/// The same measure for a pass through shared memory.
int sharedCost(const SharedPlan &plan);

} // namespace tilegym::layout::detail
