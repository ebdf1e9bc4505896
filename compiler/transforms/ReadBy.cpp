// SPDX-License-Identifier: MIT
// Looks into regions.
#include "compiler/transforms/ReadBy.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tilegym::transforms {

llvm::SmallSetVector<Value, 4> readBy(Operation *op) {
  llvm::SmallSetVector<Value, 4> values;
  values.insert(op->operand_begin(), op->operand_end());
  if (op->getNumRegions()) {
    llvm::SetVector<Value> above;
    getUsedValuesDefinedAbove(op->getRegions(), above);
    values.insert(above.begin(), above.end());
  }
  return values;
}

bool isScalarProgram(Operation *op) {
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  return isMemoryEffectFree(op) && !op->walk([&](Operation *inner) {
                                        return llvm::any_of(inner->getResultTypes(), isTile)
                                                   ? WalkResult::interrupt()
                                                   : WalkResult::advance();
                                      }).wasInterrupted();
}

} // namespace tilegym::transforms
