// SPDX-License-Identifier: MIT
// Which variant a call takes: the first kernel whose guard holds and that has a variant for these dtypes, consts and facts; fast before general.
#pragma once
#include "Call.h"

namespace tilegym::runtime {

struct Choice {
  const format::Variant *variant = nullptr;
  const format::Image *image = nullptr; ///< the code for the device
  uint32_t index = 0;
  int64_t params[format::kMaxDims] = {}; ///< the kernel's, the tuned ones included
};
/// Instead of a compute capability: as if for the GPU that each variant was compiled for.
constexpr int kAnyArch = 0;
/// The code of a variant that a device runs best, and how well it fits; null and -1 where there is none.
const format::Image *bestImage(const Table &table, const format::Variant &variant, int arch, int *fit);
/// For a device of compute capability `arch` (90 for 9.0).
TilegymStatus choose(const Call &call, int arch, const char *deviceName, Choice *choice);

} // namespace tilegym::runtime
