// SPDX-License-Identifier: MIT
// Matrix products: literal values, precisions, batches, NumPy's rules for `@`.
#include "tests/unit/interpreter/Tree.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace tilegym;
using namespace tilegym::interp;
using namespace tilegym::interp::test;
using sem::Op;
using sem::Precision;

namespace {
using D = std::vector<double>;
using N = std::vector<int64_t>;
constexpr DType F32 = DType::F32, F16 = DType::F16;

Value mma(const Value &a, const Value &b, const Value &acc, Precision precision = Precision::Default) {
  return apply(Op::Mma, {a, b, acc}, tileType(acc.dtype), [&](sem::Expr &e) { e.precision = precision; });
}
Value matMul(const Value &a, const Value &b, DType to) { return apply(Op::MatMul, {a, b}, tileType(to)); }
} // namespace

TEST_CASE("mma adds the product to the accumulator") {
  Value a = tile(F16, Shape{2, 2}, {1, 2, 3, 4}), b = tile(F16, Shape{2, 2}, {5, 6, 7, 8});
  CHECK(doubles(mma(a, b, tile(F32, Shape{2, 2}, {100, 0, 0, 0}))) == D{119, 22, 43, 50});
  CHECK(doubles(mma(Value(F16, Shape{1, 0}), Value(F16, Shape{0, 1}), tile(F32, Shape{1, 1}, {3}))) == D{3});
}

TEST_CASE("mma sums in f32 in order of k") {
  // 2^24 + 1 is lost, twice; summed first the ones would count.
  Value a = tile(F32, Shape{1, 3}, {1, 1, 1}), b = tile(F32, Shape{3, 1}, {16777216, 1, 1});
  CHECK(doubles(mma(a, b, tile(F32, Shape{1, 1}, {0}), Precision::Ieee)) == D{16777216});
  CHECK(doubles(mma(a, b, tile(F32, Shape{1, 1}, {2}), Precision::Ieee)) == D{16777220});
}

TEST_CASE("tf32 keeps 10 fraction bits, tf32x3 nearly all of f32") {
  const double x = 1 + std::ldexp(1, -12), third = double(float(1.0 / 3));
  Value a = tile(F32, Shape{1, 1}, {x}), one = tile(F32, Shape{1, 1}, {1}),
        zero = tile(F32, Shape{1, 1}, {0});
  CHECK(doubles(mma(a, one, zero, Precision::Tf32)) == D{1});
  CHECK(doubles(mma(a, one, zero, Precision::Tf32x3)) == D{x});
  Value t = tile(F32, Shape{1, 1}, {third});
  CHECK(doubles(mma(t, t, zero, Precision::Tf32x3))[0] == Approx(third * third).epsilon(2e-7));
  Value big = tile(F32, Shape{1, 1}, {Inf});
  CHECK(std::isnan(doubles(mma(big, one, zero, Precision::Tf32x3))[0])); // inf times the low part of 1
}

TEST_CASE("integer and f8 products") {
  Value a = ints(DType::I8, Shape{1, 2}, {-128, 127}), b = ints(DType::I8, Shape{2, 1}, {-128, -1});
  CHECK(integers(mma(a, b, ints(DType::I32, Shape{1, 1}, {1}))) == N{16258});
  CHECK(integers(mma(a, b, ints(DType::I32, Shape{1, 1}, {2147483647}))) == N{-2147467392});
  Value c = tile(DType::F8E4M3, Shape{1, 2}, {448, 1}), d = tile(DType::F8E4M3, Shape{2, 1}, {448, 1});
  for (Precision precision : {Precision::Promoted, Precision::Fast})
    CHECK(doubles(mma(c, d, tile(F32, Shape{1, 1}, {0}), precision)) == D{200705});
  Value e = tile(DType::F64, Shape{1, 1}, {0.1});
  CHECK(doubles(mma(e, e, tile(DType::F64, Shape{1, 1}, {0}))) == D{0.1 * 0.1});
}

TEST_CASE("batched mma") {
  Value a = tile(F16, Shape{2, 1, 2}, {1, 2, 3, 4}), b = tile(F16, Shape{2, 2, 1}, {1, 1, 10, 10});
  CHECK(doubles(mma(a, b, tile(F32, Shape{2, 1, 1}, {0, 0}))) == D{3, 70});
}

