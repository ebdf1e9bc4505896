// SPDX-License-Identifier: MIT
// The numbers that tensor cores multiply, and how their sums are cut and rounded.
#include "compiler/simulator/MatrixMultiply.h"

#include "catch2/catch.hpp"

#include <bit>
#include <cmath>
#include <random>
#include <vector>

using namespace tilegym::sim;

namespace {

double value(FloatFormat format, uint32_t bits) {
  Parts p = parts(format, bits);
  if (p.kind == Parts::Kind::NaN)
    return NAN;
  if (p.kind == Parts::Kind::Infinite)
    return p.significand * INFINITY;
  return std::ldexp(p.significand, p.exponent - format.fractionBits);
}

uint32_t f32(float x) { return std::bit_cast<uint32_t>(x); }

Parts exactParts(ElementType type, double x) {
  if (isInteger(type))
    return Parts{.significand = int32_t(x)};
  FloatFormat format = formatOf(type);
  if (!std::isfinite(x))
    return parts(f32Format, f32(float(x)));
  int exponent;
  double scaled = std::frexp(x, &exponent) * 0x1p53;
  return parts(format, encode(format, static_cast<__int128>(scaled), exponent - 53, RoundTo::Nearest));
}

/// One block of products given as values of the types; the rest of the block is nought.
uint32_t block(const MatrixUnit &unit, const std::vector<std::pair<double, double>> &products, uint32_t c) {
  std::vector<Parts> a, b;
  for (auto [x, y] : products) {
    a.push_back(exactParts(unit.a, x));
    b.push_back(exactParts(unit.b, y));
  }
  return multiplyBlock(unit, OperandBlock(a), OperandBlock(b), c);
}

} // namespace

TEST_CASE("formats, whole", "[element]") {
  CHECK(value(f16Format, 0x3C00) == 1);
  CHECK(value(f16Format, 0x7BFF) == 65504);
  CHECK(value(f16Format, 0x0001) == 0x1p-24);
  CHECK(value(bf16Format, 0x3F80) == 1);
  CHECK(value(e4m3Format, 0x7E) == 448);
  CHECK(std::isnan(value(e4m3Format, 0xFF)));
  CHECK(value(e4m3Format, 0x01) == 0x1p-9);
  CHECK(value(e5m2Format, 0x7B) == 57344);
  CHECK(value(e5m2Format, 0xFC) == -INFINITY);
  CHECK(elementParts(ElementType::TF32, 0x3F801FFF).significand == 1 << 10); // the low 13 bits do not count
  CHECK(elementParts(ElementType::S8, 0x80).significand == -128);
  CHECK(elementParts(ElementType::U8, 0x80).significand == 128);
  for (FloatFormat format : {f16Format, bf16Format, e5m2Format, tf32Format}) {
    uint32_t count = 1u << (1 + format.exponentBits + format.fractionBits);
    for (uint32_t bits = 0; bits < count; ++bits) {
      Parts p = parts(format, bits);
      if (p.kind == Parts::Kind::Finite && p.significand)
        for (RoundTo round : {RoundTo::Nearest, RoundTo::Zero})
          REQUIRE(encode(format, p.significand, p.exponent - format.fractionBits, round) == bits);
    }
  }
}

TEST_CASE("rounding to f32 agrees with the host", "[element]") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    auto x = int64_t(random()) >> (random() % 60);
    int exponent = int(random() % 330) - 220;
    double exact = std::ldexp(double(x >> 10), exponent); // 53 bits at most
    REQUIRE(encode(f32Format, x >> 10, exponent, RoundTo::Nearest) == (exact == 0 ? 0 : f32(float(exact))));
  }
  CHECK(encode(f32Format, (1 << 24) + 1, 0, RoundTo::Nearest) == f32(16777216.0f));
  CHECK(encode(f32Format, (1 << 25) + 3, 0, RoundTo::Zero) == f32(33554432.0f));
  CHECK(encode(f32Format, -(1 << 25) - 3, 0, RoundTo::Zero) == f32(-33554432.0f));
  CHECK(encode(f16Format, 65519, 0, RoundTo::Nearest) == 0x7BFF);
  CHECK(encode(f16Format, 65520, 0, RoundTo::Nearest) == 0x7C00);
  CHECK(encode(f16Format, 3, -25, RoundTo::Nearest) == 2);
  CHECK(encode(f16Format, 1, -25, RoundTo::Nearest) == 0);
  for (uint32_t bits = 0; bits < 0x10000; ++bits)
    for (FloatFormat format : {f16Format, bf16Format})
      if (parts(format, bits).kind != Parts::Kind::NaN)
        REQUIRE(narrow(format, widen(format, bits)) == bits);
  CHECK(narrow(bf16Format, NAN) == 0x7FFF);
  CHECK(narrow(f16Format, -1e6f) == 0xFC00);
}

