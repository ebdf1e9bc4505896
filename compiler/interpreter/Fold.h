// SPDX-License-Identifier: MIT
// The order of every reduction of the oracle, the same for built-in and written combiners: the upper half of the axis is combined onto
// the lower half, element by element (lower operand first; with an odd number the middle element waits), until one element is left.
// The error of a sum so grows with log2(n), and the loops are over whole halves.
#pragma once
#include <cstdint>

namespace tilegym::interp {

/// Calls combine(upper, count): elements [0, count) take those of [upper, upper + count); all in units of the axis.
template <class Combine> void foldAxis(int64_t length, Combine combine) {
  while (length > 1) {
    const int64_t upper = (length + 1) / 2;
    combine(upper, length - upper);
    length = upper;
  }
}

} // namespace tilegym::interp
