// SPDX-License-Identifier: MIT
// The dialect of target instructions (PtxDialect.td says what it is for).
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>
#include <string>
#include <vector>

namespace tilegym::ptx {
/// Inline assembly as LLVM takes it. `ordered`: touches memory or control, so it stays where it is and is kept.
struct Assembly {
  std::string text, constraints;
  bool ordered = false;
};

/// What the simulator is told of an attribute: an enum's value, an integer itself, 1 for a unit that is there. Nothing for attributes that are
/// no number.
std::optional<int64_t> attributeAsInteger(mlir::Attribute attribute);
} // namespace tilegym::ptx

#include "compiler/targets/nvidia/ptx/PtxDialect.h.inc"
#include "compiler/targets/nvidia/ptx/PtxEnums.h.inc"
#include "compiler/targets/nvidia/ptx/PtxInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/targets/nvidia/ptx/PtxAttrs.h.inc"
#define GET_OP_CLASSES
#include "compiler/targets/nvidia/ptx/PtxOps.h.inc"
