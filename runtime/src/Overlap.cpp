// SPDX-License-Identifier: MIT
// Do views share elements? Exact answers in general are as hard as integer programming; views that programs make (slices, columns, transposes of a
// buffer) nest: each stride is at least the extent of what lies inside. For those the answer is exact, and anything else counts as sharing.
#include "Call.h"
#include <algorithm>

namespace tilegym::runtime {
namespace {

struct Axis {
  int64_t stride, extent; // bytes; stride > 0, extent > 1
};

/// Axes that move, the largest stride first; the view's start is moved to its lowest byte.
int movingAxes(const BoundTensor &t, Axis *axes) {
  int n = 0;
  for (int i = 0; i < t.rank; ++i)
    if (t.shape[i] > 1)
      axes[n++] = {std::abs(t.strides[i]) * t.elementBytes, t.shape[i]};
  std::sort(axes, axes + n, [](const Axis &a, const Axis &b) { return a.stride > b.stride; });
  return n;
}

int64_t spanOf(const Axis *axes, int n, int64_t element) {
  int64_t span = element;
  for (int i = 0; i < n; ++i)
    span += axes[i].stride * (axes[i].extent - 1);
  return span;
}

/// Bytes [a, a + ...) and [b, b + ...) of two nested views, a first.
bool disjoint(int64_t distance, const Axis *a, int na, int64_t aElement, const Axis *b, int nb,
              int64_t bElement) {
  int64_t aSpan = spanOf(a, na, aElement), bSpan = spanOf(b, nb, bElement);
  if (distance >= aSpan || -distance >= bSpan)
    return true;
  if (na == 0 && nb == 0)
    return false;
  // Both repeat with the larger outermost stride (a view that lies within one step of it repeats once), so only the distance modulo
  // it matters.
  int64_t stride = std::max(na ? a[0].stride : 0, nb ? b[0].stride : 0);
  if (na && a[0].stride == stride)
    ++a, --na;
  if (nb && b[0].stride == stride)
    ++b, --nb;
  if (spanOf(a, na, aElement) > stride || spanOf(b, nb, bElement) > stride)
    return false;
  int64_t d = ((distance % stride) + stride) % stride;
  return disjoint(d, a, na, aElement, b, nb, bElement) &&
         disjoint(d - stride, a, na, aElement, b, nb, bElement);
}

} // namespace

bool provablyDisjoint(const BoundTensor &a, const BoundTensor &b) {
  if (a.elements == 0 || b.elements == 0)
    return true;
  if (liesApart(a, b))
    return true;
  Axis x[kMaxRank], y[kMaxRank];
  int nx = movingAxes(a, x), ny = movingAxes(b, y);
  int64_t distance = b.begin() - a.begin();
  return disjoint(distance, x, nx, a.elementBytes, y, ny, b.elementBytes);
}

bool elementsDiffer(const BoundTensor &t) {
  if (t.packed) // the common case, without sorting
    return true;
  Axis axes[kMaxRank];
  int n = movingAxes(t, axes);
  for (int i = 0; i < n; ++i)
    if (axes[i].stride < spanOf(axes + i + 1, n - i - 1, t.elementBytes))
      return false;
  return true;
}

bool sameView(const BoundTensor &a, const BoundTensor &b) {
  if (a.given->data != b.given->data || a.rank != b.rank || a.elementBytes != b.elementBytes)
    return false;
  for (int i = 0; i < a.rank; ++i)
    if (a.shape[i] != b.shape[i] || (a.shape[i] > 1 && a.strides[i] != b.strides[i]))
      return false;
  return true;
}

} // namespace tilegym::runtime
