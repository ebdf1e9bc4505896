// SPDX-License-Identifier: MIT
// Random changes to spec texts, from single bytes to tokens, lines and nesting. A seed gives the same texts everywhere.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tilegym::fuzz {

/// SplitMix64: the standard library's distributions differ between implementations, this does not.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// In [0, bound); 0 where bound is 0.
  size_t below(size_t bound) { return bound ? next() % bound : 0; }

private:
  uint64_t state;
};

/// One text: random bytes, random tokens, deep nesting, or (mostly) a corpus text changed in a few places.
std::string makeInput(Random &random, const std::vector<std::string> &corpus);

} // namespace tilegym::fuzz
