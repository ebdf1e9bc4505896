// SPDX-License-Identifier: MIT
// LLVM dialect to PTX, in process: translation, libdevice, LLVM's optimiser, the NVPTX backend. A fatal error
// of the backend becomes an ordinary error.
#pragma once
#include "llvm/Support/Error.h"
#include <string>

namespace mlir {
class ModuleOp;
}
namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace tilegym::emit {

struct PtxOptions {
  std::string chip = "sm_80";     ///< as LLVM and ptxas name it: sm_90a
  std::string feature = "+ptx90"; ///< PTX ISA version; LLVM would take the chip's oldest
};

/// The module must hold dialects that translate to LLVM IR only; what it gives is for the machine's target.
llvm::Expected<std::unique_ptr<llvm::Module>> translateFor(const llvm::TargetMachine &machine,
                                                           mlir::ModuleOp module, llvm::LLVMContext &context);
/// The module must hold LLVM and NVVM dialect only.
llvm::Expected<std::unique_ptr<llvm::Module>>
translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context, const PtxOptions &options);
/// Links what of libdevice is called, optimises, and gives PTX text.
llvm::Expected<std::string> emitPtx(llvm::Module &module, const PtxOptions &options);

} // namespace tilegym::emit
