// SPDX-License-Identifier: MIT
// What every fuzz driver does with one input: all that the language part does to a spec, and the claims that must hold.
#pragma once
#include <string_view>

namespace tilegym::fuzz {
/// Aborts, saying what went wrong, if a claim fails; crashes are for the sanitizers to see. True if the text was a valid spec, checked and all.
bool fuzzOneSpec(std::string_view text);
} // namespace tilegym::fuzz
