// SPDX-License-Identifier: MIT
// What the contract says of single operations, each line by values written out by hand.
#include "compiler/interpreter/Numerics.h"
#include "compiler/interpreter/NumericsElement.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace tilegym;
using namespace tilegym::interp;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

template <DType type>
auto apply(BinaryOp op, typename Element<type>::Storage a, typename Element<type>::Storage b) {
  typename Element<type>::Storage out{};
  REQUIRE(binary(op, type, {&a, 1}, {&b, 1}, &out, 1));
  return out;
}

template <DType type> auto apply(UnaryOp op, typename Element<type>::Storage a) {
  typename Element<type>::Storage out{};
  REQUIRE(unary(op, type, {&a, 1}, &out, 1));
  return out;
}

auto i32(BinaryOp op, int32_t a, int32_t b) { return apply<DType::I32>(op, a, b); }
auto f64(BinaryOp op, double a, double b) { return apply<DType::F64>(op, a, b); }

uint16_t half(double value) { return static_cast<uint16_t>(encodeNearest<DType::F16>(value)); }

} // namespace

TEST_CASE("signed // and % floor, by zero both give 0") {
  CHECK(i32(BinaryOp::FloorDiv, -7, 2) == -4);
  CHECK(i32(BinaryOp::Mod, -7, 2) == 1);
  CHECK(i32(BinaryOp::Mod, 7, -2) == -1);
  CHECK(i32(BinaryOp::FloorDiv, 7, 0) == 0);
  CHECK(i32(BinaryOp::Mod, 7, 0) == 0);
  CHECK(i32(BinaryOp::FloorDiv, INT32_MIN, -1) == INT32_MIN);
  CHECK(i32(BinaryOp::Mod, INT32_MIN, -1) == 0);
  CHECK(apply<DType::I8>(BinaryOp::FloorDiv, -128, -1) == -128);
  CHECK(apply<DType::Index>(BinaryOp::CDiv, 7, 2) == 4);
  CHECK(apply<DType::Index>(BinaryOp::CDiv, -7, 2) == -3);
  CHECK(apply<DType::U64>(BinaryOp::CDiv, UINT64_MAX, 2) == uint64_t(1) << 63);
}

TEST_CASE("integer overflow wraps") {
  CHECK(i32(BinaryOp::Add, INT32_MAX, 1) == INT32_MIN);
  CHECK(i32(BinaryOp::Mul, 65536, 65536) == 0);
  CHECK(apply<DType::U8>(BinaryOp::Sub, 1, 2) == 255);
  CHECK(apply<DType::U16>(BinaryOp::Mul, 65535, 65535) == 1);
  CHECK(apply<DType::I8>(UnaryOp::Abs, -128) == -128);
  CHECK(apply<DType::I64>(UnaryOp::Neg, INT64_MIN) == INT64_MIN);
  CHECK(i32(BinaryOp::Pow, 3, 5) == 243);
  CHECK(i32(BinaryOp::Pow, 2, 32) == 0);
  CHECK(i32(BinaryOp::Pow, 2, -1) == 0);
  CHECK(i32(BinaryOp::Pow, -1, -3) == -1);
}

TEST_CASE("shifts by the width or more move every bit out") {
  CHECK(i32(BinaryOp::Shl, 1, 31) == INT32_MIN);
  CHECK(i32(BinaryOp::Shl, 1, 32) == 0);
  CHECK(i32(BinaryOp::Shr, -8, 1) == -4);
  CHECK(i32(BinaryOp::Shr, -8, 40) == -1);
  CHECK(i32(BinaryOp::Shr, 8, -1) == 0);
  CHECK(apply<DType::U32>(BinaryOp::Shr, 0x80000000u, 31) == 1);
  CHECK(apply<DType::U8>(BinaryOp::Shl, 1, 8) == 0);
}

TEST_CASE("pow2ceil") {
  CHECK(apply<DType::Index>(UnaryOp::Pow2Ceil, 0) == 1);
  CHECK(apply<DType::Index>(UnaryOp::Pow2Ceil, 1000) == 1024);
  CHECK(apply<DType::Index>(UnaryOp::Pow2Ceil, 1024) == 1024);
  CHECK(apply<DType::I8>(UnaryOp::Pow2Ceil, 65) == 0);
  CHECK(apply<DType::U8>(UnaryOp::Pow2Ceil, 128) == 128);
}

TEST_CASE("max and min propagate NaN and order zeros, fmax and fmin ignore NaN") {
  CHECK(std::isnan(f64(BinaryOp::Max, notANumber, 1)));
  CHECK(std::isnan(f64(BinaryOp::Min, 1, notANumber)));
  CHECK(f64(BinaryOp::FMax, notANumber, 1) == 1);
  CHECK(f64(BinaryOp::FMin, 1, notANumber) == 1);
  CHECK(std::isnan(f64(BinaryOp::FMin, notANumber, notANumber)));
  for (BinaryOp op : {BinaryOp::Max, BinaryOp::FMax}) {
    CHECK(!std::signbit(f64(op, -0.0, 0.0)));
    CHECK(!std::signbit(f64(op, 0.0, -0.0)));
  }
  for (BinaryOp op : {BinaryOp::Min, BinaryOp::FMin}) {
    CHECK(std::signbit(f64(op, -0.0, 0.0)));
    CHECK(std::signbit(f64(op, 0.0, -0.0)));
  }
}

