// SPDX-License-Identifier: MIT
// What `to-ptx` and `to-sim` do alike: structured control flow, plain arithmetic and calls of libdevice become LLVM's.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace mlir {
class LLVMTypeConverter;
}

namespace tilegym::nvidia {

void populateCommonPatterns(mlir::LLVMTypeConverter &types, mlir::RewritePatternSet &patterns);

} // namespace tilegym::nvidia
