// SPDX-License-Identifier: MIT
// Conversions against values written out by hand, and the fast encoder against the general one. The
// exhaustive judgement against NumPy and ml_dtypes is in judge/.
#include "compiler/interpreter/Numerics.h"
#include "compiler/interpreter/NumericsElement.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace tilegym;
using namespace tilegym::interp;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

uint64_t to(DType type, double value, Conversion options = {}) {
  return convertBits(DType::F64, std::bit_cast<uint64_t>(value), type, options);
}

double back(DType type, uint64_t bits) { return std::bit_cast<double>(convertBits(type, bits, DType::F64)); }

/// Values at, midway between and just beside every value of a format.
std::vector<double> breakpoints(DType type) {
  std::vector<double> points = {0.0, infinite, notANumber, 1e300, 5e-324};
  FloatFormat format = floatFormat(type);
  for (uint64_t bits = 0; bits <= largestFinite(format); ++bits) {
    double here = decode(format, bits);
    double unit = std::ldexp(1.0, std::max(std::ilogb(here == 0 ? 5e-324 : here), format.minExponent()) -
                                      format.fractionBits);
    for (double point : {here, here + unit / 2})
      for (double beside : {point, std::nextafter(point, infinite), std::nextafter(point, -infinite)})
        points.push_back(beside);
  }
  return points;
}

template <DType type> void fastEqualsGeneral() {
  for (double point : breakpoints(type))
    for (double value : {point, -point})
      for (bool saturate : {false, true}) {
        uint64_t fast = encodeNearest<type>(value, saturate);
        uint64_t general = encodeDouble(floatFormat(type), value, Rounding::NearestEven, saturate);
        if (fast != general) {
          INFO(name(type) << " " << value << " sat " << saturate);
          REQUIRE(fast == general);
        }
      }
}

} // namespace

TEST_CASE("f16 by hand") {
  CHECK(to(DType::F16, 1.0) == 0x3c00);
  CHECK(to(DType::F16, -0.0) == 0x8000);
  CHECK(to(DType::F16, 65504) == 0x7bff);
  CHECK(to(DType::F16, 65519.99) == 0x7bff);
  CHECK(to(DType::F16, 65520) == 0x7c00);
  CHECK(to(DType::F16, -infinite) == 0xfc00);
  CHECK(to(DType::F16, notANumber) == 0x7e00);
  CHECK(to(DType::F16, 0x1p-24) == 0x0001);
  CHECK(to(DType::F16, 0x1p-25) == 0x0000); // a tie goes to even
  CHECK(to(DType::F16, 0x1.000002p-25) == 0x0001);
  CHECK(to(DType::F16, 2049) == 0x6800);
  CHECK(to(DType::F16, 2051) == 0x6802);
  CHECK(back(DType::F16, 0x0001) == 0x1p-24);
}

TEST_CASE("f64 is rounded once, not by way of f32") {
  // Just above a tie of the narrow format by less than f32 can hold: by way of f32 it would become the tie.
  CHECK(to(DType::F16, 1 + 0x1p-11 + 0x1p-40) == 0x3c01);
  CHECK(to(DType::BF16, 1 + 0x1p-8 + 0x1p-40) == 0x3f81);
  CHECK(to(DType::F8E4M3, 1 + 0x1p-4 + 0x1p-40) == 0x39);
  int64_t big = (int64_t(1) << 62) + (int64_t(1) << 54) + 1; // above a tie of bf16, by less than f64 holds
  CHECK(convertBits(DType::I64, static_cast<uint64_t>(big), DType::BF16) == 0x5e81);
  CHECK(convertBits(DType::U64, ~uint64_t(0), DType::F32) == 0x5f800000);
}

TEST_CASE("f8e4m3 saturates, has no infinity, and one NaN") {
  CHECK(to(DType::F8E4M3, 448) == 0x7e);
  CHECK(to(DType::F8E4M3, 464) == 0x7e); // a tie: even is 448
  CHECK(to(DType::F8E4M3, 1e9) == 0x7e);
  CHECK(to(DType::F8E4M3, -infinite) == 0xfe);
  CHECK(to(DType::F8E4M3, 465, {{}, false}) == 0x7f);
  CHECK(to(DType::F8E4M3, infinite, {{}, false}) == 0x7f);
  CHECK(to(DType::F8E4M3, notANumber) == 0x7f);
  CHECK(to(DType::F8E4M3, 0x1p-9) == 0x01);
  CHECK(std::isnan(back(DType::F8E4M3, 0xff)));
}

