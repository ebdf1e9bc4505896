// SPDX-License-Identifier: MIT
// Addresses and bounds of a region's elements, for each register of a tile (or for a scalar).
#pragma once
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"

namespace tilegym::nvidia {

class Access {
public:
  /// `layout` null: a region of points.
  Access(ThreadBuilder &t, tile::RegionOp op, const layout::Layout *layout);

  /// Address of the register's element, without `fixedBytes`, which the instruction adds.
  struct Address {
    mlir::Value pointer;
    int64_t fixedBytes = 0;
  };
  Address address(int64_t reg);
  /// All checked bounds and, unless `ignoreMask`, the mask; null where nothing is checked.
  mlir::Value inBounds(int64_t reg, bool ignoreMask = false);

  /// How many of `count` elements, from the register's on along the last axis, are in bounds; i32. The lower bound there must be proved.
  mlir::Value runInBounds(int64_t reg, int64_t count);
  /// The same from where the region begins on that axis.
  mlir::Value rowInBounds(int64_t reg, int64_t count);

  /// Registers that one instruction can access: neighbours along an axis of stride 1, of at most 16 bytes, aligned, inside or outside the bounds
  /// together. Groups of one register where there is no such axis.
  std::vector<std::vector<int64_t>> vectorGroups(bool maskInTheWay);

  int64_t elementBytes() const { return bytes; }

private:
  mlir::Value countInBounds(int64_t reg, mlir::Value start, int64_t count);
  /// The index on an axis for a register: `dynamic` (offsetType, null: 0) + `fixed`.
  struct Index {
    mlir::Value dynamic;
    int64_t fixed = 0;
  };
  Index index(int64_t axis, int64_t reg);
  /// The register of a gather's index tile that goes with one of the region.
  int64_t indexRegister(int64_t axis, int64_t reg);
  mlir::Value whole(Index index);                    ///< in offsetType
  mlir::Value inBoundsOf(int64_t axis, int64_t reg); ///< null: nothing is checked
  mlir::Value narrow(mlir::Value value);
  mlir::Value constant(int64_t value) { return t.constant(offsetType, value); }
  /// The group axis's part of the offset.
  mlir::Value groupOffset(int64_t reg);
  /// What tells the registers of an axis apart: those of one key have one index.
  int64_t axisKey(int64_t axis, int64_t reg);
  int64_t regionCoordinate(int64_t axis, int64_t reg);

  ThreadBuilder &t;
  tile::RegionOp op;
  const layout::Layout *layout;
  mlir::Type offsetType; ///< i32 where dispatch promised that offsets fit
  int64_t bytes;
  llvm::SmallVector<int64_t> regionAxes; ///< by tensor axis: the region's axis, or -1
  /// Results that many registers share, by (axis, fixed coordinate): an axis's part of the offset, and its bounds check.
  std::map<std::pair<int64_t, int64_t>, mlir::Value> offsets, checks;
  std::map<std::vector<int64_t>, mlir::Value> pointers;
};

} // namespace tilegym::nvidia
