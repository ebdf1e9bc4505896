// SPDX-License-Identifier: MIT
// Which values derived parameters take under guards and checks, and the bounds that conditions give.
#include "compiler/semantics/Derived.h"
#include "tests/unit/semantics/SpecText.h"

using namespace tilegym;
using namespace tilegym::sem;

namespace {

using Tuples = std::vector<std::vector<int64_t>>;

/// An op of two dims whose first kernel has the given header; the second takes what the first refuses.
std::string spec(const std::string &header, const std::string &where = "T: f32") {
  return specAround("op f(x: T[M, N], k: i32 = 1) -> y: T[M, N]\n  where " + where,
                    "kernel first(" + header +
                        " { grid(1) }\nkernel only(BN) { grid(1) }\ntune only { BN in [1] }",
                    "M = 64; N = 64; case \"c\" { M = 0; x = []; expect y = [] }; tolerance { f32: 0 }");
}

Tuples valuesOf(const std::string &header, const std::string &where = "T: f32") {
  auto op = mustAnalyze(spec(header, where));
  DerivedValues values = deriveValues(*op, enumerateInterfaces(*op)[0], 0);
  INFO(values.error);
  CHECK(values.error.empty());
  return values.tuples;
}

std::string errorOf(const std::string &header, const std::string &where = "T: f32") {
  auto errors = errorsOf(spec(header, where));
  REQUIRE(errors.size() == 1);
  return errors[0];
}

} // namespace

TEST_CASE("pow2ceil of a run-time dim starts at 128") {
  CHECK(valuesOf("BN = pow2ceil(N)) when N <= 512") == Tuples{{128}, {256}, {512}});
  CHECK(valuesOf("BN = pow2ceil(N)) when N < 513") == Tuples{{128}, {256}, {512}});
  CHECK(valuesOf("BN = pow2ceil(N)) when N <= 600") == Tuples{{128}, {256}, {512}, {1024}});
  CHECK(valuesOf("BN = pow2ceil(N)) when (N > 300) & (N <= 600)") == Tuples{{512}, {1024}});
  CHECK(valuesOf("BN = pow2ceil(N)) when N <= 20") == Tuples{{128}});
  CHECK(valuesOf("BN = pow2ceil(N), BK = 2 * BN) when N <= 256") == Tuples{{128, 256}, {256, 512}});
}

TEST_CASE("comparisons with constants add the values around these, however many a dim has") {
  CHECK(valuesOf("BN = select((N > 256) & (N <= 320), 320, pow2ceil(N))) when N <= 1048576").size() == 15);
  CHECK(valuesOf("BN = select((N > 256) & (N <= 320), 320, pow2ceil(N))) when N <= 512") ==
        Tuples{{128}, {256}, {320}, {512}});
  CHECK(valuesOf("BN = select(N >= 300, 3, select(N < 200, 1, 2))) when N <= 1048576") ==
        Tuples{{1}, {2}, {3}});
  // The other side of a comparison counts every value.
  CHECK(errorOf("BN = select(300 < N, 2, 1)) when N <= 1048576") ==
        "the derived parameter `BN` has too many values: `N` can be 1 to 1048576");
}

TEST_CASE("a compile-time dim is taken as it is") {
  CHECK(valuesOf("BN = pow2ceil(N))", "T: f32, N: 64 | 96") == Tuples{{64}});
  CHECK(valuesOf("BN = N)", "T: f32, N: 64 | 96") == Tuples{{64}});
  CHECK(valuesOf("BN = 4 * sizeof(T))") == Tuples{{16}});
}

TEST_CASE("checks of the op bound dims too, and bounds come in several forms") {
  CHECK(valuesOf("BN = pow2ceil(N))", "T: f32, N <= 200") == Tuples{{128}, {256}});
  CHECK(valuesOf("BN = pow2ceil(N)) when 256 >= N") == Tuples{{128}, {256}});
  CHECK(valuesOf("BN = pow2ceil(N)) when 2 * N <= 512") == Tuples{{128}, {256}});
  CHECK(valuesOf("BN = pow2ceil(N)) when N + 100 <= 300") == Tuples{{128}, {256}});
  CHECK(valuesOf("BN = pow2ceil(N)) when M * N <= 256") == Tuples{{128}, {256}});
  CHECK(valuesOf("BN = pow2ceil(N)) when M + N <= 256") == Tuples{{128}, {256}});
  CHECK(valuesOf("BN = pow2ceil(N)) when cdiv(N, 64) <= 4") == Tuples{{128}, {256}});
  CHECK(valuesOf("BN = pow2ceil(N)) when max(M, N) <= 256") == Tuples{{128}, {256}});
  CHECK(valuesOf("BN = pow2ceil(N)) when pow2ceil(N) <= 256") == Tuples{{128}, {256}});
  CHECK(valuesOf("BN = pow2ceil(N)) when (N <= 128) | (N == 1000)") == Tuples{{128}, {256}, {512}, {1024}});
  CHECK(valuesOf("BN = pow2ceil(N)) when N == 1000") == Tuples{{1024}});
}

TEST_CASE("where every value counts, the guard is evaluated at each") {
  CHECK(valuesOf("BN = cdiv(N, 64)) when N <= 256") == Tuples{{1}, {2}, {3}, {4}});
  CHECK(valuesOf("BN = N) when (N <= 64) & (N % 16 == 0)") == Tuples{{16}, {32}, {48}, {64}});
  CHECK(valuesOf("BN = k) when (k >= 2) & (k < 5)") == Tuples{{2}, {3}, {4}});
}

TEST_CASE("an unbounded dim is fine where the parameter is bounded") {
  CHECK(valuesOf("BN = min(pow2ceil(N), 512))") == Tuples{{128}, {256}, {512}});
  CHECK(valuesOf("BN = select(pow2ceil(N) > 1024, 256, 128))") == Tuples{{128}, {256}});
}

TEST_CASE("two dims are crossed") {
  CHECK(valuesOf("BM = pow2ceil(M), BN = pow2ceil(N)) when (M <= 200) & (N <= 100)") ==
        Tuples{{128, 128}, {256, 128}});
}

TEST_CASE("a guard that cannot hold leaves nothing, and no derived parameter one tuple") {
  CHECK(valuesOf("BN = pow2ceil(N)) when (N <= 512) & (sizeof(T) == 2)").empty());
  CHECK(valuesOf("BN = pow2ceil(N)) when (N <= 5) & (N >= 6)").empty());
  CHECK(valuesOf("P = 8)") == Tuples{{8}});
}

TEST_CASE("parameters that cannot be listed") {
  CHECK(errorOf("BN = pow2ceil(N))") == "the derived parameter `BN` has no bound: `N` can be any size");
  CHECK(errorOf("BN = pow2ceil(N)) when M <= 4") ==
        "the derived parameter `BN` has no bound: `N` can be any size");
  CHECK(errorOf("BN = pow2ceil(k))") == "the derived parameter `BN` has no bound: `k` can be any size");
  CHECK(errorOf("BN = N)") == "the derived parameter `BN` has no bound: `N` can be any size");
  CHECK(errorOf("BN = N) when N <= 8388608") ==
        "the derived parameter `BN` has too many values: `N` can be 1 to 8388608");
  CHECK(errorOf("BN = N) when N <= 1000") == "the derived parameters of `first` take more than 256 values");
  CHECK(errorOf("BN = N - 4) when N <= 100") == "the derived parameter `BN` can be -3");
  CHECK(errorOf("BN = 100 // (N - 4)) when (N <= 100) & (N >= 4)") ==
        "the derived parameter `BN`: division by zero");
}
