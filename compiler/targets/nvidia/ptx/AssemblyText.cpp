// SPDX-License-Identifier: MIT
// Numbers and constraints of an op's registers in its text.
#include "compiler/targets/nvidia/ptx/AssemblyText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tilegym::ptx {

std::string registerVector(size_t first, size_t count) {
  auto numbers =
      llvm::map_range(llvm::seq(first, first + count), [](size_t n) { return "$" + std::to_string(n); });
  return count == 1 ? *numbers.begin() : "{" + llvm::join(numbers, ", ") + "}";
}

std::string vectorSuffix(size_t count) { return count == 1 ? "" : ".v" + std::to_string(count); }

std::string spaceSuffix(Type pointer) {
  switch (cast<LLVM::LLVMPointerType>(pointer).getAddressSpace()) {
  case 1:
    return ".global";
  case 3:
    return ".shared::cta";
  case 7:
    return ".shared::cluster";
  default:
    return "";
  }
}

std::string registerClass(Type type) {
  if (type.isF32())
    return "f";
  if (type.isF64())
    return "d";
  unsigned bits = isa<LLVM::LLVMPointerType>(type) ? 64 : type.getIntOrFloatBitWidth();
  return bits == 1 ? "b" : bits <= 16 ? "h" : bits == 32 ? "r" : "l";
}

AssemblyText &AssemblyText::tie(OperandRange operands) {
  // An empty range has no first operand to ask.
  tiedBegin = operands.empty() ? 0 : operands.getBeginOperandIndex();
  tiedCount = operands.size();
  return *this;
}

std::string AssemblyText::operator[](Value operand) const {
  // One value that is several operands is in all of their registers; but a tied register holds a result in the end.
  for (OpOperand &use : op->getOpOperands()) {
    unsigned n = use.getOperandNumber();
    if (use.get() == operand && (n < tiedBegin || n >= tiedBegin + tiedCount))
      return "$" + std::to_string(op->getNumResults() + n);
  }
  llvm_unreachable("not an operand of this instruction");
}

std::string AssemblyText::vector(OperandRange operands) const {
  return registerVector(op->getNumResults() + operands.getBeginOperandIndex(), operands.size());
}

std::string AssemblyText::results() const { return registerVector(0, op->getNumResults()); }

Assembly AssemblyText::assembly(std::string text) const {
  SmallVector<std::string> constraints;
  for (Type type : op->getResultTypes())
    constraints.push_back("=" + registerClass(type));
  for (OpOperand &use : op->getOpOperands()) {
    unsigned n = use.getOperandNumber();
    bool tied = n >= tiedBegin && n < tiedBegin + tiedCount;
    constraints.push_back(tied ? std::to_string(n - tiedBegin) : registerClass(use.get().getType()));
  }
  if (effect == Memory)
    constraints.push_back("~{memory}");
  return {std::move(text), llvm::join(constraints, ","), effect != Pure};
}

} // namespace tilegym::ptx