TEST_CASE("float // and % are Python's") {
  CHECK(f64(BinaryOp::Mod, -7, 3) == 2);
  CHECK(f64(BinaryOp::Mod, 7, -3) == -2);
  CHECK(std::signbit(f64(BinaryOp::Mod, 6, -3)));
  CHECK(f64(BinaryOp::Mod, -5, infinite) == infinite);
  CHECK(std::isnan(f64(BinaryOp::Mod, 1, 0)));
  CHECK(f64(BinaryOp::FloorDiv, -7, 2) == -4);
  CHECK(f64(BinaryOp::FloorDiv, 1, 0.1) == 9); // 0.1 is a little more than a tenth
  CHECK(f64(BinaryOp::FloorDiv, -5, infinite) == -1);
  CHECK(f64(BinaryOp::FloorDiv, 1, 0) == infinite);
  CHECK(std::isnan(f64(BinaryOp::FloorDiv, infinite, 2)));
}

TEST_CASE("f16 arithmetic rounds once") {
  CHECK(apply<DType::F16>(BinaryOp::Add, half(2048), half(1)) == half(2048));
  CHECK(apply<DType::F16>(BinaryOp::Add, half(2048), half(3)) == half(2052));
  CHECK(apply<DType::F16>(BinaryOp::Mul, half(256), half(256)) == 0x7c00);
  CHECK(apply<DType::F8E4M3>(BinaryOp::Mul, 0x7e, 0x7e) == 0x7e); // f8 results saturate
}

TEST_CASE("fma rounds once where f64 alone would round twice") {
  CHECK(fmaToOdd(0x1p-60, 1, 1) == 1 + 0x1p-52);
  CHECK(fmaToOdd(-0x1p-60, 1, 1) == 1 - 0x1p-53);
  CHECK(fmaToOdd(-0x1p-60, 1, -1) == -1 - 0x1p-52);
  CHECK(fmaToOdd(1, 1, 2) == 3);
  // bf16: 7 * 37 = 259 is a tie of 258 and 260, and 2^-100 less decides.
  uint16_t a = 0x40e0, b = 0x4214, c = 0x8d80, out = 0;
  REQUIRE(fma(DType::BF16, {&a, 1}, {&b, 1}, {&c, 1}, &out, 1));
  CHECK(out == 0x4381);
  float p = 0x1.000002p0f, q = 0x1.fffffep-1f, r = -1, s = 0;
  REQUIRE(fma(DType::F32, {&p, 1}, {&q, 1}, {&r, 1}, &s, 1));
  CHECK(s == 0x1p-24f - 0x1p-47f);
}

TEST_CASE("rounding functions") {
  CHECK(apply<DType::F32>(UnaryOp::Round, 2.5f) == 2);
  CHECK(apply<DType::F32>(UnaryOp::Round, 3.5f) == 4);
  CHECK(std::signbit(apply<DType::F32>(UnaryOp::Round, -0.3f)));
  CHECK(apply<DType::F32>(UnaryOp::Floor, -1.5f) == -2);
  CHECK(apply<DType::F32>(UnaryOp::Ceil, -1.5f) == -1);
  CHECK(apply<DType::F32>(UnaryOp::Trunc, -1.5f) == -1);
  CHECK(apply<DType::I32>(UnaryOp::Floor, -7) == -7);
}

TEST_CASE("bool has logic only") {
  CHECK(apply<DType::Bool>(BinaryOp::Xor, 1, 1) == 0);
  CHECK(apply<DType::Bool>(BinaryOp::Max, 0, 1) == 1);
  CHECK(apply<DType::Bool>(UnaryOp::Not, 0) == 1);
  uint8_t a = 1, out = 7;
  CHECK(!binary(BinaryOp::Add, DType::Bool, {&a, 1}, {&a, 1}, &out, 1));
  CHECK(out == 7);
  int32_t i = 1, j = 9;
  CHECK(!binary(BinaryOp::Div, DType::I32, {&i, 1}, {&i, 1}, &j, 1));
  CHECK(!unary(UnaryOp::Exp, DType::I32, {&i, 1}, &j, 1));
  CHECK(!fma(DType::I32, {&i, 1}, {&i, 1}, {&i, 1}, &j, 1));
  CHECK(j == 9);
}

TEST_CASE("comparison, isnan, select, findZero") {
  double a[] = {1, notANumber, -0.0}, b[] = {2, notANumber, 0.0};
  uint8_t out[3];
  compare(CompareOp::Ne, DType::F64, {a, 1}, {b, 1}, out, 3);
  CHECK((out[0] == 1 && out[1] == 1 && out[2] == 0));
  compare(CompareOp::Ge, DType::F64, {a, 1}, {b, 1}, out, 3);
  CHECK((out[0] == 0 && out[1] == 0 && out[2] == 1));
  isNan(DType::F64, {a, 1}, out, 3);
  CHECK((out[0] == 0 && out[1] == 1 && out[2] == 0));
  double chosen[3];
  select(DType::F64, {out, 1}, {b, 0}, {a, 1}, chosen, 3);
  CHECK((chosen[0] == 1 && chosen[1] == 2 && std::signbit(chosen[2])));
  CHECK(findZero(DType::F64, {a, 1}, 3) == 2);
  CHECK(findZero(DType::F64, {a, 1}, 2) == 2);
}
