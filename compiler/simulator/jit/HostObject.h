// SPDX-License-Identifier: MIT
// LLVM IR from `to-sim` to an object file for this machine: libdevice linked and given a meaning here, arithmetic as a GPU does it.
#pragma once
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm
namespace mlir {
class ModuleOp;
}

namespace tilegym::sim {

/// What an object says of a kernel, under the symbol `NAME.facts`.
struct KernelFacts {
  uint32_t threads, cluster, sharedBytes;
  uint32_t numByValue; ///< parameters that are memory of their own, as tensor maps
  struct ByValue {
    uint32_t parameter, bytes;
  } byValue[];
};

/// The module must hold the LLVM dialect only, as `to-sim` leaves it.
llvm::Expected<std::unique_ptr<llvm::Module>> translateForHost(mlir::ModuleOp module,
                                                               llvm::LLVMContext &context);
/// `number`: the compute capability that libdevice is to see, 90 for sm_90a.
llvm::Expected<std::string> compileForHost(llvm::Module &module, unsigned number);

} // namespace tilegym::sim