TEST_CASE("small integers are exact in every type", "[multiply]") {
  std::mt19937 random(2);
  using T = ElementType;
  for (auto [a, b] : {std::pair{T::F16, T::F16},
                      {T::BF16, T::BF16},
                      {T::TF32, T::TF32},
                      {T::E4M3, T::E5M2},
                      {T::E5M2, T::E5M2}})
    for (int i = 0; i < 200; ++i) {
      std::vector<std::pair<double, double>> products;
      double sum = int(random() % 64);
      uint32_t c = f32(float(sum));
      for (int k = 0; k < 32 / elementBytes(a); ++k) {
        products.push_back({int(random() % 9) - 4, int(random() % 9) - 4});
        sum += products.back().first * products.back().second;
      }
      CHECK(block(warpUnit(a, b, AccumulatorType::F32), products, c) == f32(float(sum)));
      CHECK(block(warpgroupUnit(a, b, AccumulatorType::F32), products, c) == f32(float(sum)));
    }
}

TEST_CASE("sums are cut below 25 bits of the largest term, toward zero", "[multiply]") {
  MatrixUnit unit = warpUnit(ElementType::F16, ElementType::F16, AccumulatorType::F32);
  // 2^-12 * 2^-13 = 2^-25 next to 1 is the last bit that the sum keeps; four of them reach the result's last bit.
  std::pair<double, double> one{1, 1}, last{0x1p-12, 0x1p-13}, lost{0x1p-13, 0x1p-13},
      minus{-0x1p-13, 0x1p-13};
  CHECK(block(unit, {one, last, last, last, last}, 0) == f32(1 + 0x1p-23f));
  CHECK(block(unit, {one, last, last, last}, 0) == f32(1));
  CHECK(block(unit, {one, lost, lost, lost, lost, lost, lost, lost, lost}, 0) == f32(1));
  CHECK(block(unit, {one, minus, minus}, 0) == f32(1)); // toward zero, not down
  CHECK(block(unit, {{-1, 1}, {0x1p-12, 0x1p-13}}, 0) == f32(-1 + 0x1p-24f));
  // The accumulator is cut as the products are.
  CHECK(block(unit, {{1024, 1024}}, f32(0x1p-6f)) == f32(0x1p20f));
  CHECK(block(unit, {{1024, 1024}}, f32(0x1p-3f)) == f32(0x1p20f + 0x1p-3f));
  // The exponent of 1.5 * 1.5 is that of 1: one bit more survives beside it.
  CHECK(block(unit, {{1.5, 1.5}, last, last, last, last}, 0) == f32(2.25f));
  CHECK(block(unit, {{1.5, 1.5}, {-1.5, 1.5}, last}, 0) == f32(0x1p-25f));
}

TEST_CASE("8-bit floats in wgmma keep 13 bits", "[multiply]") {
  MatrixUnit wgmma = warpgroupUnit(ElementType::E4M3, ElementType::E4M3, AccumulatorType::F32);
  MatrixUnit mma = warpUnit(ElementType::E4M3, ElementType::E4M3, AccumulatorType::F32);
  std::pair<double, double> large{16, 16}, kept{0x1p-2, 0x1p-3}, lost{0x1p-3, 0x1p-3};
  CHECK(block(wgmma, {large, kept}, 0) == f32(256 + 0x1p-5f));
  CHECK(block(wgmma, {large, lost}, 0) == f32(256));
  CHECK(block(mma, {large, lost}, 0) == f32(256 + 0x1p-6f));
  CHECK(block(wgmma, {}, f32(1 + 0x1p-20f)) == f32(1));
}

