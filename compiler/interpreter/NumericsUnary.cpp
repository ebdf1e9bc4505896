// SPDX-License-Identifier: MIT
// Operations on one operand.
#include "compiler/interpreter/NumericsLoops.h"
#include "compiler/interpreter/NumericsOps.h"
#include "compiler/interpreter/NumericsScalar.h"

#include <cstring>

namespace tilegym::interp {
namespace {

using detail::apply;
using detail::applyDouble;

template <DType type> bool floatUnary(UnaryOp op, Source a, void *out, size_t n) {
  // std::nearbyint rounds half to even: the process keeps the default mode.
  switch (op) {
  case UnaryOp::Neg:
    return apply<type>(out, n, [](auto x) { return -x; }, a);
  case UnaryOp::Abs:
    return apply<type>(out, n, [](auto x) { return std::fabs(x); }, a);
  case UnaryOp::Sqrt:
    return apply<type>(out, n, [](auto x) { return std::sqrt(x); }, a);
  case UnaryOp::Floor:
    return apply<type>(out, n, [](auto x) { return std::floor(x); }, a);
  case UnaryOp::Ceil:
    return apply<type>(out, n, [](auto x) { return std::ceil(x); }, a);
  case UnaryOp::Round:
    return apply<type>(out, n, [](auto x) { return std::nearbyint(x); }, a);
  case UnaryOp::Trunc:
    return apply<type>(out, n, [](auto x) { return std::trunc(x); }, a);
  case UnaryOp::Rsqrt:
    return applyDouble<type>(out, n, [](double x) { return 1 / std::sqrt(x); }, a);
  case UnaryOp::Exp:
    return applyDouble<type>(out, n, [](double x) { return std::exp(x); }, a);
  case UnaryOp::Exp2:
    return applyDouble<type>(out, n, [](double x) { return std::exp2(x); }, a);
  case UnaryOp::Log:
    return applyDouble<type>(out, n, [](double x) { return std::log(x); }, a);
  case UnaryOp::Log2:
    return applyDouble<type>(out, n, [](double x) { return std::log2(x); }, a);
  case UnaryOp::Sin:
    return applyDouble<type>(out, n, [](double x) { return std::sin(x); }, a);
  case UnaryOp::Cos:
    return applyDouble<type>(out, n, [](double x) { return std::cos(x); }, a);
  case UnaryOp::Tanh:
    return applyDouble<type>(out, n, [](double x) { return std::tanh(x); }, a);
  case UnaryOp::Erf:
    return applyDouble<type>(out, n, [](double x) { return std::erf(x); }, a);
  case UnaryOp::Sigmoid:
    return applyDouble<type>(out, n, [](double x) { return scalar::sigmoid(x); }, a);
  case UnaryOp::Not:
  case UnaryOp::Pow2Ceil:
    return false;
  }
  return false;
}

template <DType type> bool intUnary(UnaryOp op, Source a, void *out, size_t n) {
  using T = typename Element<type>::Value;
  switch (op) {
  case UnaryOp::Neg:
    return apply<type>(out, n, [](T x) { return static_cast<T>(0 - scalar::wrapping(x)); }, a);
  case UnaryOp::Abs:
    return apply<type>(out, n, [](T x) { return x < 0 ? static_cast<T>(0 - scalar::wrapping(x)) : x; }, a);
  case UnaryOp::Not:
    return apply<type>(out, n, [](T x) { return static_cast<T>(~x); }, a);
  case UnaryOp::Floor:
  case UnaryOp::Ceil:
  case UnaryOp::Round:
  case UnaryOp::Trunc:
    return apply<type>(out, n, [](T x) { return x; }, a);
  case UnaryOp::Pow2Ceil:
    return apply<type>(out, n, [](T x) { return scalar::pow2ceil(x); }, a);
  default:
    return false;
  }
}

} // namespace

bool unary(UnaryOp op, DType type, Source a, void *out, size_t count) {
  return forDType(type, [&]<DType t>() {
    if constexpr (isFloat(t))
      return floatUnary<t>(op, a, out, count);
    else if constexpr (isInt(t))
      return intUnary<t>(op, a, out, count);
    else
      return op == UnaryOp::Not && apply<t>(out, count, [](auto x) { return x == 0; }, a);
  });
}

void isNan(DType type, Source a, uint8_t *out, size_t count) {
  forDType(type, [&]<DType t>() {
    if constexpr (isFloat(t))
      detail::loop(
          out, count, [](bool is) { return uint8_t(is); }, [](auto x) { return std::isnan(x); },
          detail::Reader<t>(a));
    else
      std::memset(out, 0, count);
  });
}

size_t findZero(DType type, Source a, size_t count) {
  return forDType(type, [&]<DType t>() {
    detail::Reader<t> read(a);
    size_t i = 0;
    while (i < count && read(i) != 0)
      ++i;
    return i;
  });
}

} // namespace tilegym::interp
