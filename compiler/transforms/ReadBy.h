// SPDX-License-Identifier: MIT
// Small programs on scalars, such as the search for a block's tensor in a list: what one thread can do again elsewhere.
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace tilegym::transforms {

/// Values that the op takes: operands, and what its regions use from around it.
llvm::SmallSetVector<mlir::Value, 4> readBy(mlir::Operation *op);

/// Whether the op, loops and conditions included, neither touches memory nor makes tiles.
bool isScalarProgram(mlir::Operation *op);

} // namespace tilegym::transforms