TEST_CASE("8-bit floats in mma.sync are two f16 blocks, and C comes last", "[multiply]") {
  auto sum = [](std::initializer_list<std::pair<size_t, std::pair<double, double>>> terms, float c) {
    std::array<Parts, 32> a{}, b{};
    for (const auto &[k, factors] : terms) {
      a[k] = exactParts(ElementType::E4M3, factors.first);
      b[k] = exactParts(ElementType::E4M3, factors.second);
    }
    return multiplyBytesOfWarp(a, b, ElementType::E4M3, ElementType::E4M3, f32(c));
  };
  std::pair<double, double> large{16, 16}, minus{-16, 16}, tiny{0x1p-9, 0x1p-9};
  CHECK(sum({{0, large}, {5, minus}, {1, tiny}}, 0) == f32(0));            // beside the large ones
  CHECK(sum({{0, large}, {5, minus}, {2, tiny}}, 0) == f32(0x1p-18f));     // after them
  CHECK(sum({{2, large}, {31, minus}, {16, tiny}}, 0) == f32(0));          // before them, and cut there
  CHECK(sum({{0, {1, 1}}}, 0x1.8p-24f) == f32(1 + 0x1p-23f));              // to nearest
  CHECK(sum({{0, {0x1p-8, 1}}, {1, {0x1.8p-8, 1}}}, 0) == f32(0x1.4p-7f)); // subnormals
  CHECK(sum({{3, {NAN, 1}}}, 0) == 0x7FFFFFFF);
  CHECK(sum({{3, {1, 1}}}, -INFINITY) == 0xFF800000);
}

TEST_CASE("f16 accumulators round to nearest", "[multiply]") {
  MatrixUnit unit = warpUnit(ElementType::F16, ElementType::F16, AccumulatorType::F16);
  CHECK(block(unit, {{2048, 1}, {1, 1}}, 0) == 0x6800);   // 2049 lies in the middle: even
  CHECK(block(unit, {{2048, 1}, {1.5, 1}}, 0) == 0x6801); // 2050
  CHECK(block(unit, {{60000, 1}}, 0x7B00) == 0x7C00);     // infinity
  CHECK(block(unit, {{1, 1}}, 0x3C00) == 0x4000);
}

TEST_CASE("what is not finite", "[multiply]") {
  MatrixUnit unit = warpUnit(ElementType::F16, ElementType::F16, AccumulatorType::F32);
  CHECK(block(unit, {{INFINITY, 1}}, 0) == 0x7F800000);
  CHECK(block(unit, {{INFINITY, -1}}, 0) == 0xFF800000);
  CHECK(block(unit, {{INFINITY, 0}}, 0) == 0x7FFFFFFF);
  CHECK(block(unit, {{INFINITY, 1}, {-INFINITY, 1}}, 0) == 0x7FFFFFFF);
  CHECK(block(unit, {{NAN, 0}}, 0) == 0x7FFFFFFF);
  CHECK(block(unit, {{1, 1}}, f32(-INFINITY)) == 0xFF800000);
  CHECK(block(unit, {{-1, 1}}, f32(1)) == 0);
}

TEST_CASE("integers wrap or saturate", "[multiply]") {
  MatrixUnit unit = warpUnit(ElementType::S8, ElementType::U8, AccumulatorType::S32);
  CHECK(int32_t(block(unit, {{-128, 255}, {1, 2}}, uint32_t(-5))) == -128 * 255 + 2 - 5);
  CHECK(int32_t(block(unit, {{1, 1}}, INT32_MAX)) == INT32_MIN);
  unit.saturate = true;
  CHECK(int32_t(block(unit, {{1, 1}}, INT32_MAX)) == INT32_MAX);
  CHECK(int32_t(block(unit, {{-1, 1}}, uint32_t(INT32_MIN))) == INT32_MIN);
}

TEST_CASE("blocks follow one another, each within the stated bound", "[multiply]") {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  MatrixUnit unit = warpgroupUnit(ElementType::BF16, ElementType::BF16, AccumulatorType::F32);
  for (int i = 0; i < 100; ++i) {
    std::vector<Parts> a, b;
    uint32_t c = 0;
    double largestError = 0, sum = 0;
    for (int k = 0; k < 64; ++k) {
      uint32_t x = narrow(bf16Format, normal(random)), y = narrow(bf16Format, normal(random));
      a.push_back(parts(bf16Format, x));
      b.push_back(parts(bf16Format, y));
      sum += value(bf16Format, x) * value(bf16Format, y);
    }
    c = multiply(unit, a, b, 0);
    largestError = 4 * (17 * std::ldexp(64, -25) + std::ldexp(64, -23)); // terms stay below 64 here
    CHECK(std::abs(double(std::bit_cast<float>(c)) - sum) < largestError);
    uint32_t steps = 0;
    for (size_t k = 0; k < 64; k += 16)
      steps = multiplyBlock(unit, OperandBlock(std::span(a).subspan(k, 16)),
                            OperandBlock(std::span(b).subspan(k, 16)), steps);
    CHECK(steps == c);
  }
}
