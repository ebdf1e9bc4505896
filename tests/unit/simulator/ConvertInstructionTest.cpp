// SPDX-License-Identifier: MIT
// Conversions: each rounding mode, saturation, NaN.
#include "compiler/simulator/MatrixElement.h"
#include "tests/unit/simulator/TestKernel.h"
#include <limits>

using namespace tilegym::sim;

namespace {

enum Mode { Nearest, Zero, Down, Up };

uint64_t convert(uint8_t from, uint64_t bits, uint8_t to, Mode mode, bool isUnsigned = false) {
  Op op("convert", {.attributes = {mode, isUnsigned}, .operands = {from}, .results = {to}});
  return op({bits});
}
uint64_t single(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t twice(double value) { return std::bit_cast<uint64_t>(value); }

} // namespace

TEST_CASE("Float to integer rounds by the mode, saturates") {
  REQUIRE(convert(f32, single(2.5f), i32, Nearest) == 2);
  REQUIRE(convert(f32, single(-2.5f), i32, Zero) == 0xFFFFFFFE);
  REQUIRE(convert(f32, single(-2.5f), i32, Down) == 0xFFFFFFFD);
  REQUIRE(convert(f32, single(2.1f), i32, Up) == 3);
  REQUIRE(convert(f32, single(3e9f), i32, Zero) == 0x7FFFFFFF);
  REQUIRE(convert(f32, single(-3e9f), i32, Zero) == 0x80000000);
  REQUIRE(convert(f32, single(3e9f), i32, Zero, true) == 3000000000);
  REQUIRE(convert(f32, single(-1), i32, Zero, true) == 0);
  REQUIRE(convert(f64, twice(1e19), i64, Zero) == 0x7FFFFFFFFFFFFFFF);
  REQUIRE(convert(f64, twice(1e19), i64, Zero, true) == 10000000000000000000u);
  REQUIRE(convert(f32, single(std::numeric_limits<float>::quiet_NaN()), i32, Zero) == 0);
  // As an H200 does: with 64 bits on either side NaN is not nought.
  for (bool isUnsigned : {false, true}) {
    REQUIRE(convert(f64, twice(std::numeric_limits<double>::quiet_NaN()), i32, Zero, isUnsigned) ==
            0x80000000);
    REQUIRE(convert(f32, single(std::numeric_limits<float>::quiet_NaN()), i64, Zero, isUnsigned) ==
            uint64_t(1) << 63);
    REQUIRE(convert(f64, twice(std::numeric_limits<double>::quiet_NaN()), i64, Zero, isUnsigned) ==
            uint64_t(1) << 63);
  }
}

TEST_CASE("Integer to float rounds by the mode") {
  uint64_t odd = (1 << 24) + 1; // between two f32 values
  REQUIRE(convert(i32, odd, f32, Nearest) == single(16777216));
  REQUIRE(convert(i32, odd, f32, Up) == single(16777218));
  REQUIRE(convert(i32, uint32_t(-int32_t(odd)), f32, Down) == single(-16777218));
  REQUIRE(convert(i32, uint32_t(-int32_t(odd)), f32, Zero) == single(-16777216));
  REQUIRE(convert(i32, 0xFFFFFFFF, f32, Nearest) == single(-1));
  REQUIRE(convert(i32, 0xFFFFFFFF, f32, Nearest, true) == single(4294967296.0f));
  REQUIRE(convert(i64, (uint64_t(1) << 53) + 1, f64, Up) == twice(9007199254740994.0));
  REQUIRE(convert(i32, 70000, f16, Nearest) == 0x7C00);
  REQUIRE(convert(i32, 70000, f16, Zero) == 0x7BFF);
}

TEST_CASE("Narrowing rounds once") {
  REQUIRE(convert(f32, single(1.0f + 0x1p-11f), f16, Nearest) == 0x3C00); // halfway, to even
  REQUIRE(convert(f32, single(1.0f + 0x1p-11f), f16, Up) == 0x3C01);
  REQUIRE(convert(f32, single(-1.0f - 0x1p-11f), f16, Down) == 0xBC01);
  REQUIRE(convert(f32, single(65520), f16, Nearest) == 0x7C00);
  REQUIRE(convert(f32, single(65520), f16, Zero) == 0x7BFF);
  REQUIRE(convert(f32, single(0x1p-25f), f16, Nearest) == 0);
  REQUIRE(convert(f32, single(0x1p-25f), f16, Up) == 1);
  REQUIRE(convert(f64, twice(1 + 0x1p-11 + 0x1p-40), f16, Nearest) ==
          0x3C01); // by way of f32 it would be 0x3C00
  REQUIRE(convert(f64, twice(0.1), f32, Nearest) == single(0.1f));
  REQUIRE(convert(f64, twice(0.1), f32, Zero) == single(0.1f) - 1);
  REQUIRE(convert(f32, single(1.0f + 0x1p-8f), bf16, Nearest) == 0x3F80);
}

TEST_CASE("A NaN becomes PTX's own") {
  REQUIRE(convert(f32, 0xFFC12345, f16, Nearest) == 0x7FFF);
  REQUIRE(convert(f32, 0x7F800001, bf16, Nearest) == 0x7FFF);
  REQUIRE(convert(f64, 0xFFF8000000000001, f32, Nearest) == 0x7FFFFFFF);
}

TEST_CASE("Two f32 to a word of f8 saturate") {
  auto pair = [](float low, float high, ElementType type) {
    Op op("convert_pair", {.attributes = {int64_t(type)}, .operands = {f32, f32}, .results = {i16}});
    return op({single(low), single(high)});
  };
  constexpr float infinite = std::numeric_limits<float>::infinity();
  REQUIRE(pair(1, -2, ElementType::E4M3) == 0xC038);
  REQUIRE(pair(500, -infinite, ElementType::E4M3) == 0xFE7E);
  REQUIRE(pair(0x1p-10f, 0x1.8p-9f, ElementType::E4M3) == 0x0200); // halfway, to even
  REQUIRE(pair(std::numeric_limits<float>::quiet_NaN(), 0, ElementType::E4M3) == 0x007F);
  REQUIRE(pair(1e9f, 1, ElementType::E5M2) == 0x3C7B);
  REQUIRE(pair(0, std::numeric_limits<float>::quiet_NaN(), ElementType::E5M2) == 0x7F00);
}
