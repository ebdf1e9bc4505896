// SPDX-License-Identifier: MIT
// What a reduction with a name does to two elements, scalars or tiles, and where it starts.
#pragma once
#include "compiler/ir/TileEnums.h"
#include "mlir/IR/Builders.h"

namespace tilegym::tile {

/// The accumulator and one more element.
mlir::Value combine(mlir::OpBuilder &b, mlir::Location loc, ReduceKind kind, mlir::Value accumulator,
                    mlir::Value element);
/// What changes no element that it is combined with: a number of the type.
mlir::TypedAttr identityOf(ReduceKind kind, mlir::Type element);

} // namespace tilegym::tile
