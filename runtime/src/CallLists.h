// SPDX-License-Identifier: MIT
// Where the tensors of lists are kept while a call is bound.
#pragma once
#include "Call.h"

namespace tilegym::runtime {

/// Of this thread's, one that no call uses; a new one where there is none that is large enough.
std::unique_ptr<ListRoom> takeListRoom(const OpPlan &plan);
void keepListRoom(std::unique_ptr<ListRoom> room);

} // namespace tilegym::runtime
