// SPDX-License-Identifier: MIT
// What dispatch knows of matrices whose columns, not rows, lie together.
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/SpecPackage.h"

using namespace tilegym::testing;
using namespace tilegym::format;

namespace {

const char *stackSpec = R"(op stack(a: f16[Q, M, K]) -> c: f16[Q, M, K]
reference { c = a }
kernel copy(BM) {
  grid(Q, M)
  store(c[block(0), block(1), 0 :+ 1], load(a[block(0), block(1), 0 :+ 1]))
}
tune copy { BM = 1 }
test { Q = 1; M = 1; K = 1; case "one" { a = 1; expect c = [[[1]]] }; tolerance { f16: 0 } }
bench none "a test"
)";

/// The facts of `a`, whose first element lies `offset` bytes beyond a multiple of 256.
int factsOf(std::vector<int64_t> shape, std::vector<int64_t> strides, int64_t offset = 0) {
  Opened opened(opOfSpec(stackSpec));
  Given a(memory() + offset, TILEGYM_F16, shape, std::move(strides)),
      c(memory() + (1 << 19), TILEGYM_F16, shape);
  const void *args[] = {a.c(), c.c()};
  auto call = opened.call();
  REQUIRE(call->bind(args, false) == TILEGYM_OK);
  return call->facts[0];
}

constexpr int all = kUnitInner | kAligned | kWholeVectors;

} // namespace

TEST_CASE("the order of a matrix's axes in memory") {
  CHECK(factsOf({2, 16, 24}, {384, 24, 1}) == all);
  // Its outer strides are aligned, and its last axis whole, in that order too; what it lacks is that columns lie together.
  CHECK(factsOf({2, 16, 24}, {384, 1, 16}) == (kWholeVectors | kTransposed * all));
  CHECK(factsOf({2, 16, 5}, {80, 1, 16}) == kTransposed * all);
}

TEST_CASE("what a transposed matrix may lack") {
  CHECK(factsOf({2, 12, 24}, {384, 1, 16}) == (kWholeVectors | kTransposed * (kUnitInner | kAligned)));
  CHECK(factsOf({2, 16, 24}, {390, 1, 16}) == (kWholeVectors | kTransposed * (kUnitInner | kWholeVectors)));
  CHECK(factsOf({2, 16, 24}, {384, 1, 20}) == (kWholeVectors | kTransposed * (kUnitInner | kWholeVectors)));
  CHECK(factsOf({2, 16, 24}, {384, 1, 16}, 4) ==
        (kWholeVectors | kTransposed * (kUnitInner | kWholeVectors)));
  CHECK(factsOf({2, 16, 24}, {768, 2, 32}) == kWholeVectors);
}

TEST_CASE("one row is no transposed matrix: its stride says nothing") {
  CHECK(factsOf({2, 1, 24}, {24, 1, 1}) == all);
}
