// SPDX-License-Identifier: MIT
// The text form of regions, for the generated parser and printer of memory ops.
#pragma once
#include "mlir/IR/OpImplementation.h"

namespace tilegym::tile {

using Unresolved = mlir::OpAsmParser::UnresolvedOperand;
mlir::ParseResult parseRegion(mlir::OpAsmParser &parser, mlir::DenseI32ArrayAttr &kinds,
                              llvm::SmallVectorImpl<Unresolved> &indices,
                              llvm::SmallVectorImpl<mlir::Type> &indexTypes, mlir::DenseI64ArrayAttr &lengths,
                              llvm::SmallVectorImpl<Unresolved> &strides,
                              llvm::SmallVectorImpl<Unresolved> &lowers,
                              llvm::SmallVectorImpl<Unresolved> &uppers, mlir::DenseI32ArrayAttr &checks,
                              llvm::SmallVectorImpl<Unresolved> &group);
void printRegion(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::DenseI32ArrayAttr kinds,
                 mlir::OperandRange indices, mlir::TypeRange indexTypes, mlir::DenseI64ArrayAttr lengths,
                 mlir::OperandRange strides, mlir::OperandRange lowers, mlir::OperandRange uppers,
                 mlir::DenseI32ArrayAttr checks, mlir::OperandRange group);

} // namespace tilegym::tile
