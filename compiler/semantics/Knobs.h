// SPDX-License-Identifier: MIT
// The schedule knobs that a `tune` section may set: one table of names, kinds and meanings.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilegym::sem {

struct KnobInfo {
  enum Kind : uint8_t {
    Int,  ///< an integer in [least, greatest]
    Bool, ///< false, true
    Word, ///< one of `words`, kept as its number
  } kind = Int;
  std::string name;
  std::string doc;
  int64_t least = 1, greatest = 1;
  bool powerOfTwo = false;
  std::vector<std::string> words = {};
};

const std::vector<KnobInfo> &knobs();
const KnobInfo *findKnob(std::string_view name);
/// `8`, `true`, `registers`: a knob's value as a spec writes it.
std::string knobText(std::string_view knob, int64_t value);

} // namespace tilegym::sem
