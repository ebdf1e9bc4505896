// SPDX-License-Identifier: MIT
// The shapes of broadcast operands and the strides that walk them.
#include "compiler/interpreter/Broadcast.h"
#include <algorithm>

namespace tilegym::interp {

Shape broadcastShapes(const Shape &a, const Shape &b, SourceRange range) {
  if (a == b)
    return a;
  const Shape &longer = a.rank() >= b.rank() ? a : b, &shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  const int shift = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    int64_t x = longer[i + shift], y = shorter[i];
    if (x != y && x != 1 && y != 1)
      fail(Fault::Arguments, "shapes " + toString(a) + " and " + toString(b) + " do not broadcast", range,
           "extents must be equal, or one of them 1");
    result[i + shift] = x == 1 ? y : x;
  }
  return result;
}

void broadcastStrides(const Shape &from, const Shape &to, int64_t *strides) {
  const int shift = to.rank() - from.rank();
  int64_t stride = 1;
  for (int i = to.rank(); i-- > 0;) {
    int64_t extent = i >= shift ? from[i - shift] : 1;
    strides[i] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
}

Value broadcastTo(const Value &value, const Shape &to, SourceRange range) {
  if (value.shape == to)
    return value;
  if (!(broadcastShapes(value.shape, to, range) == to))
    fail(Fault::Arguments, "shape " + toString(value.shape) + " does not broadcast to " + toString(to), range,
         "extents must be equal, or 1 in what is broadcast");
  if (value.count() == to.count())
    return value.reshaped(to);
  int64_t strides[Shape::maxRank];
  broadcastStrides(value.shape, to, strides);
  return gatherStrided(value, 0, to, strides);
}

namespace {
template <class T> void copyStrided(T *out, const T *from, const Shape &shape, const int64_t *strides) {
  const int rank = shape.rank();
  if (rank == 0) {
    *out = *from;
    return;
  }
  const int64_t total = shape.count(), inner = shape[rank - 1], step = strides[rank - 1];
  int64_t at[Shape::maxRank] = {}, base = 0;
  for (int64_t done = 0; done < total; done += inner) {
    const T *row = from + base;
    if (step == 1)
      std::copy_n(row, inner, out + done);
    else if (step == 0)
      std::fill_n(out + done, inner, *row);
    else
      for (int64_t i = 0; i < inner; ++i)
        out[done + i] = row[i * step];
    for (int a = rank - 1; a-- > 0;) {
      base += strides[a];
      if (++at[a] < shape[a])
        break;
      base -= at[a] * strides[a];
      at[a] = 0;
    }
  }
}
} // namespace

Value gatherStrided(const Value &from, int64_t offset, const Shape &shape, const int64_t *strides) {
  Value result(from.dtype, shape);
  if (shape.count() == 0)
    return result;
  auto copy = [&]<class T>(T) { copyStrided(result.as<T>(), from.as<T>() + offset, shape, strides); };
  switch (from.elementSize()) {
  case 1:
    copy(uint8_t());
    break;
  case 2:
    copy(uint16_t());
    break;
  case 4:
    copy(uint32_t());
    break;
  default:
    copy(uint64_t());
  }
  return result;
}

Value permute(const Value &value, const std::vector<int64_t> &permutation) {
  Shape shape;
  int64_t own[Shape::maxRank], strides[Shape::maxRank];
  int64_t stride = 1;
  for (int i = value.shape.rank(); i-- > 0;) {
    own[i] = stride;
    stride *= value.shape[i];
  }
  bool moves = false;
  for (size_t i = 0; i < permutation.size(); ++i) {
    shape.push(value.shape[int(permutation[i])]);
    strides[i] = own[permutation[i]];
    moves = moves || permutation[i] != int64_t(i);
  }
  return moves ? gatherStrided(value, 0, shape, strides) : value;
}

} // namespace tilegym::interp
