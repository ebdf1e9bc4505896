// SPDX-License-Identifier: MIT
// The rest of the pipeline, from the threads stage on. Each takes a copy.
#pragma once
#include "compiler/emit/Package.h"
#include "mlir/IR/BuiltinOps.h"

namespace tilegym::mutation {

/// Code for the simulator.
llvm::Expected<std::string> compileForSimulator(mlir::ModuleOp threads, const emit::Arch &arch);
/// What a GPU would get. Equal texts are equal kernels.
llvm::Expected<std::string> compileToPtx(mlir::ModuleOp threads, const emit::Arch &arch);
/// The text after canonicalisation and CSE.
std::string canonicalText(mlir::ModuleOp threads);
/// What the verifiers and `check-wgmma` say; empty: nothing.
std::string checkStatically(mlir::ModuleOp threads);

} // namespace tilegym::mutation
