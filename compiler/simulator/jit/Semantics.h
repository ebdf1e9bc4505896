// SPDX-License-Identifier: MIT
// What makes LLVM IR mean on the host what it means on a GPU, and be defined where it is on one.
#pragma once
#include "llvm/Support/Error.h"

namespace llvm {
class IRBuilderBase;
class Module;
class Type;
class Value;
} // namespace llvm

namespace tilegym::sim {

/// `__nvvm_reflect` answered: subnormals kept, precise square roots, this architecture.
void resolveReflect(llvm::Module &module, unsigned number);
/// Intrinsics of NVVM, which libdevice is written in, as IR or calls that mean the same here; an error names one that has no meaning here.
llvm::Error replaceNvvmIntrinsics(llvm::Module &module);
/// What `cvt` makes of a float, to 32 or 64 bits: it saturates; NaN gives 0 from f32 to 32 bits, and with 64 bits on either side the top bit alone.
llvm::Value *floatToInteger(llvm::IRBuilderBase &b, llvm::Value *x, llvm::Type *to, bool isSigned);
/// Arithmetic as the GPU's: no contraction, -0 below +0 in minima and maxima, division by zero without a trap, conversions that saturate, and in kernels that
/// ask for it subnormals flushed around f32 operations (bit by bit: the host's own mode would flush f64 and the simulator, too).
void adaptArithmetic(llvm::Module &module);

} // namespace tilegym::sim
