// SPDX-License-Identifier: MIT
// Every elementwise operation with literal values; broadcasting; what the sanitizer says of integers.
#include "tests/unit/interpreter/Tree.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace tilegym;
using namespace tilegym::interp;
using namespace tilegym::interp::test;
using sem::Op;

namespace {
constexpr DType F32 = DType::F32, I32 = DType::I32, U8 = DType::U8, I8 = DType::I8, B = DType::Bool,
                X = DType::Index;

std::vector<double> f32(Op op, std::vector<double> a) {
  return doubles(apply(op, {tile(F32, Shape{int64_t(a.size())}, a)}));
}
std::vector<double> f32(Op op, std::vector<double> a, std::vector<double> b) {
  const Shape shape{int64_t(a.size())};
  return doubles(apply(op, {tile(F32, shape, a), tile(F32, shape, b)}));
}
std::vector<int64_t> i32(Op op, std::vector<int64_t> a, std::vector<int64_t> b, DType dtype = I32) {
  const Shape shape{int64_t(a.size())};
  return integers(apply(op, {ints(dtype, shape, a), ints(dtype, shape, b)}));
}
using D = std::vector<double>;
using N = std::vector<int64_t>;
} // namespace

TEST_CASE("unary operations of floats") {
  CHECK(f32(Op::Neg, {1, -2, Inf}) == D{-1, 2, -Inf});
  CHECK(std::signbit(f32(Op::Neg, {0})[0]));
  CHECK(f32(Op::Abs, {-1.5, 2, -Inf}) == D{1.5, 2, Inf});
  CHECK(f32(Op::Exp, {0, -Inf, Inf}) == D{1, 0, Inf});
  CHECK(f32(Op::Exp, {1})[0] == double(float(2.718281828459045)));
  CHECK(f32(Op::Exp2, {3, -1, -Inf}) == D{8, 0.5, 0});
  CHECK(f32(Op::Log, {1, 0}) == D{0, -Inf});
  CHECK(std::isnan(f32(Op::Log, {-1})[0]));
  CHECK(f32(Op::Log2, {8, 0.25}) == D{3, -2});
  CHECK(f32(Op::Sqrt, {4, 2}) == D{2, double(std::sqrt(2.0f))});
  CHECK(f32(Op::Rsqrt, {4, 0}) == D{0.5, Inf});
  CHECK(f32(Op::Sin, {0})[0] == 0);
  CHECK(f32(Op::Cos, {0})[0] == 1);
  CHECK(f32(Op::Tanh, {0, Inf, -Inf}) == D{0, 1, -1});
  CHECK(f32(Op::Erf, {0, Inf, -Inf}) == D{0, 1, -1});
  CHECK(f32(Op::Sigmoid, {0, Inf, -Inf}) == D{0.5, 1, 0});
  CHECK(f32(Op::Floor, {1.5, -1.5}) == D{1, -2});
  CHECK(f32(Op::Ceil, {1.5, -1.5}) == D{2, -1});
  CHECK(f32(Op::Round, {0.5, 1.5, 2.5, -0.5}) == D{0, 2, 2, -0.0});
  CHECK(f32(Op::Trunc, {1.7, -1.7}) == D{1, -1});
  CHECK(integers(apply(Op::IsNan, {tile(F32, Shape{3}, {NaN, 0, Inf})})) == N{1, 0, 0});
}

TEST_CASE("unary operations of integers and bools") {
  CHECK(integers(apply(Op::Neg, {ints(I8, Shape{3}, {1, -128, 0})})) == N{-1, -128, 0});
  CHECK(integers(apply(Op::Abs, {ints(I8, Shape{2}, {-5, -128})})) == N{5, -128});
  CHECK(integers(apply(Op::BitNot, {ints(U8, Shape{2}, {0, 0x0f})})) == N{255, 0xf0});
  CHECK(integers(apply(Op::Not, {ints(B, Shape{2}, {1, 0})})) == N{0, 1});
  CHECK(integers(apply(Op::Pow2Ceil, {ints(X, Shape{6}, {-3, 0, 1, 3, 4, 5})})) == N{1, 1, 1, 4, 4, 8});
}

