// SPDX-License-Identifier: MIT
// The tile dialect: types, attributes, interfaces and ops.
#pragma once
#include "compiler/ir/KernelABI.h"
#include "compiler/ir/Region.h"
#include "compiler/ir/TileEnums.h"
#include "compiler/layout/Layout.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilegym::layout {
/// What uniques layout attributes: equal layouts have one spelling.
inline llvm::hash_code hash_value(const Layout &layout) { return llvm::hash_value(layout.str()); }
} // namespace tilegym::layout
namespace tilegym::tile {
inline llvm::hash_code hash_value(const MapAxis &axis) {
  return llvm::hash_combine(axis.box, axis.dim, axis.extent, axis.stride);
}
} // namespace tilegym::tile

#include "compiler/ir/TileDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/TileTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/TileAttrs.h.inc"

#include "compiler/ir/TileInterfaces.h.inc"
#define GET_OP_CLASSES
#include "compiler/ir/TileOps.h.inc"
