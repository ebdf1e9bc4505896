// SPDX-License-Identifier: MIT
// What both forms of products on tensor cores share.
#pragma once
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"

namespace tilegym::nvidia {

/// The name by which instructions know an operand's elements.
ptx::ElementType instructionType(mlir::Type element);
/// The bits of an f32 rounded to tf32, to nearest even; infinities and NaNs as they are.
mlir::Value roundToTf32(ThreadBuilder &t, mlir::Value bits);
/// The words of which tf32x3 multiplies: the number rounded, and the rest, of which instructions read the upper 19 bits.
struct Halves {
  mlir::Value high, low;
};
Halves splitForTf32(ThreadBuilder &t, mlir::Value bits);
/// A product by the instructions of warpgroups.
mlir::LogicalResult lowerWarpgroupDot(ThreadBuilder &t, tile::DotOp dot);
mlir::LogicalResult lowerDotWait(ThreadBuilder &t, mlir::Operation *op);

} // namespace tilegym::nvidia
