// SPDX-License-Identifier: MIT
// Registration, custom syntax and verifiers of the target instructions.
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilegym::ptx;

// Types that follow from others are not written.
static ParseResult parseSameWords(OpAsmParser &, ArrayRef<Type> words, SmallVectorImpl<Type> &other,
                                  ArrayRef<OpAsmParser::UnresolvedOperand> operands) {
  if (!operands.empty())
    other.assign(words.begin(), words.end());
  return success();
}
static void printSameWords(OpAsmPrinter &, Operation *, TypeRange, TypeRange, ValueRange) {}
// Memory is global unless its pointer's type is written.
static ParseResult parseMemoryPointer(OpAsmParser &parser, Type &type) {
  type = LLVM::LLVMPointerType::get(parser.getContext(), 1);
  return success(failed(parser.parseOptionalKeyword("at")) || succeeded(parser.parseType(type)));
}
static void printMemoryPointer(OpAsmPrinter &printer, Operation *, Type type) {
  if (type != LLVM::LLVMPointerType::get(type.getContext(), 1))
    printer << " at " << type;
}
static ParseResult parseSameAs(OpAsmParser &, Type from, Type &type) {
  type = from;
  return success();
}
static void printSameAs(OpAsmPrinter &, Operation *, Type, Type) {}
static ParseResult parseSameTypes(OpAsmParser &parser, SmallVectorImpl<Type> &values,
                                  SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(values))
    return failure();
  results.assign(values.begin(), values.end());
  return success();
}
static void printSameTypes(OpAsmPrinter &printer, Operation *, TypeRange values, TypeRange) {
  llvm::interleaveComma(values, printer);
}
static ParseResult parseAccumulators(OpAsmParser &parser,
                                     SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                                     SmallVectorImpl<Type> &types, SmallVectorImpl<Type> &results,
                                     ElementTypeAttr sum) {
  if (parser.parseOperandList(operands))
    return failure();
  Builder &b = parser.getBuilder();
  types.assign(operands.size(), sum.getValue() == ElementType::F32 ? Type(b.getF32Type()) : b.getI32Type());
  results.assign(types.begin(), types.end());
  return success();
}
static void printAccumulators(OpAsmPrinter &printer, Operation *, OperandRange operands, TypeRange, TypeRange,
                              ElementTypeAttr) {
  printer << operands;
}
static ParseResult parseWgmmaA(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                               SmallVectorImpl<Type> &types) {
  if (parser.parseOperandList(operands))
    return failure();
  Builder &b = parser.getBuilder();
  types.assign(operands.size(), operands.size() == 1 ? b.getI64Type() : b.getI32Type());
  return success();
}
static void printWgmmaA(OpAsmPrinter &printer, Operation *, OperandRange operands, TypeRange) {
  printer << operands;
}

#include "compiler/targets/nvidia/ptx/PtxDialect.cpp.inc"
#include "compiler/targets/nvidia/ptx/PtxEnums.cpp.inc"
#include "compiler/targets/nvidia/ptx/PtxInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/targets/nvidia/ptx/PtxAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/targets/nvidia/ptx/PtxOps.cpp.inc"

void PtxDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/targets/nvidia/ptx/PtxAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/targets/nvidia/ptx/PtxOps.cpp.inc"
      >();
}

/// Every attribute that the dialect defines is an enum.
template <class... Enums> static std::optional<int64_t> enumValue(Attribute attribute) {
  std::optional<int64_t> value;
  (void)((isa<Enums>(attribute) && (value = int64_t(cast<Enums>(attribute).getValue()), true)) || ...);
  return value;
}

std::optional<int64_t> tilegym::ptx::attributeAsInteger(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getType().isInteger(1) ? int64_t(integer.getValue().getBoolValue()) : integer.getInt();
  if (isa<UnitAttr>(attribute))
    return 1;
  return enumValue<
#define GET_ATTRDEF_LIST
#include "compiler/targets/nvidia/ptx/PtxAttrs.cpp.inc"
      >(attribute);
}