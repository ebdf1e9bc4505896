// SPDX-License-Identifier: MIT
// NVIDIA's device math library, linked into a module for what it calls.
#pragma once
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
}

namespace tilegym::emit {

/// Links what the module calls of libdevice, and internalises it. Nothing happens where it calls none.
llvm::Error linkLibdevice(llvm::Module &module);

} // namespace tilegym::emit
