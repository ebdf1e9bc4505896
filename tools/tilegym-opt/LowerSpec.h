// SPDX-License-Identifier: MIT
// The `lower` mode of tilegym-opt.
#pragma once
#include "llvm/ADT/ArrayRef.h"

namespace tilegym {
int lowerSpecMain(llvm::ArrayRef<const char *> args);
}
