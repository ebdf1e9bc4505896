// SPDX-License-Identifier: MIT
// The dialects and passes of the compiler part, for tools that take any of them by name.
#pragma once

namespace mlir {
class DialectRegistry;
}

namespace tilegym::driver {

/// And their translations to LLVM IR.
void registerDialects(mlir::DialectRegistry &registry);
/// Every pass of ours under its flag, and the upstream ones that the pipeline uses.
void registerPasses();

} // namespace tilegym::driver
