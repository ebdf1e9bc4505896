// SPDX-License-Identifier: MIT
// The stated bounds of the transcendentals, judged by long double (64 significand bits): f64 within 2 ulp,
// f32 within 0.51.
#include "compiler/interpreter/Numerics.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace tilegym;
using namespace tilegym::interp;

namespace {

struct Judged {
  UnaryOp op;
  const char *name;
  long double (*exact)(long double);
  double lo, hi; ///< where inputs are drawn from
};

const Judged judged[] = {
    {UnaryOp::Exp, "exp", [](long double x) { return std::exp(x); }, -750, 720},
    {UnaryOp::Exp2, "exp2", [](long double x) { return std::exp2(x); }, -1080, 1030},
    {UnaryOp::Log, "log", [](long double x) { return std::log(x); }, 0, 100},
    {UnaryOp::Log2, "log2", [](long double x) { return std::log2(x); }, 0, 100},
    {UnaryOp::Sqrt, "sqrt", [](long double x) { return std::sqrt(x); }, 0, 1e6},
    {UnaryOp::Rsqrt, "rsqrt", [](long double x) { return 1 / std::sqrt(x); }, 0, 1e6},
    {UnaryOp::Sin, "sin", [](long double x) { return std::sin(x); }, -1e5, 1e5},
    {UnaryOp::Cos, "cos", [](long double x) { return std::cos(x); }, -1e5, 1e5},
    {UnaryOp::Tanh, "tanh", [](long double x) { return std::tanh(x); }, -20, 20},
    {UnaryOp::Erf, "erf", [](long double x) { return std::erf(x); }, -6, 6},
    {UnaryOp::Sigmoid, "sigmoid",
     [](long double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }, -740,
     100},
};

template <class T> double ulpError(T got, long double exact) {
  if (std::isnan(exact) || std::isinf(static_cast<T>(exact)))
    return (std::isnan(got) && std::isnan(exact)) || got == static_cast<T>(exact)
               ? 0
               : std::numeric_limits<double>::infinity();
  int exponent = exact == 0 ? std::numeric_limits<T>::min_exponent - 1 : std::ilogb(exact);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent - 1);
  return static_cast<double>(std::fabs(got - exact) /
                             std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits + 1));
}

/// Uniform in [lo, hi], a third of them drawn near 0 on a logarithmic scale.
template <class T> std::vector<T> inputs(const Judged &function) {
  std::vector<T> values = {0, T(-0.0), 1, -1};
  for (uint64_t i = 0; i < 20000; ++i) {
    double u = (philox(11, 2 * i) + 0.5) * 0x1p-32;
    double value = function.lo + (function.hi - function.lo) * u;
    values.push_back(static_cast<T>(i % 3 ? value : std::ldexp(value, -static_cast<int>(i % 30))));
  }
  return values;
}

template <class T> double worst(const Judged &function, DType type) {
  std::vector<T> in = inputs<T>(function), out(in.size());
  REQUIRE(unary(function.op, type, {in.data(), 1}, out.data(), in.size()));
  double most = 0;
  for (size_t i = 0; i < in.size(); ++i)
    most = std::max(most, ulpError<T>(out[i], function.exact(in[i])));
  return most;
}

} // namespace

TEST_CASE("transcendentals stay within their bounds") {
  if (std::numeric_limits<long double>::digits < 64) {
    WARN("skipped: long double is no wider than double here");
    return;
  }
  for (const Judged &function : judged) {
    INFO(function.name);
    CHECK(worst<double>(function, DType::F64) <= 2);
    CHECK(worst<float>(function, DType::F32) <= 0.51);
  }
}

TEST_CASE("pow within its bound") {
  std::vector<double> a, b, out(5000);
  std::vector<float> c, d, narrow(5000);
  for (uint64_t i = 0; i < out.size(); ++i) {
    a.push_back(philox(5, i) * 0x1p-30);
    b.push_back((philox(6, i) * 0x1p-32 - 0.5) * 40);
    c.push_back(static_cast<float>(a.back()));
    d.push_back(static_cast<float>(b.back()));
  }
  REQUIRE(binary(BinaryOp::Pow, DType::F64, {a.data(), 1}, {b.data(), 1}, out.data(), out.size()));
  REQUIRE(binary(BinaryOp::Pow, DType::F32, {c.data(), 1}, {d.data(), 1}, narrow.data(), narrow.size()));
  double wide = 0, single = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    wide = std::max(wide, ulpError<double>(out[i], std::pow(static_cast<long double>(a[i]), b[i])));
    single = std::max(single, ulpError<float>(narrow[i], std::pow(static_cast<long double>(c[i]), d[i])));
  }
  CHECK(wide <= 2);
  CHECK(single <= 0.51);
}

TEST_CASE("special values of the functions") {
  auto at = [](UnaryOp op, float x) {
    float out = 0;
    REQUIRE(unary(op, DType::F32, {&x, 1}, &out, 1));
    return out;
  };
  constexpr float inf = std::numeric_limits<float>::infinity();
  CHECK(at(UnaryOp::Exp, -inf) == 0);
  CHECK(at(UnaryOp::Exp, 89) == inf);
  CHECK(at(UnaryOp::Exp, -100) == 3.7835e-44f); // a subnormal is kept
  CHECK(at(UnaryOp::Log, 0) == -inf);
  CHECK(std::isnan(at(UnaryOp::Log, -1)));
  CHECK(std::isnan(at(UnaryOp::Sqrt, -1)));
  CHECK(std::signbit(at(UnaryOp::Sqrt, -0.0f)));
  CHECK(at(UnaryOp::Rsqrt, 0) == inf);
  CHECK(at(UnaryOp::Rsqrt, -0.0f) == -inf);
  CHECK(at(UnaryOp::Tanh, inf) == 1);
  CHECK(at(UnaryOp::Erf, -inf) == -1);
  CHECK(at(UnaryOp::Sigmoid, -inf) == 0);
  CHECK(at(UnaryOp::Sigmoid, 0) == 0.5f);
}
