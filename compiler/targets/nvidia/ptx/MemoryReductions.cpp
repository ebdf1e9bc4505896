// SPDX-License-Identifier: MIT
// The table of reductions into memory.
#include "compiler/targets/nvidia/ptx/MemoryReductions.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilegym::ptx {

LogicalResult verifyReduction(Operation *op, ReduceKind kind, ElementType type) {
  bool isInteger = type <= ElementType::S64;
  bool isHalf = type == ElementType::F16 || type == ElementType::BF16;
  bool isFloat = isHalf || type == ElementType::F32 || type == ElementType::F64;
  bool known = false;
  switch (kind) {
  case ReduceKind::Add:
    known = isInteger || isFloat;
    break;
  case ReduceKind::Min:
  case ReduceKind::Max:
    known = isInteger || isHalf;
    break;
  case ReduceKind::Inc:
  case ReduceKind::Dec:
    known = type == ElementType::U32;
    break;
  case ReduceKind::And:
  case ReduceKind::Or:
  case ReduceKind::Xor:
    known = isInteger;
    break;
  }
  if (known)
    return success();
  return op->emitOpError("does ")
         << stringifyReduceKind(kind) << " on " << stringifyElementType(type)
         << ", but there are add of integers and floats, min and max of integers, f16 and bf16, inc and dec "
            "of u32, and, or and xor of integers";
}

std::string reductionType(ReduceKind kind, ElementType type) {
  bool is64 = type == ElementType::U64 || type == ElementType::S64;
  if (kind == ReduceKind::And || kind == ReduceKind::Or || kind == ReduceKind::Xor)
    return is64 ? "b64" : "b32";
  // There is no signed 64-bit sum, and its bits are those of the unsigned one.
  if (kind == ReduceKind::Add && is64)
    return "u64";
  return stringifyElementType(type).str();
}

Type wordOf(MLIRContext *context, ElementType type) {
  Builder b(context);
  switch (type) {
  case ElementType::F32:
    return b.getF32Type();
  case ElementType::F64:
    return b.getF64Type();
  case ElementType::U64:
  case ElementType::S64:
    return b.getI64Type();
  default:
    return b.getI32Type();
  }
}

} // namespace tilegym::ptx
