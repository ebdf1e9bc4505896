// SPDX-License-Identifier: MIT
// Which variant a call takes: the first kernel whose guard holds and that has a variant for these dtypes, consts and facts; fast before general.
#pragma once
#include "Call.h"

namespace tilegym::runtime {

struct Choice {
  const format::Variant *variant = nullptr;
  uint32_t index = 0;
  int64_t params[format::kMaxDims] = {}; ///< the kernel's, the tuned ones included
};
TilegymStatus choose(const Call &call, Choice *choice);

} // namespace tilegym::runtime
