// SPDX-License-Identifier: MIT
// Linear algebra over GF(2), against enumeration of all combinations.
#include "compiler/layout/Gf2.h"

#include "catch2/catch.hpp"

#include <random>
#include <set>

using namespace tilegym::layout;

namespace {

std::set<Vec> members(const std::vector<Vec> &vectors) {
  std::set<Vec> all{0};
  for (Vec v : vectors) {
    std::set<Vec> more = all;
    for (Vec w : all)
      more.insert(v ^ w);
    all = std::move(more);
  }
  return all;
}

std::vector<Vec> randomVectors(std::mt19937 &gen, size_t count, int bits) {
  std::vector<Vec> vectors;
  for (size_t i = 0; i < count; ++i)
    vectors.push_back(gen() & ((1u << bits) - 1));
  return vectors;
}

} // namespace

TEST_CASE("span membership and solving", "[gf2]") {
  std::mt19937 gen(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Vec> vectors = randomVectors(gen, 1 + round % 6, 6);
    std::set<Vec> all = members(vectors);
    Span span(vectors);
    CHECK(Vec(1) << span.dim() == all.size());
    for (Vec v = 0; v < 64; ++v) {
      auto parts = span.solve(v);
      REQUIRE(parts.has_value() == (all.count(v) == 1));
      CHECK(span.contains(v) == parts.has_value());
      if (parts)
        CHECK(LinearMap{vectors}.apply(*parts) == v);
    }
  }
}

TEST_CASE("intersections, kernels and inverses", "[gf2]") {
  std::mt19937 gen(2);
  for (int round = 0; round < 200; ++round) {
    std::vector<Vec> a = randomVectors(gen, 1 + round % 5, 6), b = randomVectors(gen, 1 + round / 5 % 5, 6);
    std::set<Vec> inA = members(a), inB = members(b), both;
    for (Vec v : inA)
      if (inB.count(v))
        both.insert(v);
    CHECK(members(intersect(a, b)) == both);

    LinearMap f{a};
    std::set<Vec> zeros;
    for (Vec x = 0; x < Vec(1) << a.size(); ++x)
      if (f.apply(x) == 0)
        zeros.insert(x);
    CHECK(members(kernel(f)) == zeros);

    LinearMap onto{concat(a, unitVectors(6))};
    auto inverse = rightInverse(onto, 6);
    REQUIRE(inverse);
    LinearMap identity = compose(onto, *inverse);
    CHECK(identity.columns == unitVectors(6));
  }
  CHECK_FALSE(rightInverse(LinearMap{{1, 2}}, 3));
}

TEST_CASE("a common complement misses both and completes either", "[gf2]") {
  std::mt19937 gen(3);
  for (int round = 0; round < 300; ++round) {
    size_t dim = size_t(round) % 7;
    std::vector<Vec> a = extend({}, concat(randomVectors(gen, dim, 6), unitVectors(6)));
    std::vector<Vec> b = extend({}, concat(randomVectors(gen, dim, 6), unitVectors(6)));
    a.resize(dim);
    b.resize(dim);
    std::vector<Vec> c = commonComplement(a, b, unitVectors(6));
    CHECK(c.size() == 6 - dim);
    CHECK(Span(concat(a, c)).dim() == 6);
    CHECK(Span(concat(b, c)).dim() == 6);
  }
}
