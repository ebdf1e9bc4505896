// SPDX-License-Identifier: MIT
// Elementwise ops of arith and math that need no more than the same op on each register.
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilegym::nvidia {

static LogicalResult lowerConstant(ThreadBuilder &t, Operation *op) {
  auto constant = cast<arith::ConstantOp>(op);
  Type element = t.elementType(constant.getType());
  auto make = [&](Attribute value) -> Value {
    if (auto number = dyn_cast<FloatAttr>(value); number && element.isInteger(8)) // f8
      return t.constant(element, number.getValue().bitcastToAPInt().getSExtValue());
    return arith::ConstantOp::create(t.b, t.loc, cast<TypedAttr>(value));
  };
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense) {
    t.set(constant, {make(constant.getValue())});
    return success();
  }
  if (dense.isSplat()) {
    Value value = make(dense.getSplatValue<Attribute>());
    t.set(constant, Registers(t.numRegisters(constant.getType()), value));
    return success();
  }
  return op->emitOpError("is a tile of different values, which a target does not take");
}

LogicalResult lowerElementwise(ThreadBuilder &t, Operation *op) {
  if (op->getNumResults() != 1)
    return op->emitOpError("has no lowering to threads");
  Type type = op->getResult(0).getType();
  Registers result;
  for (int64_t r = 0, n = t.numRegisters(type); r < n; ++r) {
    OperationState state(t.loc, op->getName());
    for (Value operand : op->getOperands()) {
      const Registers &registers = t.get(operand);
      // arith.select takes one condition for a whole tile.
      state.operands.push_back(registers[isa<RankedTensorType>(operand.getType()) ? r : 0]);
    }
    state.addTypes(t.elementType(type));
    state.attributes = op->getAttrDictionary();
    state.propertiesAttr = op->getPropertiesAsAttribute();
    result.push_back(t.b.create(state)->getResult(0));
  }
  t.set(op->getResult(0), std::move(result));
  return success();
}

Registers inlineScalarRegion(ThreadBuilder &t, Region &region, ValueRange arguments) {
  Block &block = region.front();
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    t.set(argument, {value});
  for (Operation &op : block.without_terminator())
    if (failed(t.lower(&op)))
      return {};
  Registers results;
  for (Value operand : block.getTerminator()->getOperands())
    results.push_back(t.scalar(operand));
  return results;
}

void addElementwiseHandlers(HandlerTable &table) { table["arith.constant"] = lowerConstant; }

} // namespace tilegym::nvidia
