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
static ParseResult parseGlobalPointer(OpAsmParser &parser, Type &type) {
  type = LLVM::LLVMPointerType::get(parser.getContext(), 1);
  return success();
}
static void printGlobalPointer(OpAsmPrinter &, Operation *, Type) {}
static ParseResult parseSameAs(OpAsmParser &, Type from, Type &type) {
  type = from;
  return success();
}
static void printSameAs(OpAsmPrinter &, Operation *, Type, Type) {}

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

/// Words of 8 and 16 bits travel in i16, others in their own width; an access is at most 16 bytes.
static LogicalResult verifyWords(Operation *op, TypeRange words, int64_t bits) {
  size_t n = words.size();
  if (n != 1 && n != 2 && n != 4)
    return op->emitOpError("has ") << n << " words, but an access has 1, 2 or 4";
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return op->emitOpError("has words of ") << bits << " bits, but 8, 16, 32 and 64 exist";
  if (bits * int64_t(n) > 128)
    return op->emitOpError("moves ") << bits * int64_t(n) / 8 << " bytes, but an access has at most 16";
  for (Type word : words)
    if (word.getIntOrFloatBitWidth() != std::max<int64_t>(bits, 16))
      return op->emitOpError("has a word of type ") << word << " for " << bits << " bits";
  return success();
}

LogicalResult LoadGlobalOp::verify() {
  if (getPredicate() ? getOther().getTypes() != getWords().getTypes() : !getOther().empty())
    return emitOpError("needs one `else` word for each word under a predicate, and none without");
  return verifyWords(*this, getWords().getTypes(), getBits());
}

LogicalResult StoreGlobalOp::verify() { return verifyWords(*this, getWords().getTypes(), getBits()); }
