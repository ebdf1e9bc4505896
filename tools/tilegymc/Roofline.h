// SPDX-License-Identifier: MIT
// The least time that a card allows for so many bytes and operations, from the clocks and widths that its driver states.
#pragma once
#include "Gpu.h"

namespace tilegym::cli {

struct Peaks {
  double bytes = 0; ///< a second to and from memory; 0: the driver does not say
  double clock = 0; ///< Hz
  int arch = 0, multiprocessors = 0;

  /// Operations a second on elements of a dtype, dense, as matrix products have them; 0: not known for this arch.
  double flops(DType dtype) const;
  /// Seconds; 0 where what it depends on is not known.
  double roofline(int64_t bytesMoved, int64_t flopsDone, DType dtype) const;
};
Peaks peaksOf(const Gpu &gpu);

} // namespace tilegym::cli