TEST_CASE("scaled operands") {
  Value a = tile(DType::F8E4M3, Shape{1, 4}, {1, 1, 1, 1}),
        b = tile(DType::F8E4M3, Shape{4, 1}, {1, 1, 1, 1});
  Value scaleA = tile(F32, Shape{1, 2}, {2, 10}), scaleB = tile(F32, Shape{2, 1}, {1, 100});
  Value acc = tile(F32, Shape{1, 1}, {0.5});
  CHECK(doubles(apply(Op::MmaScaled, {a, scaleA, b, scaleB, acc}, tileType(F32))) == D{2004.5});
}

TEST_CASE("@ follows NumPy: vectors, batches, sizes that fill no block") {
  Value m = tile(F32, Shape{2, 3}, {1, 2, 3, 4, 5, 6}), v = tile(F32, Shape{3}, {1, 0, -1});
  CHECK(doubles(matMul(m, v, F32)) == D{-2, -2});
  CHECK(extents(matMul(m, v, F32).shape) == N{2});
  CHECK(extents(matMul(v, v, F32).shape).empty());
  CHECK(doubles(matMul(v, v, F32)) == D{2});
  Value batch = tile(F32, Shape{2, 1, 2}, {1, 2, 3, 4}), shared = tile(F32, Shape{2, 1}, {1, 10});
  CHECK(doubles(matMul(batch, shared, F32)) == D{21, 43});
  CHECK(extents(matMul(batch, shared, F32).shape) == N{2, 1, 1});
  Value wide(F32, Shape{5, 70}), tall(F32, Shape{70, 19});
  for (int64_t i = 0; i < wide.count(); ++i)
    wide.as<float>()[i] = float(i % 7 - 3);
  for (int64_t i = 0; i < tall.count(); ++i)
    tall.as<float>()[i] = float(i % 5 - 2);
  D got = doubles(matMul(wide, tall, F32));
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 19; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < 70; ++k)
        sum += double(wide.as<float>()[i * 70 + k]) * double(tall.as<float>()[k * 19 + j]);
      REQUIRE(got[size_t(i * 19 + j)] == sum);
    }
  CHECK(faultOf([&] { matMul(m, m, F32); }).message == "matrix product of [2, 3] and [2, 3]");
}

TEST_CASE("@ of f16 is rounded once, of integers it wraps") {
  Value a = tile(F16, Shape{1, 2}, {2048, 1}), b = tile(F16, Shape{2, 1}, {1, 1});
  CHECK(doubles(matMul(a, b, F16)) == D{2048}); // 2049 ties to even
  CHECK(doubles(matMul(a, b, F32)) == D{2049});
  Value c = ints(DType::I32, Shape{1, 1}, {65536});
  CHECK(integers(matMul(c, c, DType::I32)) == N{0});
  Value d = ints(DType::I64, Shape{1, 1}, {65536});
  CHECK(integers(matMul(d, d, DType::I64)) == N{4294967296});
}

TEST_CASE("random numbers are those of the counter") {
  // Philox4x32-10 at counter 0 with key 0, the published vector: 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
  Value seed = ints(DType::U64, Shape{}, {0}), counter = ints(DType::Index, Shape{5}, {0, 1, 2, 3, 0});
  auto philox = [&](int64_t bits, DType dtype) {
    return integers(
        apply(Op::Philox, {seed, counter}, tileType(dtype), [&](sem::Expr &e) { e.ints = {bits}; }));
  };
  CHECK(philox(32, DType::U32) == N{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, 0x6627e8d5});
  CHECK(philox(16, DType::U16) == N{0xe8d5, 0x6627, 0xc58d, 0xe169, 0xe8d5});
  CHECK(philox(8, DType::U8) == N{0xd5, 0xe8, 0x27, 0x66, 0xd5});
  D uniform =
      doubles(apply(Op::Uniform, {seed, counter}, tileType(F32), [](sem::Expr &e) { e.ints = {32}; }));
  CHECK(uniform[0] == double(0x6627e8d5 >> 8) / 16777216);
}
