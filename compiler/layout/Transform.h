// SPDX-License-Identifier: MIT
// Layouts from layouts: what happens to a layout when the tile that it describes is sliced, permuted,
// reshaped or broadcast. Each keeps elements where they are unless it says otherwise.
#pragma once

#include "compiler/layout/Layout.h"

namespace tilegym::layout {

/// The layout of a reduction's result: the axis stays with extent 1, threads that differed along it hold the
/// same element, and a thread keeps one register for what it would hold twice.
Layout sliceAxis(const Layout &layout, int axis);

/// Axis i of the result is axis perm[i] of the argument.
Expected<Layout> permuteAxes(const Layout &layout, const std::vector<int> &perm);

/// Bit i of a coordinate along the axis becomes its bit to[i], of neighbours in as many as there are in `to`; higher bits stay. Fails where the unit tile is no longer than that.
Expected<Layout> permuteBits(const Layout &layout, int axis, const std::vector<int> &to);

/// The same registers seen with another shape. With odd factors only possible where each stays the slowest
/// part of its group of axes.
Expected<Layout> reshape(const Layout &layout, const Shape &shape);

/// A new axis of extent 1 in front of `axis`.
Expected<Layout> expandDims(const Layout &layout, int axis);

/// An axis of extent 1 becomes `extent`: each thread copies its registers, slowest last.
Expected<Layout> broadcastAxis(const Layout &layout, int axis, int64_t extent);

/// `inner` tiles laid out by `outer`: extents multiply, inner index bits are the lower ones. `inner` must
/// have no repeats.
Expected<Layout> product(const Layout &inner, const Layout &outer);

/// `count` tiles of this layout one after another along the axis, each thread with registers for all of them; and back: one of `count` equal
/// pieces, where every thread holds the same part of each. Fails where a piece's number is no choice of registers.
Expected<Layout> joinAxis(const Layout &layout, int axis, int64_t count);
Expected<Layout> splitAxis(const Layout &layout, int axis, int64_t count);

/// How the blocks of a cluster share an axis: `blocks` of them take turns of `turn` elements, told apart by the lowest bits of a block's number. One
/// block: a turn is the whole axis.
struct BlockTurns {
  int64_t turn = 1, blocks = 1;
  bool operator==(const BlockTurns &) const = default;
};
/// Fails where blocks differ along another axis, or take no equal turns.
Expected<BlockTurns> blockTurns(const Layout &layout, int axis);
/// What each block holds, with its turns one after another: the axis is as many times shorter as there are blocks.
Layout withinBlock(const Layout &layout, int axis, BlockTurns turns);

/// For each register of `full`, the register in which the same thread, whichever it is, has the element of
/// `reduced` at the same coordinates with the axes of extent 1 set to 0. This is how a reduction's result or
/// a broadcast operand meets the full tile without moving. Fails if some thread would have to ask another.
Expected<std::vector<int64_t>> projectRegisters(const Layout &full, const Layout &reduced);

} // namespace tilegym::layout
