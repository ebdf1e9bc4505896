// SPDX-License-Identifier: MIT
// The tolerance rule and the report of a mismatch.
#include "compiler/interpreter/Compare.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace tilegym;
using namespace tilegym::interp;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

HostTensor floats(DType type, std::vector<double> values) {
  return HostTensor::fromDoubles(type, {int64_t(values.size())}, values);
}

bool agree(DType type, std::vector<double> got, std::vector<double> want, Tolerance tolerance) {
  return !compareTensors("y", floats(type, got), floats(type, want), tolerance);
}

} // namespace

TEST_CASE("the bound is relative plus the row's root mean square") {
  // rms of (3, 4) is sqrt(12.5): 3 may be off by 0.01 * (3 + 3.5355) = 0.0654.
  CHECK(agree(DType::F64, {3.065, 4}, {3, 4}, {0.01, 0.01, true}));
  CHECK(!agree(DType::F64, {3.066, 4}, {3, 4}, {0.01, 0.01, true}));
  // A pair's atol stands as it is.
  CHECK(agree(DType::F64, {3.129, 4}, {3, 4}, {0.01, 0.1, false}));
  CHECK(!agree(DType::F64, {3.131, 4}, {3, 4}, {0.01, 0.1, false}));
}

TEST_CASE("each row has a scale of its own, over its finite elements") {
  HostTensor want = HostTensor::fromDoubles(DType::F64, {2, 2}, {1000, infinity, 1, 0});
  HostTensor near = HostTensor::fromDoubles(DType::F64, {2, 2}, {1001, infinity, 1, 0});
  HostTensor far = HostTensor::fromDoubles(DType::F64, {2, 2}, {1000, infinity, 1, 0.1});
  CHECK(!compareTensors("y", near, want, {1e-3, 1e-3, true}));
  CHECK(compareTensors("y", far, want, {1e-3, 1e-3, true}));
}

TEST_CASE("NaN wants NaN, infinity itself") {
  Tolerance loose{0.5, 0.5, true};
  CHECK(agree(DType::F32, {quietNaN, infinity, 1}, {quietNaN, infinity, 1}, loose));
  CHECK(!agree(DType::F32, {1, 1}, {quietNaN, 1}, loose));
  CHECK(!agree(DType::F32, {quietNaN, 1}, {1, 1}, loose));
  CHECK(!agree(DType::F32, {-infinity, 1}, {infinity, 1}, loose));
  CHECK(!agree(DType::F32, {infinity, 1}, {1e30, 1}, loose));
}

TEST_CASE("zero is bit-equal") {
  CHECK(!agree(DType::F32, {-0.0}, {0.0}, {}));
  CHECK(agree(DType::F32, {quietNaN}, {quietNaN}, {}));
  CHECK(agree(DType::F32, {-0.0}, {0.0}, {1e-6, 1e-6, true}));
  HostTensor a = HostTensor::fromInts(DType::I64, {1}, {(int64_t(1) << 60) + 1});
  HostTensor b = HostTensor::fromInts(DType::I64, {1}, {int64_t(1) << 60});
  CHECK(compareTensors("y", a, b, {})); // equal as doubles
}

TEST_CASE("a step between subnormals is always within a tolerance") {
  CHECK(agree(DType::F16, {0x1p-24, 1e-5}, {0, 1e-5}, {1e-3, 1e-3, true}));
  CHECK(!agree(DType::F16, {0x1p-23, 1e-5}, {0, 1e-5}, {1e-3, 1e-3, true}));
}

TEST_CASE("ulp distance counts steps of the dtype's grid") {
  CHECK(ulpDistance(DType::F16, 0x3c00, 0x3c01) == 1);
  CHECK(ulpDistance(DType::F16, 0x8000, 0x0000) == 0);
  CHECK(ulpDistance(DType::F16, 0x8001, 0x0001) == 2);
  CHECK(ulpDistance(DType::BF16, 0x3f80, 0x7fc0) == UINT64_MAX);
  CHECK(ulpDistance(DType::I8, 0xff, 0x01) == 2);
  CHECK(ulpDistance(DType::U64, 0, UINT64_MAX) == UINT64_MAX);
}

TEST_CASE("a mismatch says first and worst, got and want, ulp and how many") {
  HostTensor want = HostTensor::fromDoubles(DType::F16, {2, 3}, {1, 2, 3, 4, 5, 6});
  HostTensor got = HostTensor::fromDoubles(DType::F16, {2, 3}, {1, 2, 3.0625, 4, 7, 6});
  auto mismatch = compareTensors("y", got, want, {1e-3, 1e-3, true});
  REQUIRE(mismatch);
  CHECK(mismatch->count == 2);
  CHECK(mismatch->first.index == std::vector<int64_t>{0, 2});
  CHECK(mismatch->worst.index == std::vector<int64_t>{1, 1});
  CHECK(describe(*mismatch) ==
        "y f16: 2 of 6 elements differ\n"
        "  first at [0, 2]: got 3.0625, want 3 (off by 0.0625, 0.00516 allowed, 32 ulp)\n"
        "  worst at [1, 1]: got 7, want 5 (off by 2, 0.0101 allowed, 512 ulp)\n");
  auto exact = compareTensors("n", HostTensor::fromInts(DType::I32, {1}, {-3}),
                              HostTensor::fromInts(DType::I32, {1}, {4}), {});
  REQUIRE(exact);
  CHECK(describe(*exact) ==
        "n i32: 1 of 1 elements differ\n  first at [0]: got -3, want 4 (off by 7, 7 steps)\n");
}

TEST_CASE("zeros that differ in their sign alone") {
  auto mismatch = compareTensors("y", floats(DType::F32, {1, -0.0}), floats(DType::F32, {1, 0.0}), {});
  REQUIRE(mismatch);
  CHECK(describe(*mismatch) ==
        "y f32: 1 of 2 elements differ\n  first at [1]: got -0, want 0 (the signs of zero "
        "differ, and the tolerance 0 asks for equal bits)\n");
}

TEST_CASE("shapes and dtypes must be the same") {
  auto mismatch =
      compareTensors("y", HostTensor::allocate(DType::F32, {2}), HostTensor::allocate(DType::F16, {3}), {});
  REQUIRE(mismatch);
  CHECK(describe(*mismatch) == "y f16: got f32[2], want f16[3]\n");
}

TEST_CASE("a NaN is the worst of all") {
  auto mismatch = compareTensors("y", floats(DType::F32, {9, quietNaN, 1e30}), floats(DType::F32, {1, 1, 1}),
                                 {1e-3, 1e-3, true});
  REQUIRE(mismatch);
  CHECK(mismatch->count == 3);
  CHECK(mismatch->worst.index == std::vector<int64_t>{1});
}
