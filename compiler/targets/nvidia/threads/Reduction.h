// SPDX-License-Identifier: MIT
// Reducing tuples of tiles within a block: registers, then butterflies in a warp, then one trip through shared memory.
#pragma once
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"

namespace tilegym::nvidia {

/// Several tiles of one layout, reduced together: `parts[k][r]` is register r of the k-th.
struct TileTuple {
  layout::Layout layout;
  llvm::SmallVector<Registers> parts;
};

/// (accumulators, elements) to accumulators.
using Combine = llvm::function_ref<Registers(mlir::ValueRange, mlir::ValueRange)>;

/// Reduces `axes` (they stay with extent 1). `commutes`: to the bit; where not, all threads still get equal bits.
mlir::FailureOr<TileTuple> reduceTuple(ThreadBuilder &t, TileTuple tuple, llvm::ArrayRef<int64_t> axes,
                                       Combine combine, bool commutes);

/// The layout in which a thread holds a stretch of `axis` (of the power-of-two part of it), lanes follow threads, warps follow lanes: what scans
/// work in. Blocks of a cluster keep what they hold in `from`; fails where that is no stretch of the axis.
mlir::FailureOr<layout::Layout> orderedAlong(ThreadBuilder &t, const layout::Layout &from, int64_t axis);

/// Sets an op's result, a tile of any layout or a scalar, from a tile.
mlir::LogicalResult setFromTile(ThreadBuilder &t, mlir::Value result, llvm::ArrayRef<mlir::Value> registers,
                                const layout::Layout &layout);

} // namespace tilegym::nvidia