TEST_CASE("f8e5m2 saturates by default and keeps infinity without") {
  CHECK(to(DType::F8E5M2, 57344) == 0x7b);
  CHECK(to(DType::F8E5M2, 1e9) == 0x7b);
  CHECK(to(DType::F8E5M2, infinite) == 0x7b);
  CHECK(to(DType::F8E5M2, 61440, {{}, false}) == 0x7c);
  CHECK(to(DType::F8E5M2, infinite, {{}, false}) == 0x7c);
  CHECK(to(DType::F8E5M2, notANumber) == 0x7e);
  CHECK(convertBits(DType::F8E5M2, 0x7c, DType::F8E5M2) == 0x7c); // to the same dtype nothing changes
}

TEST_CASE("rounding modes and sat= on wide floats") {
  CHECK(to(DType::F16, 1e6, {Rounding::TowardZero, {}}) == 0x7bff);
  CHECK(to(DType::F16, 1e6, {Rounding::Down, {}}) == 0x7bff);
  CHECK(to(DType::F16, 1e6, {Rounding::Up, {}}) == 0x7c00);
  CHECK(to(DType::F16, 1e6, {{}, true}) == 0x7bff);
  CHECK(to(DType::F32, 1e300, {{}, true}) == 0x7f7fffff);
  CHECK(to(DType::F32, 1 + 0x1p-40, {Rounding::Up, {}}) == 0x3f800001);
  CHECK(to(DType::F32, -(1 + 0x1p-40), {Rounding::Up, {}}) == 0xbf800000);
  CHECK(to(DType::F32, -(1 + 0x1p-40), {Rounding::Down, {}}) == 0xbf800001);
}

TEST_CASE("float to integer truncates, saturates, NaN is 0") {
  CHECK(to(DType::I8, -1.9) == 0xff);
  CHECK(to(DType::I8, 200) == 127);
  CHECK(to(DType::I8, -1e9) == 0x80);
  CHECK(to(DType::U8, -3) == 0);
  CHECK(to(DType::U64, infinite) == ~uint64_t(0));
  CHECK(to(DType::I32, notANumber) == 0);
  CHECK(to(DType::I64, 0x1p63) == uint64_t(INT64_MAX));
  CHECK(to(DType::I32, 2.5, {Rounding::NearestEven, {}}) == 2);
  CHECK(to(DType::I32, 2.1, {Rounding::Up, {}}) == 3);
  CHECK(to(DType::Bool, 0.1) == 1);
  CHECK(to(DType::Bool, -0.0) == 0);
}

TEST_CASE("integers wrap, or stop at their ends with sat=true") {
  CHECK(convertBits(DType::I32, 300, DType::U8) == 44);
  CHECK(convertBits(DType::I32, 300, DType::U8, {{}, true}) == 255);
  CHECK(convertBits(DType::I32, uint32_t(-5), DType::U64, {{}, true}) == 0);
  CHECK(convertBits(DType::I32, uint32_t(-5), DType::I64) == uint64_t(-5));
  CHECK(convertBits(DType::U64, ~uint64_t(0), DType::I8, {{}, true}) == 127);
  CHECK(convertBits(DType::Bool, 1, DType::F16) == 0x3c00);
}

TEST_CASE("tf32 keeps ten fraction bits") {
  CHECK(roundToTf32(1 + 0x1p-11f) == 1.0f);
  CHECK(roundToTf32(1 + 3 * 0x1p-11f) == 1 + 0x1p-9f);
  CHECK(std::isinf(roundToTf32(std::numeric_limits<float>::max())));
  CHECK(roundToTf32(0x1p-149f) == 0);
  CHECK(std::signbit(roundToTf32(-0.0f)));
}

TEST_CASE("the fast encoder equals the general one at every breakpoint") {
  fastEqualsGeneral<DType::F16>();
  fastEqualsGeneral<DType::BF16>();
  fastEqualsGeneral<DType::F8E4M3>();
  fastEqualsGeneral<DType::F8E5M2>();
}

TEST_CASE("a step of zero repeats one element") {
  float one = 1.5f;
  std::vector<uint16_t> out(1000, 0);
  convert(DType::F32, Source{&one, 0}, DType::F16, out.data(), out.size());
  CHECK(out.front() == 0x3e00);
  CHECK(out.back() == 0x3e00);
}
