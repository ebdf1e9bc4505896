// SPDX-License-Identifier: MIT
// How rows that are held lie in shared memory, which their copies and their loads agree on.
#pragma once
#include "compiler/layout/Transform.h"
#include "compiler/targets/nvidia/threads/Access.h"

namespace tilegym::nvidia {

constexpr int64_t unit = 16; ///< bytes that the engine copies at once, aligned on both sides

int lastAxis(tile::HoldOp hold);
/// How the blocks of the cluster share the rows: as the layouts of all loads have it.
mlir::FailureOr<layout::BlockTurns> turnsOf(ThreadBuilder &t, tile::HoldOp hold);
/// This block's part of the region.
mlir::SmallVector<int64_t> shapeWithin(tile::HoldOp hold, layout::BlockTurns turns);
int64_t elementBytes(tile::RegionOp region);
/// Whether rows begin, and end, at whole units.
bool isAligned(tile::HoldOp hold);
/// Elements that one turn has room for: a unit more, where it begins anywhere in one. One block's turn is the whole row.
int64_t turnRoom(tile::HoldOp hold, layout::BlockTurns turns);
/// The element's offset in this block's part of the region: what threads add, and what is fixed.
std::pair<mlir::Value, int64_t> offsetWithin(ThreadBuilder &t, const layout::Layout &within, int64_t reg,
                                             mlir::ArrayRef<int64_t> shape);

} // namespace tilegym::nvidia
