// SPDX-License-Identifier: MIT
// The special functions: exact cases, special values as the PTX ISA lists them, and the stated bound against f64.
#include "tests/unit/simulator/TestKernel.h"
#include <cmath>
#include <limits>

using namespace tilegym::sim;

namespace {

enum Kind { Ex2, Lg2, Rsqrt, Rcp, Sqrt, Sin, Cos, Tanh };
constexpr float infinity = std::numeric_limits<float>::infinity(),
                notANumber = std::numeric_limits<float>::quiet_NaN();
constexpr uint32_t canonical = 0x7FFFFFFF;

uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }

uint32_t approxBits(Kind kind, float x, bool ftz = false) {
  Op op("approx", {.attributes = {kind, ftz}, .operands = {f32}, .results = {f32}});
  return uint32_t(op({bitsOf(x)}));
}
float approx(Kind kind, float x, bool ftz = false) { return std::bit_cast<float>(approxBits(kind, x, ftz)); }

uint32_t divide(float a, float b, bool ftz) {
  Op op("divide_approx", {.attributes = {ftz}, .operands = {f32, f32}, .results = {f32}});
  return uint32_t(op({bitsOf(a), bitsOf(b)}));
}

} // namespace

TEST_CASE("Approximate functions at values that are exact") {
  REQUIRE(approx(Ex2, 10) == 1024);
  REQUIRE(approx(Ex2, -3) == 0.125f);
  REQUIRE(approx(Lg2, 8) == 3);
  REQUIRE(approx(Rsqrt, 4) == 0.5f);
  REQUIRE(approx(Rcp, -8) == -0.125f);
  REQUIRE(approx(Sqrt, 9) == 3);
  REQUIRE(approx(Sin, 0) == 0);
  REQUIRE(approx(Cos, 0) == 1);
  REQUIRE(approx(Tanh, 0) == 0);
  REQUIRE(approx(Ex2, 0.5f) == 1.41421356f);
  REQUIRE(approx(Lg2, 10) == 3.32192809f);
  REQUIRE(approx(Tanh, 1) == 0.761594156f);
}

TEST_CASE("Approximate functions at the ends") {
  REQUIRE(approx(Ex2, -infinity) == 0);
  REQUIRE(approx(Ex2, infinity) == infinity);
  REQUIRE(approx(Ex2, 200) == infinity);
  REQUIRE(approx(Lg2, 0) == -infinity);
  REQUIRE(approx(Lg2, infinity) == infinity);
  REQUIRE(approxBits(Lg2, -1) == canonical);
  REQUIRE(approx(Rsqrt, -0.0f) == -infinity);
  REQUIRE(approx(Rsqrt, infinity) == 0);
  REQUIRE(approxBits(Rsqrt, -1) == canonical);
  REQUIRE(approx(Rcp, -0.0f) == -infinity);
  REQUIRE(approxBits(Rcp, -infinity) == 0x80000000);
  REQUIRE(approxBits(Sqrt, -0.0f) == 0x80000000);
  REQUIRE(approxBits(Sqrt, -1) == canonical);
  REQUIRE(approxBits(Sin, infinity) == canonical);
  REQUIRE(approxBits(Sin, -0.0f) == 0x80000000);
  REQUIRE(approxBits(Cos, infinity) == canonical);
  REQUIRE(approx(Tanh, -infinity) == -1);
  for (Kind kind : {Ex2, Lg2, Rsqrt, Rcp, Sqrt, Sin, Cos, Tanh})
    REQUIRE(approxBits(kind, notANumber) == canonical);
}

TEST_CASE("ftz flushes operands and results, keeping the sign") {
  REQUIRE(approx(Ex2, -140) == 0x1p-140f);
  REQUIRE(approx(Ex2, -140, true) == 0);
  REQUIRE(approx(Rcp, 1e-40f, true) == infinity);
  REQUIRE(approx(Rcp, -1e-40f, true) == -infinity);
  REQUIRE(approxBits(Rcp, -0x1p127f, true) == 0x80000000);
  REQUIRE(approx(Rcp, -0x1p127f) == -0x1p-127f);
  REQUIRE(divide(1e-40f, 1e-40f, false) == bitsOf(1));
  REQUIRE(divide(1e-40f, 1e-40f, true) == canonical);
  REQUIRE(divide(6, 3, true) == bitsOf(2));
  REQUIRE(divide(-1, 3, false) == bitsOf(-1.0f / 3));
}

TEST_CASE("Approximate functions are within 0.501 ulp") {
  const double scale[] = {1, 1e-3, 37};
  for (double by : scale)
    for (int i = 1; i < 2000; ++i) {
      auto x = float(i * by * 1.37e-3);
      const std::pair<Kind, long double> expected[] = {{Ex2, std::exp2l(x)},
                                                       {Lg2, std::log2l(x)},
                                                       {Rsqrt, 1 / std::sqrt((long double)x)},
                                                       {Rcp, 1 / (long double)x},
                                                       {Sqrt, std::sqrt((long double)x)},
                                                       {Sin, std::sin((long double)x)},
                                                       {Cos, std::cos((long double)x)},
                                                       {Tanh, std::tanh((long double)x)}};
      for (auto [kind, exact] : expected) {
        float got = approx(kind, x);
        if (std::isinf(got))
          continue;
        long double ulp = std::nextafterf(std::fabs(got), infinity) - std::fabs(got);
        INFO("function " << kind << " of " << x);
        REQUIRE(std::abs(got - exact) <= 0.501L * ulp);
      }
    }
}
