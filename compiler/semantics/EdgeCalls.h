// SPDX-License-Identifier: MIT
// Calls made for one variant: with sizes that end in each part of its tiles, of several tiles, and leading dims of every rank. What the author of a
// spec lists are sizes that came to mind, and the compiler's mistakes are elsewhere: in the bound of one register, of one warp, in the division that only a
// fourth leading dim needs.
#pragma once
#include "compiler/semantics/TestCalls.h"

namespace tilegym::sem {

/// Least and most of a dim, by the variant's guard and its derived parameters alone; nothing where they do not speak of it by itself, or leave none.
std::optional<std::pair<int64_t, int64_t>> sizeRange(const OpModel &op, const Specialization &variant,
                                                     size_t dim);

struct EdgeOptions {
  size_t count = 24;
  int64_t mostElements = 66000; ///< of all tensors of a call
  int64_t mostBlocks = 18;
  bool wholeVectors = false; ///< rows of whole 16 bytes, in half of the calls of whole 32
};
/// All are calls that the variant takes, as far as its guard, its derived parameters and the op's `where` say. Equal arguments give equal calls.
std::vector<TestCall> edgeCalls(const OpModel &op, const TestModel &model, const Specialization &variant,
                                const std::vector<ExprPtr> &grid, const EdgeOptions &options);

} // namespace tilegym::sem
