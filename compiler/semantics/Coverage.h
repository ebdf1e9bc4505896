// SPDX-License-Identifier: MIT
// Is there a kernel for every call that the op does not refuse? Answered by trying the calls where guards and checks change their mind.
#pragma once
#include "compiler/semantics/HostEval.h"

namespace tilegym::sem {

/// A legal call that no guard takes, as `N = 4097, M = 1`; nullopt where none was found. What is found is true; what is not found may
/// still exist where guards are intricate.
std::optional<std::string> findUncovered(const OpModel &op);

} // namespace tilegym::sem