TEST_CASE("binary operations of floats") {
  CHECK(f32(Op::Add, {1, Inf}, {2, 1}) == D{3, Inf});
  CHECK(std::isnan(f32(Op::Sub, {Inf}, {Inf})[0]));
  CHECK(f32(Op::Mul, {3, -0.5}, {2, 4}) == D{6, -2});
  CHECK(f32(Op::Div, {1, 1, -1}, {4, 0, 0}) == D{0.25, Inf, -Inf});
  CHECK(f32(Op::FloorDiv, {7, -7}, {2, 2}) == D{3, -4});
  CHECK(f32(Op::Mod, {7, -7, 7}, {2, 2, -2}) == D{1, 1, -1});
  CHECK(f32(Op::Pow, {2, 4}, {10, 0.5}) == D{1024, 2});
  CHECK(f32(Op::Min, {1, -0.0}, {2, 0}) == D{1, 0});
  CHECK(std::signbit(f32(Op::Min, {0}, {-0.0})[0]));
  CHECK_FALSE(std::signbit(f32(Op::Max, {-0.0}, {0})[0]));
  CHECK(std::isnan(f32(Op::Max, {NaN}, {1})[0]));
  CHECK(std::isnan(f32(Op::Min, {1}, {NaN})[0]));
  CHECK(f32(Op::FMax, {NaN, 1}, {1, NaN}) == D{1, 1});
  CHECK(f32(Op::FMin, {NaN, 3}, {2, NaN}) == D{2, 3});
}

TEST_CASE("f32 sums are rounded in f32 and subnormals stay") {
  CHECK(f32(Op::Add, {16777216}, {1}) == D{16777216});
  CHECK(f32(Op::Mul, {1e-30}, {1e-10})[0] == double(1e-30f * 1e-10f));
  CHECK(f32(Op::Mul, {1e-30}, {1e-10})[0] != 0);
}

TEST_CASE("narrow floats are rounded after each operation") {
  CHECK(doubles(apply(Op::Add, {tile(DType::F16, Shape{1}, {2048}), tile(DType::F16, Shape{1}, {1})})) ==
        D{2048});
  CHECK(doubles(apply(Op::Mul, {tile(DType::F16, Shape{1}, {60000}), tile(DType::F16, Shape{1}, {2})})) ==
        D{Inf});
  CHECK(doubles(apply(Op::Add, {tile(DType::BF16, Shape{1}, {256}), tile(DType::BF16, Shape{1}, {1})})) ==
        D{256});
  CHECK(doubles(apply(Op::Mul, {tile(DType::F8E4M3, Shape{1}, {448}), tile(DType::F8E4M3, Shape{1}, {2})})) ==
        D{448});
  CHECK(doubles(apply(Op::Add, {tile(DType::F8E5M2, Shape{1}, {8}), tile(DType::F8E5M2, Shape{1}, {1})})) ==
        D{8});
}

