// SPDX-License-Identifier: MIT
// Elimination over GF(2).
#include "compiler/layout/Gf2.h"

#include <bit>

namespace tilegym::layout {

Span::Reduced Span::reduce(Vec v) const {
  Vec parts = 0;
  for (const Row &row : rows_) {
    if (v & std::bit_floor(row.value)) {
      v ^= row.value;
      parts ^= row.parts;
    }
  }
  return {v, parts};
}

bool Span::add(Vec v) {
  Vec self = Vec(1) << added_++;
  Reduced r = reduce(v);
  if (r.rest == 0)
    return false;
  // Rows are kept by falling leading bit, so that one pass over them reduces fully.
  Row row{r.rest, r.parts ^ self};
  auto at = rows_.begin();
  while (at != rows_.end() && at->value > row.value)
    ++at;
  rows_.insert(at, row);
  return true;
}

void Span::addAll(const std::vector<Vec> &vectors) {
  for (Vec v : vectors)
    add(v);
}

std::optional<Vec> Span::solve(Vec v) const {
  Reduced r = reduce(v);
  if (r.rest != 0)
    return std::nullopt;
  return r.parts;
}

Vec LinearMap::apply(Vec x) const {
  Vec y = 0;
  for (size_t i = 0; i < columns.size(); ++i)
    if (x >> i & 1)
      y ^= columns[i];
  return y;
}

LinearMap compose(const LinearMap &f, const LinearMap &g) {
  LinearMap h;
  for (Vec column : g.columns)
    h.columns.push_back(f.apply(column));
  return h;
}

std::optional<LinearMap> rightInverse(const LinearMap &f, int outBits) {
  Span span(f.columns);
  LinearMap p;
  for (Vec unit : unitVectors(outBits)) {
    auto x = span.solve(unit);
    if (!x)
      return std::nullopt;
    p.columns.push_back(*x);
  }
  return p;
}

std::vector<Vec> intersect(const std::vector<Vec> &a, const std::vector<Vec> &b) {
  std::vector<Vec> basisA = extend({}, a), basisB = extend({}, b);
  Span span(basisA);
  Vec fromA = (Vec(1) << basisA.size()) - 1;
  LinearMap map{basisA};
  std::vector<Vec> both;
  for (Vec v : basisB) {
    // A relation between the two lists: its part made of `a` lies in both spans.
    if (auto parts = span.solve(v))
      both.push_back(map.apply(*parts & fromA));
    span.add(v);
  }
  return both;
}

std::vector<Vec> extend(const std::vector<Vec> &base, const std::vector<Vec> &candidates) {
  Span span(base);
  std::vector<Vec> more;
  for (Vec v : candidates)
    if (span.add(v))
      more.push_back(v);
  return more;
}

std::vector<Vec> unitVectors(int bits) {
  std::vector<Vec> units;
  for (int i = 0; i < bits; ++i)
    units.push_back(Vec(1) << i);
  return units;
}

std::vector<Vec> concat(std::vector<Vec> a, const std::vector<Vec> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Vec> commonComplement(const std::vector<Vec> &a, const std::vector<Vec> &b,
                                  const std::vector<Vec> &candidates) {
  std::vector<Vec> both = intersect(a, b);
  std::vector<Vec> onlyA = extend(both, a), onlyB = extend(both, b);
  std::vector<Vec> result = extend(concat(concat(both, onlyA), onlyB), candidates);
  for (size_t i = 0; i < onlyA.size(); ++i)
    result.push_back(onlyA[i] ^ onlyB[i]);
  return result;
}

std::vector<Vec> kernel(const LinearMap &f) {
  Span span;
  std::vector<Vec> zero;
  for (size_t i = 0; i < f.columns.size(); ++i) {
    if (auto parts = span.solve(f.columns[i]))
      zero.push_back(*parts | Vec(1) << i);
    span.add(f.columns[i]);
  }
  return zero;
}

} // namespace tilegym::layout
