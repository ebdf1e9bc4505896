// SPDX-License-Identifier: MIT
// NumPy broadcasting and the moves of elements that every shape operation shares.
#pragma once
#include "compiler/interpreter/NumericsConvert.h"
#include "compiler/interpreter/Value.h"
#include <array>

namespace tilegym::interp {

/// The shape two operands broadcast to; a fault at `range` where they do not.
Shape broadcastShapes(const Shape &a, const Shape &b, SourceRange range);

/// Strides of an operand of shape `from` seen in shape `to`, right-aligned, 0 where it repeats.
void broadcastStrides(const Shape &from, const Shape &to, int64_t *strides);

/// The operand repeated to `to`; the value itself where nothing changes.
Value broadcastTo(const Value &value, const Shape &to, SourceRange range);

/// A contiguous copy of elements read with any strides: `strides[i]` for axis i of `shape`.
Value gatherStrided(const Value &from, int64_t offset, const Shape &shape, const int64_t *strides);

Value permute(const Value &value, const std::vector<int64_t> &permutation);

/// Calls fn(resultOffset, sources, count) for each innermost run of an elementwise operation over broadcast operands.
template <size_t N, class Fn>
void forBroadcast(const Shape &shape, const std::array<const Value *, N> &operands, Fn fn) {
  const int64_t total = shape.count();
  if (total == 0)
    return;
  bool simple = true;
  for (const Value *v : operands)
    simple = simple && (v->count() == 1 || v->shape == shape || v->count() == total);
  std::array<Source, N> sources;
  if (simple) {
    for (size_t i = 0; i < N; ++i)
      sources[i] = {operands[i]->data(), operands[i]->count() == 1 && total != 1 ? 0 : 1};
    fn(int64_t(0), sources, size_t(total));
    return;
  }
  int64_t strides[N][Shape::maxRank];
  for (size_t i = 0; i < N; ++i)
    broadcastStrides(operands[i]->shape, shape, strides[i]);
  // Fold axes that every operand walks without a break into one.
  int64_t extents[Shape::maxRank], folded[N][Shape::maxRank];
  int rank = 0;
  for (int a = 0; a < shape.rank(); ++a) {
    if (shape[a] == 1)
      continue;
    bool joins = rank > 0;
    for (size_t i = 0; i < N; ++i)
      joins = joins && folded[i][rank - 1] == strides[i][a] * shape[a];
    if (joins)
      extents[rank - 1] *= shape[a];
    else
      extents[rank++] = shape[a];
    for (size_t i = 0; i < N; ++i)
      folded[i][rank - 1] = strides[i][a];
  }
  const int64_t inner = extents[rank - 1];
  int64_t at[Shape::maxRank] = {};
  for (int64_t offset = 0; offset < total; offset += inner) {
    for (size_t i = 0; i < N; ++i) {
      int64_t from = 0;
      for (int a = 0; a + 1 < rank; ++a)
        from += at[a] * folded[i][a];
      sources[i] = {operands[i]->data() + from * int64_t(operands[i]->elementSize()),
                    ptrdiff_t(folded[i][rank - 1])};
    }
    fn(offset, sources, size_t(inner));
    for (int a = rank - 1; a-- > 0;) {
      if (++at[a] < extents[a])
        break;
      at[a] = 0;
    }
  }
}

} // namespace tilegym::interp
