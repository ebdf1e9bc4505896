// SPDX-License-Identifier: MIT
// The evaluator of packages' expressions by hand; tests/unit/emit holds it against the language's own where the compiler is.
#include "tests/unit/runtime/Calls.h"
#include <bit>
#include <cmath>

using namespace tilegym::testing;
using tilegym::runtime::evaluate;
using tilegym::runtime::Evaluated;
using tilegym::runtime::Values;

namespace {

std::string integer(OpCode code, std::initializer_list<int64_t> operands) {
  Code text;
  for (int64_t operand : operands)
    text.push_back(number(operand));
  text.push_back(inst(code));
  Evaluated e = evaluate(text, Values{});
  return e.error ? e.error : std::to_string(e.value.i);
}

Inst real(double value) { return inst(OpCode::PushFloat, 0, std::bit_cast<int64_t>(value)); }
double realOf(OpCode code, double a, double b) {
  return evaluate(Code{real(a), real(b), inst(code)}, Values{}).value.f;
}

} // namespace

TEST_CASE("integers: floors, ceilings, powers and shifts") {
  CHECK(integer(OpCode::FloorDivI, {-7, 2}) == "-4");
  CHECK(integer(OpCode::ModI, {-7, 2}) == "1");
  CHECK(integer(OpCode::ModI, {7, -2}) == "-1");
  CHECK(integer(OpCode::ModI, {INT64_MIN, -1}) == "0");
  CHECK(integer(OpCode::CDivI, {7, 2}) == "4");
  CHECK(integer(OpCode::CDivI, {-7, 2}) == "-3");
  CHECK(integer(OpCode::PowI, {-3, 3}) == "-27");
  CHECK(integer(OpCode::PowI, {-1, INT64_MAX}) == "-1");
  CHECK(integer(OpCode::PowI, {0, 0}) == "1");
  CHECK(integer(OpCode::Pow2CeilI, {65}) == "128");
  CHECK(integer(OpCode::Pow2CeilI, {-5}) == "1");
  CHECK(integer(OpCode::ShlI, {3, 4}) == "48");
  CHECK(integer(OpCode::ShrI, {-8, 70}) == "-1");
  CHECK(integer(OpCode::BitNotI, {5}) == "-6");
  CHECK(integer(OpCode::XorI, {6, 3}) == "5");
  CHECK(integer(OpCode::NotB, {0}) == "1");
  CHECK(integer(OpCode::Select, {0, 5, 6}) == "6");
  CHECK(integer(OpCode::AbsI, {-6}) == "6");
}

TEST_CASE("integers: what has no value") {
  const std::string overflow = "an integer does not fit in 64 bits";
  CHECK(integer(OpCode::FloorDivI, {1, 0}) == "division by zero");
  CHECK(integer(OpCode::ModI, {1, 0}) == "division by zero");
  CHECK(integer(OpCode::CDivI, {1, 0}) == "division by zero");
  CHECK(integer(OpCode::FloorDivI, {INT64_MIN, -1}) == overflow);
  CHECK(integer(OpCode::AddI, {INT64_MAX, 1}) == overflow);
  CHECK(integer(OpCode::SubI, {INT64_MIN, 1}) == overflow);
  CHECK(integer(OpCode::MulI, {INT64_MAX, 2}) == overflow);
  CHECK(integer(OpCode::NegI, {INT64_MIN}) == overflow);
  CHECK(integer(OpCode::AbsI, {INT64_MIN}) == overflow);
  CHECK(integer(OpCode::PowI, {10, 19}) == overflow);
  CHECK(integer(OpCode::Pow2CeilI, {INT64_MAX}) == overflow);
  CHECK(integer(OpCode::ShlI, {1, 63}) == overflow);
  CHECK(integer(OpCode::ShlI, {1, -1}) == "a shift by a negative number");
  CHECK(integer(OpCode::PowI, {2, -1}) == "a negative power of an integer");
}

TEST_CASE("floats: NaN, zeros and conversions") {
  CHECK(std::isnan(realOf(OpCode::MinF, NAN, 1)));
  CHECK(std::isnan(realOf(OpCode::MaxF, 1, NAN)));
  CHECK(std::signbit(realOf(OpCode::MinF, 0.0, -0.0)));
  CHECK_FALSE(std::signbit(realOf(OpCode::MaxF, -0.0, 0.0)));
  CHECK(realOf(OpCode::DivF, 1, 0) == INFINITY);
  auto toInt = [](double value) {
    return evaluate(Code{real(value), inst(OpCode::FloatToInt)}, Values{}).value.i;
  };
  CHECK(toInt(-2.9) == -2);
  CHECK(toInt(NAN) == 0);
  CHECK(toInt(1e300) == INT64_MAX);
  CHECK(toInt(-INFINITY) == INT64_MIN);
  CHECK(evaluate(Code{real(NAN), real(NAN), inst(OpCode::NeF)}, Values{}).value.i == 1);
}

TEST_CASE("what expressions name") {
  int64_t dims[] = {4, 9}, params[] = {128}, ranks[] = {3, 0};
  tilegym::runtime::Cell scalars[1];
  scalars[0].f = 2.5;
  uint8_t dtypes[] = {BF16};
  Values values{dims, scalars, 2, params, ranks, dtypes, 132};
  auto of = [&](OpCode code, uint32_t a) { return evaluate(Code{inst(code, a)}, values).value; };
  CHECK(of(OpCode::PushDim, 1).i == 9);
  CHECK(of(OpCode::PushScalarFloat, 0).f == 2.5);
  CHECK(of(OpCode::PushPresent, 1).i == 1);
  CHECK(of(OpCode::PushPresent, 0).i == 0);
  CHECK(of(OpCode::PushParam, 0).i == 128);
  CHECK(of(OpCode::PushSmCount, 0).i == 132);
  CHECK(of(OpCode::PushRank, 0).i == 3);
  CHECK(of(OpCode::PushSizeOf, 0).i == 2);
  CHECK(of(OpCode::PushDType, 0).i == BF16);
  CHECK(evaluate(Code{}, values).value.i == 0);
}
