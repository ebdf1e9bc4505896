// SPDX-License-Identifier: MIT
// The `simulate` mode of tilegym-opt.
#pragma once
#include "llvm/ADT/ArrayRef.h"

namespace tilegym {
int simulateMain(llvm::ArrayRef<const char *> args);
}