TEST_CASE("binary operations of integers") {
  CHECK(i32(Op::Add, {2147483647}, {1}) == N{-2147483648});
  CHECK(i32(Op::Add, {255}, {2}, U8) == N{1});
  CHECK(i32(Op::Sub, {0}, {1}, U8) == N{255});
  CHECK(i32(Op::Mul, {100}, {3}, I8) == N{44});
  CHECK(i32(Op::FloorDiv, {7, -7, 7, -7}, {2, 2, -2, -2}) == N{3, -4, -4, 3});
  CHECK(i32(Op::Mod, {7, -7, 7, -7}, {2, 2, -2, -2}) == N{1, 1, -1, -1});
  CHECK(i32(Op::CDiv, {7, 8, -7}, {4, 4, 4}) == N{2, 2, -1});
  CHECK(i32(Op::Pow, {3, 2}, {4, 31}) == N{81, -2147483648});
  CHECK(i32(Op::And, {12}, {10}) == N{8});
  CHECK(i32(Op::Or, {12}, {10}) == N{14});
  CHECK(i32(Op::Xor, {12}, {10}) == N{6});
  CHECK(i32(Op::Shl, {1, 1}, {4, 32}) == N{16, 0});
  CHECK(i32(Op::Shr, {-8, -8, 8}, {1, 40, 40}) == N{-4, -1, 0});
  CHECK(i32(Op::Shr, {200}, {1}, U8) == N{100});
  CHECK(i32(Op::Min, {3, -1}, {2, 5}) == N{2, -1});
  CHECK(i32(Op::Max, {255}, {1}, U8) == N{255});
  CHECK(i32(Op::And, {1, 1}, {1, 0}, B) == N{1, 0});
  CHECK(i32(Op::Xor, {1, 1}, {1, 0}, B) == N{0, 1});
  CHECK(integers(apply(Op::Max, {ints(DType::U64, Shape{1}, {-1}), ints(DType::U64, Shape{1}, {1})})) ==
        N{-1});
}

TEST_CASE("comparisons give bools, NaN is unequal to all") {
  auto compare = [](Op op, D a, D b) {
    const Shape shape{int64_t(a.size())};
    return integers(apply(op, {tile(F32, shape, a), tile(F32, shape, b)}, tileType(B, {int64_t(a.size())})));
  };
  CHECK(compare(Op::Eq, {1, NaN, 0}, {1, NaN, -0.0}) == N{1, 0, 1});
  CHECK(compare(Op::Ne, {1, NaN}, {1, NaN}) == N{0, 1});
  CHECK(compare(Op::Lt, {1, NaN}, {2, 1}) == N{1, 0});
  CHECK(compare(Op::Le, {2, 3}, {2, 2}) == N{1, 0});
  CHECK(compare(Op::Gt, {Inf, 2}, {1, 2}) == N{1, 0});
  CHECK(compare(Op::Ge, {2, 1}, {2, 2}) == N{1, 0});
}

TEST_CASE("fma is rounded once") {
  // (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24, which a rounded product loses.
  const double a = 1 + std::ldexp(1, -12), c = -(1 + std::ldexp(1, -11));
  CHECK(doubles(apply(Op::Fma, {scalar(F32, a), scalar(F32, a), scalar(F32, c)})) == D{std::ldexp(1, -24)});
}

TEST_CASE("select takes bits and broadcasts") {
  Value picked =
      apply(Op::Select, {ints(B, Shape{2, 1}, {1, 0}), tile(F32, Shape{2}, {NaN, 2}), scalar(F32, 7)},
            tileType(F32, {2, 2}));
  D got = doubles(picked);
  CHECK(std::isnan(got[0]));
  CHECK(D(got.begin() + 1, got.end()) == D{2, 7, 7});
}

TEST_CASE("operands broadcast as in NumPy") {
  Value sum = apply(Op::Add, {tile(F32, Shape{2, 1, 2}, {1, 2, 3, 4}), tile(F32, Shape{3, 1}, {10, 20, 30})});
  CHECK(extents(sum.shape) == N{2, 3, 2});
  CHECK(doubles(sum) == D{11, 12, 21, 22, 31, 32, 13, 14, 23, 24, 33, 34});
  Fault fault =
      faultOf([] { apply(Op::Add, {tile(F32, Shape{2}, {1, 2}), tile(F32, Shape{3}, {1, 2, 3})}); });
  CHECK(fault.kind == Fault::Arguments);
  CHECK(fault.message == "shapes [2] and [3] do not broadcast");
}

TEST_CASE("a scalar integer division by zero is a fault, in a tile it gives 0") {
  Fault fault = faultOf([] { apply(Op::FloorDiv, {ints(X, Shape{}, {1}), ints(X, Shape{}, {0})}); });
  CHECK(fault.kind == Fault::DivisionByZero);
  CHECK(i32(Op::FloorDiv, {5}, {0}) == N{0});
}

