// SPDX-License-Identifier: MIT
// Makes a failing kernel small: statements, tensors, cases and parts of expressions go, and numbers shrink, as long as the failure stays.
#pragma once
#include <functional>
#include <string>

namespace tilegym::fuzz {

/// `stillFails` is asked only of texts that are sound specs. Gives up after `seconds`, with the smallest so far.
std::string reduceKernel(const std::string &text, const std::function<bool(const std::string &)> &stillFails,
                         double seconds);

} // namespace tilegym::fuzz
