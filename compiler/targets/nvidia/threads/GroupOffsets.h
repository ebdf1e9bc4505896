// SPDX-License-Identifier: MIT
// Offsets along a group axis (`*R`) of a general kernel, whose index must be split into up to seven digits at run time. A division costs a hundred
// instructions, so what can be shared is: among the rows of a thread, and among all tensors that have the group.
#pragma once
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"

namespace tilegym::nvidia {

/// So many rows are split together: their numbers and offsets live in registers all at once.
constexpr int64_t maxGroupRows = 8;

/// Offsets in elements, [row][tensor]: the group operands of `tensors` differ in strides only, `rows` are indices (i64).
llvm::SmallVector<Registers> splitGroup(ThreadBuilder &t, mlir::ArrayRef<tile::RegionOp> tensors,
                                        mlir::ValueRange rows);

/// The offset of register `reg` along axis 0 of `op`, from one splitting for all accesses of the kernel that start at the same index; it stands where that
/// index is made. Null where the accesses have too many rows for that, or rows of their own (a gather).
mlir::Value sharedGroupOffset(ThreadBuilder &t, tile::RegionOp op, const layout::Layout *layout, int64_t reg);

} // namespace tilegym::nvidia