TEST_CASE("index arithmetic that leaves 64 bits is a fault") {
  const int64_t most = std::numeric_limits<int64_t>::max();
  for (Op op : {Op::Add, Op::Mul}) {
    Fault fault = faultOf([&] { apply(op, {ints(X, Shape{2}, {most, 0}), ints(X, Shape{2}, {2, 2})}); });
    CHECK(fault.kind == Fault::IndexRange);
    CHECK(fault.message == "index arithmetic does not fit 64 bits");
  }
  CHECK(integers(apply(Op::Sub, {ints(X, Shape{}, {most}), ints(X, Shape{}, {1})})) == N{most - 1});
}

TEST_CASE("conversions") {
  auto to = [](Value from, DType dtype, Edit edit = {}) {
    return apply(Op::Convert, {from}, tileType(dtype), edit);
  };
  CHECK(integers(to(tile(F32, Shape{5}, {1.9, -1.9, NaN, Inf, -Inf}), I32)) ==
        N{1, -1, 0, 2147483647, -2147483648});
  CHECK(integers(to(tile(F32, Shape{2}, {-3, 300}), U8)) == N{0, 255});
  CHECK(integers(to(ints(I32, Shape{1}, {300}), U8)) == N{44});
  CHECK(doubles(to(tile(F32, Shape{2}, {1e6, Inf}), DType::F8E4M3)) == D{448, 448});
  CHECK(std::isnan(
      doubles(to(tile(F32, Shape{1}, {1e6}), DType::F8E4M3, [](sem::Expr &e) { e.saturate = false; }))[0]));
  CHECK(doubles(to(tile(F32, Shape{1}, {1e6}), DType::F16)) == D{Inf});
  CHECK(doubles(to(tile(F32, Shape{1}, {2049}), DType::F16)) == D{2048});
  CHECK(doubles(to(tile(F32, Shape{1}, {2049}), DType::F16,
                   [](sem::Expr &e) { e.rounding = sem::Rounding::Up; })) == D{2050});
  CHECK(integers(to(tile(F32, Shape{1}, {1.5}), I32, [](sem::Expr &e) { e.rounding = sem::Rounding::Up; })) ==
        N{2});
  CHECK(integers(to(ints(DType::U64, Shape{1}, {-1}), DType::I64)) == N{-1});
  CHECK(doubles(to(ints(DType::U64, Shape{1}, {-1}), DType::F64)) == D{18446744073709551616.0});
}

TEST_CASE("an index that met a dtype must fit it") {
  auto meet = [](int64_t value, DType dtype, bool exact) {
    return apply(Op::Convert, {ints(X, Shape{2}, {0, value})}, tileType(dtype),
                 [&](sem::Expr &e) { e.exact = exact; });
  };
  CHECK(integers(meet(127, I8, true)) == N{0, 127});
  Fault fault = faultOf([&] { meet(128, I8, true); });
  CHECK(fault.kind == Fault::IndexRange);
  CHECK(fault.message == "128 does not fit i8");
  CHECK(faultOf([&] { meet(-1, DType::U64, true); }).kind == Fault::IndexRange);
  CHECK(integers(meet(128, I8, false)) == N{0, -128});
}

TEST_CASE("bitcast keeps bits and rescales the last axis") {
  CHECK(integers(apply(Op::Bitcast, {tile(F32, Shape{1}, {1})}, tileType(DType::U32))) == N{0x3f800000});
  Value bytes = apply(Op::Bitcast, {ints(DType::U32, Shape{1, 2}, {0x04030201, 0x08070605})}, tileType(U8));
  CHECK(extents(bytes.shape) == N{1, 8});
  CHECK(integers(bytes) == N{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(extents(apply(Op::Bitcast, {bytes}, tileType(DType::U64)).shape) == N{1, 1});
}
