// SPDX-License-Identifier: MIT
// One axis of the region that a memory op accesses, and what all memory ops share.
#pragma once
#include "compiler/ir/TileEnums.h"
#include "mlir/IR/Value.h"

namespace tilegym::tile {

enum AxisCheck : int32_t { CheckNone = 0, CheckLower = 1, CheckUpper = 2, CheckBoth = 3 };

struct RegionAxis {
  AxisKind kind = AxisKind::Point;
  mlir::Value index;  ///< scalar; a tile for Gather
  int64_t length = 0; ///< Span only
  mlir::Value stride, lower, upper;
  int32_t check = CheckBoth;
};

class RegionOp;
mlir::LogicalResult verifyRegion(mlir::Operation *op);
/// Dtype and shape of what is read or written, and of the mask, against the region.
mlir::LogicalResult verifyAccess(RegionOp op, mlir::Type accessed);

} // namespace tilegym::tile
