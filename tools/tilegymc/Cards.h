// SPDX-License-Identifier: MIT
// Rates of GPUs: of some without asking one, which `explain` reckons with where there is none, and of the one that is here.
#pragma once
#include "Gpu.h"

namespace tilegym::cli {

struct Card {
  const char *name;
  int arch, multiprocessors;
  double bytesPerSecond;             ///< of its memory
  double f32PerSecond, f16PerSecond; ///< operations; f16 and bf16 on tensor cores, dense
  /// The least seconds for so much memory traffic and arithmetic on a dtype; 0 where a rate is not known.
  double roofline(int64_t bytes, int64_t flops, DType dtype) const;
};
/// By a part of its name, in any case of letters; null where there is none.
const Card *findCard(const std::string &name);
/// The one that stands for a compute capability; null where none does.
const Card *cardOfArch(int arch);
/// The one that is here, by the clocks and widths that its driver states; a rate that cannot be known is 0.
Card cardOf(const Gpu &gpu);
/// "H200, H100 SXM, ...".
std::string knownCards();

} // namespace tilegym::cli
