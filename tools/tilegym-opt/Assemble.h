// SPDX-License-Identifier: MIT
// The `assemble` mode of tilegym-opt.
#pragma once
#include "llvm/ADT/ArrayRef.h"

namespace tilegym {
int assembleMain(llvm::ArrayRef<const char *> args);
}
