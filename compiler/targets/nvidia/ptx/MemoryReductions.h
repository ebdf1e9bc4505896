// SPDX-License-Identifier: MIT
// What memory can be combined with, by element type: one rule for atomics, bulk and tensor copies.
#pragma once
#include "compiler/targets/nvidia/ptx/PtxDialect.h"

namespace tilegym::ptx {

/// Refuses a kind that the type has not.
mlir::LogicalResult verifyReduction(mlir::Operation *op, ReduceKind kind, ElementType type);
/// As assembly names it for that kind: `b32` for `and`, `u64` for a sum of s64.
std::string reductionType(ReduceKind kind, ElementType type);
/// The register that holds the type: f16 and bf16 by two.
mlir::Type wordOf(mlir::MLIRContext *context, ElementType type);

} // namespace tilegym::ptx
