// SPDX-License-Identifier: MIT
// GPUs whose rates are known without asking one: what `explain` reckons with where there is none.
#pragma once
#include "compiler/semantics/DType.h"
#include <string>

namespace tilegym::cli {

struct Card {
  const char *name;
  int arch, multiprocessors;
  double bytesPerSecond;             ///< of its memory
  double f32PerSecond, f16PerSecond; ///< operations; f16 and bf16 on tensor cores, dense
  /// The least seconds for so much memory traffic and arithmetic on a dtype.
  double roofline(int64_t bytes, int64_t flops, DType dtype) const;
};
/// By a part of its name, in any case of letters; null where there is none.
const Card *findCard(const std::string &name);
/// The one that stands for a compute capability; null where none does.
const Card *cardOfArch(int arch);
/// "H200, H100 SXM, ...".
std::string knownCards();

} // namespace tilegym::cli
