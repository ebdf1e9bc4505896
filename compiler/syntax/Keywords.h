// SPDX-License-Identifier: MIT
// The reserved words, and the nearest word to a misspelt one. All other words of the language (`where`, `step`, `case`,
// `scratch` ...) are known by their place only, so they stay free as names.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

namespace tilegym::syntax {

bool isReserved(std::string_view word);
/// Words that start a section of a spec: `op`, `reference`, `kernel` ...
bool isSectionWord(std::string_view word);
/// The candidate within a third of the word's length in edits (a swap counts as one), or empty.
std::string_view nearest(std::string_view word, std::initializer_list<std::string_view> candidates);
/// "did you mean `x`?", or empty.
std::string didYouMean(std::string_view word, std::initializer_list<std::string_view> candidates);

} // namespace tilegym::syntax
