// SPDX-License-Identifier: MIT
// Constants computed with the language's semantics: each line is a case where C++ alone would do something else.
#include "compiler/semantics/ConstFold.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace tilegym;
using namespace tilegym::sem;

namespace {

constexpr int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
const double inf = std::numeric_limits<double>::infinity(),
             notANumber = std::numeric_limits<double>::quiet_NaN();

int64_t intOf(Op op, DType type, int64_t a, int64_t b) {
  Folded folded = foldBinary(op, type, Constant{a}, Constant{b});
  INFO(folded.error);
  REQUIRE(folded);
  return folded.value->asInt();
}
std::string errorOf(Op op, DType type, int64_t a, int64_t b) {
  return foldBinary(op, type, Constant{a}, Constant{b}).error;
}
double floatOf(Op op, DType type, double a, double b) {
  return foldBinary(op, type, Constant{a}, Constant{b}).value->asFloat();
}
int64_t unaryInt(Op op, DType type, int64_t x) { return foldUnary(op, type, Constant{x}).value->asInt(); }

} // namespace

TEST_CASE("division and remainder floor") {
  CHECK(intOf(Op::FloorDiv, DType::I32, -7, 2) == -4);
  CHECK(intOf(Op::FloorDiv, DType::I32, 7, -2) == -4);
  CHECK(intOf(Op::FloorDiv, DType::I32, -8, 2) == -4);
  CHECK(intOf(Op::Mod, DType::I32, -7, 2) == 1);
  CHECK(intOf(Op::Mod, DType::I32, 7, -2) == -1);
  CHECK(intOf(Op::Mod, DType::Index, -6, 3) == 0);
  CHECK(intOf(Op::CDiv, DType::Index, 7, 2) == 4);
  CHECK(intOf(Op::CDiv, DType::Index, -7, 2) == -3);
  CHECK(intOf(Op::CDiv, DType::Index, 7, -2) == -3);
  CHECK(intOf(Op::CDiv, DType::Index, 0, 5) == 0);
  CHECK(intOf(Op::FloorDiv, DType::U64, -1, 2) == most);
  CHECK(errorOf(Op::Mod, DType::I32, 1, 0) == "division by zero");
  CHECK(errorOf(Op::CDiv, DType::Index, 1, 0) == "division by zero");
}

TEST_CASE("fixed-width integers wrap and index does not") {
  CHECK(intOf(Op::Add, DType::I8, 127, 1) == -128);
  CHECK(intOf(Op::Sub, DType::U8, 0, 1) == 255);
  CHECK(intOf(Op::Mul, DType::I32, 1 << 20, 1 << 20) == 0);
  CHECK(intOf(Op::Add, DType::I64, most, 1) == least);
  CHECK(intOf(Op::Mul, DType::U64, -1, -1) == 1);
  CHECK(intOf(Op::FloorDiv, DType::I32, std::numeric_limits<int32_t>::min(), -1) ==
        std::numeric_limits<int32_t>::min());
  CHECK(errorOf(Op::Add, DType::Index, most, 1) == "the result does not fit in 64 bits");
  CHECK(errorOf(Op::Mul, DType::Index, most, 2) == "the result does not fit in 64 bits");
  CHECK(errorOf(Op::FloorDiv, DType::Index, least, -1) == "the result does not fit in 64 bits");
  CHECK(foldUnary(Op::Neg, DType::Index, Constant{least}).error == "the result does not fit in 64 bits");
  CHECK(unaryInt(Op::Neg, DType::I8, -128) == -128);
  CHECK(unaryInt(Op::Abs, DType::I16, -32768) == -32768);
  CHECK(unaryInt(Op::BitNot, DType::U16, 0) == 65535);
}

TEST_CASE("powers and shifts of integers") {
  CHECK(intOf(Op::Pow, DType::Index, -3, 3) == -27);
  CHECK(intOf(Op::Pow, DType::Index, 2, 62) == int64_t(1) << 62);
  CHECK(intOf(Op::Pow, DType::I8, 3, 5) == -13);
  CHECK(intOf(Op::Pow, DType::Index, 0, 0) == 1);
  CHECK(errorOf(Op::Pow, DType::Index, 2, 63) == "the result does not fit in 64 bits");
  CHECK(errorOf(Op::Pow, DType::Index, 2, -1) == "negative exponent of an integer power");
  CHECK(intOf(Op::Pow, DType::I32, 2, -1) == 0);
  CHECK(intOf(Op::Pow, DType::I32, -1, -3) == -1);
  CHECK(intOf(Op::Shl, DType::I32, 1, 31) == std::numeric_limits<int32_t>::min());
  CHECK(intOf(Op::Shl, DType::I32, 1, 32) == 0);
  CHECK(intOf(Op::Shr, DType::I32, -5, 1) == -3);
  CHECK(intOf(Op::Shr, DType::I32, -5, 40) == -1);
  CHECK(intOf(Op::Shr, DType::U64, -1, 63) == 1);
  CHECK(errorOf(Op::Shl, DType::Index, 1, 64) == "the result does not fit in 64 bits");
  CHECK(errorOf(Op::Shl, DType::Index, 1, -1) == "negative shift");
  CHECK(intOf(Op::Shl, DType::I32, 1, -1) == 0);
  CHECK(intOf(Op::Shr, DType::I32, -9, -1) == -1);
}

