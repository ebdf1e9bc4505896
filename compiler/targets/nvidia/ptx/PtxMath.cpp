// SPDX-License-Identifier: MIT
// Texts of the approximate functions and conversions.
#include "compiler/targets/nvidia/ptx/AssemblyText.h"

using namespace mlir;
using namespace tilegym::ptx;

Assembly ApproxOp::getAssembly() {
  // tanh.approx has no .ftz form: it flushes nothing.
  bool flush = getFtz() && getKind() != ApproxKind::Tanh;
  return AssemblyText(*this, AssemblyText::Pure)
      .text(stringifyApproxKind(getKind()).str(), ".approx", flush ? ".ftz" : "", ".f32 $0, $1;");
}

Assembly DivideApproxOp::getAssembly() {
  return AssemblyText(*this, AssemblyText::Pure).text("div.full", getFtz() ? ".ftz" : "", ".f32 $0, $1, $2;");
}

Assembly AnewOp::getAssembly() {
  return AssemblyText(*this, AssemblyText::Pure).text("add.rn.f32 $0, $1, 0f80000000;");
}

static std::string typeSuffix(Type type, bool isUnsigned) {
  std::string bits = std::to_string(type.getIntOrFloatBitWidth());
  return (isa<FloatType>(type) ? ".f" : isUnsigned ? ".u" : ".s") + bits;
}

Assembly ConvertOp::getAssembly() {
  Type from = getOperand().getType(), to = getResult().getType();
  // `rzi`: to an integral value.
  bool integral = isa<FloatType>(from) && !isa<FloatType>(to);
  return AssemblyText(*this, AssemblyText::Pure)
      .text("cvt.", stringifyRoundingMode(getMode()).str(), integral ? "i" : "",
            typeSuffix(to, getIsUnsigned()), typeSuffix(from, getIsUnsigned()), " $0, $1;");
}

LogicalResult ConvertPairOp::verify() {
  if (getElementType() != ElementType::E4M3 && getElementType() != ElementType::E5M2)
    return emitOpError("makes no ") << stringifyElementType(getElementType()) << ", but e4m3 or e5m2";
  return success();
}

/// PTX names the high one first.
Assembly ConvertPairOp::getAssembly() {
  return AssemblyText(*this, AssemblyText::Pure)
      .text("cvt.rn.satfinite.", stringifyElementType(getElementType()).str(), "x2.f32 $0, $2, $1;");
}
