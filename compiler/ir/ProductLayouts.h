// SPDX-License-Identifier: MIT
// Which thread holds which part of a matrix product's result and of its operands, and how a slot holds an operand.
#pragma once
#include "compiler/ir/Tile.h"
#include "compiler/layout/Build.h"
#include <optional>

namespace tilegym::tile {

/// How warpgroups share a product's result, and how many columns one of their instructions makes: the widest that divide a group's part.
struct WarpgroupShape {
  layout::WarpGrid groups;
  int64_t columns = 0;
};
/// Whether warpgroups make the transposed result: B, which lies across K in its slot as only operands of 16 bits may, is then what they read into registers.
bool isMadeTransposed(DotOp dot);
/// For such: the column of the result that is a row of the instructions, and a result's layout with the instructions' rows and columns as its axes.
int64_t columnOfRow(int64_t row);
layout::Layout rowsOfInstructions(const layout::Layout &result);
/// Nothing where the result's extents or the kernel's warps do not go in such parts, or no instruction has the types and precision.
std::optional<WarpgroupShape> warpgroupShape(DotOp dot);

/// How sums of 8-bit floats leave the tensor cores every `depth` of K: in parts of so many columns by 64 rows.
struct PromotedParts {
  static constexpr int64_t depth = 128;
  int64_t columns = 0;
  bool inPairs = false; ///< a thread has registers for two: one is added while the other is multiplied
};
/// Nothing for products whose sums stay there.
std::optional<PromotedParts> promotedParts(DotOp dot);

/// Of the result, for the kernel's warps.
layout::Expected<layout::Layout> accumulatorLayout(DotOp dot);
/// What each thread holds of operand 0 or 1 where its result is laid out so.
layout::Expected<layout::Layout> fragmentLayout(DotOp dot, int operand, const layout::Layout &accumulator);
/// Of a slot for operand 0 or 1, which comes from where `contiguous` is its contiguous axis: in rows along that, swizzled as far as they are long; for
/// warpgroups as their descriptors can say it.
layout::Layout slotLayout(DotOp dot, int operand, int contiguous);

} // namespace tilegym::tile
