// SPDX-License-Identifier: MIT
// Views that share nothing: never claimed wrongly (against a count of bytes), and seen for the views that programs make.
#include "tests/unit/runtime/Calls.h"
#include <random>
#include <set>

using namespace tilegym::testing;
using namespace tilegym::runtime;

namespace {

BoundTensor view(TilegymTensor &storage, int64_t offset, int elementBytes, std::vector<int64_t> shape,
                 std::vector<int64_t> strides) {
  BoundTensor b;
  storage.data = memory() + (1 << 15) + offset;
  b.given = &storage;
  b.rank = int(shape.size());
  b.elementBytes = elementBytes;
  b.highest = elementBytes;
  for (int i = 0; i < b.rank; ++i) {
    b.shape[i] = shape[size_t(i)];
    b.strides[i] = strides[size_t(i)];
    b.elements *= b.shape[i];
    int64_t reach = (b.shape[i] - 1) * b.strides[i] * elementBytes;
    (reach < 0 ? b.lowest : b.highest) += reach;
  }
  return b;
}

/// Bytes of each element, as many times as it is reached.
std::multiset<int64_t> bytesOf(const BoundTensor &b) {
  std::multiset<int64_t> bytes;
  for (int64_t linear = 0; linear < b.elements; ++linear) {
    int64_t rest = linear, at = static_cast<char *>(b.given->data) - memory();
    for (int i = b.rank - 1; i >= 0; --i) {
      at += rest % b.shape[i] * b.strides[i] * b.elementBytes;
      rest /= b.shape[i];
    }
    for (int k = 0; k < b.elementBytes; ++k)
      bytes.insert(at + k);
  }
  return bytes;
}

} // namespace

TEST_CASE("disjoint is never claimed of views that share a byte") {
  std::mt19937_64 random(11);
  auto below = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  int claimed = 0, disjoint = 0;
  for (int i = 0; i < 20000; ++i) {
    TilegymTensor storage[2];
    BoundTensor views[2];
    for (int k = 0; k < 2; ++k) {
      std::vector<int64_t> shape, strides;
      for (int64_t r = below(4); r > 0; --r) {
        shape.push_back(1 + below(4));
        strides.push_back(below(20) - 6);
      }
      int bytes = 1 << below(3);
      views[k] = view(storage[k], below(40) * bytes, bytes, shape, strides);
    }
    std::multiset<int64_t> first = bytesOf(views[0]), second = bytesOf(views[1]);
    bool shares = false;
    for (int64_t byte : first)
      shares |= second.count(byte) > 0;
    bool says = provablyDisjoint(views[0], views[1]);
    claimed += says;
    disjoint += !shares;
    REQUIRE_FALSE((says && shares));
    REQUIRE(says == provablyDisjoint(views[1], views[0]));
    std::set<int64_t> distinct(first.begin(), first.end());
    REQUIRE_FALSE((elementsDiffer(views[0]) && distinct.size() != first.size()));
  }
  CHECK(claimed > disjoint / 2);
}

TEST_CASE("slices of one buffer are seen to share nothing") {
  TilegymTensor s[2];
  // Interleaved columns of a row-major [8, 6] buffer of f32.
  CHECK(provablyDisjoint(view(s[0], 0, 4, {8, 3}, {6, 1}), view(s[1], 12, 4, {8, 3}, {6, 1})));
  CHECK_FALSE(provablyDisjoint(view(s[0], 0, 4, {8, 4}, {6, 1}), view(s[1], 12, 4, {8, 3}, {6, 1})));
  // Even and odd columns; one row of them; transposed.
  CHECK(provablyDisjoint(view(s[0], 0, 4, {8, 3}, {6, 2}), view(s[1], 4, 4, {8, 3}, {6, 2})));
  CHECK(provablyDisjoint(view(s[0], 0, 4, {8, 3}, {6, 1}), view(s[1], 12, 4, {1, 3}, {6, 1})));
  CHECK(provablyDisjoint(view(s[0], 0, 4, {3, 8}, {1, 6}), view(s[1], 12, 4, {8, 3}, {6, 1})));
  // q, k and v of one packed projection [B, S, 3, H, D].
  CHECK(provablyDisjoint(view(s[0], 0, 2, {2, 5, 4, 8}, {480, 96, 8, 1}),
                         view(s[1], 64, 2, {2, 5, 4, 8}, {480, 96, 8, 1})));
  // Backwards.
  CHECK(provablyDisjoint(view(s[0], 0, 4, {4}, {2}), view(s[1], 28, 4, {4}, {-2})));
  CHECK_FALSE(provablyDisjoint(view(s[0], 0, 4, {4}, {2}), view(s[1], 24, 4, {4}, {-2})));
  // Other element sizes; nothing at all.
  CHECK_FALSE(provablyDisjoint(view(s[0], 0, 8, {4}, {1}), view(s[1], 30, 1, {1}, {1})));
  CHECK(provablyDisjoint(view(s[0], 0, 4, {0}, {1}), view(s[1], 0, 4, {4}, {1})));
}

TEST_CASE("elements that coincide") {
  TilegymTensor s;
  CHECK(elementsDiffer(view(s, 0, 4, {4, 4}, {4, 1})));
  CHECK(elementsDiffer(view(s, 0, 4, {4, 4}, {1, -4})));
  CHECK(elementsDiffer(view(s, 0, 4, {1, 4}, {0, 1})));
  CHECK_FALSE(elementsDiffer(view(s, 0, 4, {2, 4}, {0, 1})));
  CHECK_FALSE(elementsDiffer(view(s, 0, 4, {2, 4}, {3, 1})));
}

TEST_CASE("the same view") {
  TilegymTensor s[2];
  CHECK(sameView(view(s[0], 0, 4, {1, 4}, {9, 1}), view(s[1], 0, 4, {1, 4}, {4, 1})));
  CHECK_FALSE(sameView(view(s[0], 0, 4, {2, 4}, {9, 1}), view(s[1], 0, 4, {2, 4}, {4, 1})));
  CHECK_FALSE(sameView(view(s[0], 4, 4, {4}, {1}), view(s[1], 0, 4, {4}, {1})));
  CHECK_FALSE(sameView(view(s[0], 0, 4, {4}, {1}), view(s[1], 0, 2, {4}, {1})));
}
