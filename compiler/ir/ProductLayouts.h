// SPDX-License-Identifier: MIT
// Which thread holds which part of a matrix product's result and of its operands.
#pragma once
#include "compiler/ir/Tile.h"

namespace tilegym::tile {

/// Of the result, for the kernel's warps.
layout::Expected<layout::Layout> accumulatorLayout(DotOp dot);
/// What each thread holds of operand 0 or 1 where its result is laid out so.
layout::Expected<layout::Layout> fragmentLayout(DotOp dot, int operand, const layout::Layout &accumulator);

} // namespace tilegym::tile