TEST_CASE("pow2ceil") {
  CHECK(unaryInt(Op::Pow2Ceil, DType::Index, -5) == 1);
  CHECK(unaryInt(Op::Pow2Ceil, DType::Index, 0) == 1);
  CHECK(unaryInt(Op::Pow2Ceil, DType::Index, 1) == 1);
  CHECK(unaryInt(Op::Pow2Ceil, DType::Index, 129) == 256);
  CHECK(unaryInt(Op::Pow2Ceil, DType::Index, 4096) == 4096);
  CHECK(unaryInt(Op::Pow2Ceil, DType::I32, (1 << 30) + 1) == 0);
  CHECK(unaryInt(Op::Pow2Ceil, DType::U8, 129) == 0);
  CHECK(uint64_t(unaryInt(Op::Pow2Ceil, DType::U64, most)) == uint64_t(1) << 63);
  CHECK(foldUnary(Op::Pow2Ceil, DType::Index, Constant{most}).error == "the result does not fit in 64 bits");
}

TEST_CASE("unsigned order and bools") {
  CHECK(foldBinary(Op::Lt, DType::U64, Constant{int64_t(1)}, Constant{int64_t(-1)}).value->asBool());
  CHECK_FALSE(foldBinary(Op::Lt, DType::I64, Constant{int64_t(1)}, Constant{int64_t(-1)}).value->asBool());
  CHECK(intOf(Op::Max, DType::U64, 1, -1) == -1);
  CHECK(foldBinary(Op::Xor, DType::Bool, Constant{true}, Constant{true}).value == Constant{false});
  CHECK(foldBinary(Op::Add, DType::Bool, Constant{true}, Constant{true}).error == "not an operation of bool");
}

TEST_CASE("minimum and maximum of floats") {
  CHECK(std::isnan(floatOf(Op::Max, DType::F32, notANumber, 1)));
  CHECK(std::isnan(floatOf(Op::Min, DType::F32, 1, notANumber)));
  CHECK(floatOf(Op::FMax, DType::F32, notANumber, 1) == 1);
  CHECK(floatOf(Op::FMin, DType::F32, 1, notANumber) == 1);
  CHECK_FALSE(std::signbit(floatOf(Op::Max, DType::F32, -0.0, 0.0)));
  CHECK_FALSE(std::signbit(floatOf(Op::Max, DType::F32, 0.0, -0.0)));
  CHECK(std::signbit(floatOf(Op::Min, DType::F32, 0.0, -0.0)));
  CHECK(floatOf(Op::Min, DType::F32, -inf, 3) == -inf);
}

TEST_CASE("floats round once to their dtype") {
  CHECK(floatOf(Op::Add, DType::F32, 16777216, 1) == 16777216);
  CHECK(floatOf(Op::Add, DType::F16, 2048, 1) == 2048);
  CHECK(floatOf(Op::Add, DType::F16, 2050, 1) == 2052);
  CHECK(floatOf(Op::Mul, DType::F16, 65504, 2) == inf);
  CHECK(floatOf(Op::Add, DType::BF16, 256, 1) == 256);
  CHECK(roundToDType(1e-8, DType::F16) == 0);
  CHECK(roundToDType(5.9604644775390625e-8, DType::F16) == 5.9604644775390625e-8);
  CHECK(roundToDType(500, DType::F8E4M3) == 448);
  CHECK(roundToDType(1e9, DType::F8E5M2) == 57344);
  CHECK(roundToDType(inf, DType::F8E4M3) == 448);
  CHECK(roundToDType(-inf, DType::F16) == -inf);
  CHECK(std::isnan(roundToDType(notANumber, DType::F8E4M3)));
  CHECK(overflowsDType(65520, DType::F16));
  CHECK_FALSE(overflowsDType(65519, DType::F16));
  CHECK(overflowsDType(500, DType::F8E4M3));
  CHECK_FALSE(overflowsDType(3.4028235e38, DType::F32));
}

TEST_CASE("conversions") {
  auto convert = [](DType from, DType to, Constant x) { return *foldConvert(from, to, x).value; };
  CHECK(convert(DType::F32, DType::I32, Constant{-2.9}).asInt() == -2);
  CHECK(convert(DType::F32, DType::I8, Constant{300.0}).asInt() == 127);
  CHECK(convert(DType::F32, DType::U8, Constant{-1.0}).asInt() == 0);
  CHECK(convert(DType::F32, DType::I32, Constant{notANumber}).asInt() == 0);
  CHECK(convert(DType::F64, DType::I64, Constant{1e30}).asInt() == most);
  CHECK(uint64_t(convert(DType::F64, DType::U64, Constant{inf}).asInt()) ==
        std::numeric_limits<uint64_t>::max());
  CHECK(convert(DType::I32, DType::I8, Constant{int64_t(200)}).asInt() == -56);
  CHECK(convert(DType::U64, DType::F64, Constant{int64_t(-1)}).asFloat() == 18446744073709551616.0);
  // Through f64 this would round twice, to 2^61.
  CHECK(convert(DType::I64, DType::F32, Constant{(int64_t(1) << 61) + (int64_t(1) << 37) + 1}).asFloat() ==
        std::ldexp(1.0, 61) + std::ldexp(1.0, 38));
  CHECK(convert(DType::F32, DType::Bool, Constant{notANumber}).asBool());
}

TEST_CASE("constants as text") {
  CHECK(toString(Constant{true}) == "true");
  CHECK(toString(Constant{int64_t(-3)}) == "-3");
  CHECK(toString(Constant{int64_t(-1)}, DType::U64) == "18446744073709551615");
  CHECK(toString(Constant{0.1}) == "0.1");
  CHECK(toString(Constant{2.0}) == "2.0");
  CHECK(toString(Constant{-inf}) == "-inf");
  CHECK(toString(Constant{notANumber}) == "nan");
}
