// SPDX-License-Identifier: MIT
// Linear algebra over GF(2) on bit vectors of at most 64 bits: spans, solving, intersections, complements.
// Everything the layouts compute (inverses, conversions, swizzles) comes down to these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tilegym::layout {

using Vec = uint64_t;

/// The span of the vectors added so far, which remembers how each member is made from them.
class Span {
public:
  Span() = default;
  explicit Span(const std::vector<Vec> &vectors) { addAll(vectors); }

  /// Adds a vector; true if it was independent of the earlier ones.
  bool add(Vec v);
  void addAll(const std::vector<Vec> &vectors);

  bool contains(Vec v) const { return reduce(v).rest == 0; }

  /// Bit i set: the i-th added vector takes part. Vectors that were dependent when added never do.
  std::optional<Vec> solve(Vec v) const;

  size_t dim() const { return rows_.size(); }
  size_t added() const { return added_; }

private:
  struct Row {
    Vec value;
    Vec parts;
  };
  struct Reduced {
    Vec rest;
    Vec parts;
  };
  Reduced reduce(Vec v) const;

  std::vector<Row> rows_; // each has a leading bit that no other row has as its own
  size_t added_ = 0;
};

/// A linear map, by the images of the unit vectors.
struct LinearMap {
  std::vector<Vec> columns;

  Vec apply(Vec x) const;
};

/// x -> f(g(x)).
LinearMap compose(const LinearMap &f, const LinearMap &g);

/// A map p with f(p(y)) = y for every y in the image of f. Where several x give y, p takes the one made of
/// the earliest columns of f. `outBits` is the number of bits of y. None where f is not onto.
std::optional<LinearMap> rightInverse(const LinearMap &f, int outBits);

/// A basis of what both lists span.
std::vector<Vec> intersect(const std::vector<Vec> &a, const std::vector<Vec> &b);

/// Members of `candidates`, in order, that are independent of `base` and of one another.
std::vector<Vec> extend(const std::vector<Vec> &base, const std::vector<Vec> &candidates);

/// The unit vectors of an n-bit space.
std::vector<Vec> unitVectors(int bits);

/// A subspace that meets both `a` and `b` in zero only and completes either to the whole space, which
/// `candidates` span. Both must be independent lists of equal length. It always exists: pair the parts of a
/// and b outside their intersection.
std::vector<Vec> commonComplement(const std::vector<Vec> &a, const std::vector<Vec> &b,
                                  const std::vector<Vec> &candidates);

std::vector<Vec> concat(std::vector<Vec> a, const std::vector<Vec> &b);

/// A basis of the combinations of columns that give zero.
std::vector<Vec> kernel(const LinearMap &f);

} // namespace tilegym::layout
