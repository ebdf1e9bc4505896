// SPDX-License-Identifier: MIT
// From the checked tree to the tile dialect: what the driver calls.
#pragma once
#include "compiler/ir/FactSet.h"
#include "compiler/semantics/OpModel.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class ModuleOp;
}

namespace tilegym::lowering {

/// Appends the kernel to the module as `tile.kernel @entry`, for one fact set, at the module's location. False if it uses what no target lowers yet; each such
/// place has been reported.
bool lowerKernel(const sem::OpModel &op, const sem::Kernel &kernel, const tile::FactSet &facts,
                 llvm::StringRef entry, mlir::ModuleOp module, DiagnosticSink &sink);

/// Whether a fast kernel asks for aligned vectors of any tensor, so that a dense one is another.
bool asksForVectors(const sem::OpModel &op, const sem::Kernel &kernel);

} // namespace tilegym::lowering
