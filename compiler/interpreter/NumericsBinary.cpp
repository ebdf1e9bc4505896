// SPDX-License-Identifier: MIT
// Operations on two and three operands.
#include "compiler/interpreter/NumericsLoops.h"
#include "compiler/interpreter/NumericsOps.h"
#include "compiler/interpreter/NumericsScalar.h"

namespace tilegym::interp {
namespace {

using detail::apply;
using detail::applyDouble;

template <DType type> bool floatBinary(BinaryOp op, Source a, Source b, void *out, size_t n) {
  using T = typename Element<type>::Value;
  switch (op) {
  case BinaryOp::Add:
    return apply<type>(out, n, [](T x, T y) { return x + y; }, a, b);
  case BinaryOp::Sub:
    return apply<type>(out, n, [](T x, T y) { return x - y; }, a, b);
  case BinaryOp::Mul:
    return apply<type>(out, n, [](T x, T y) { return x * y; }, a, b);
  case BinaryOp::Div:
    return apply<type>(out, n, [](T x, T y) { return x / y; }, a, b);
  case BinaryOp::Min:
    return apply<type>(out, n, [](T x, T y) { return scalar::minOf(x, y); }, a, b);
  case BinaryOp::Max:
    return apply<type>(out, n, [](T x, T y) { return scalar::maxOf(x, y); }, a, b);
  case BinaryOp::FMin:
    return apply<type>(out, n, [](T x, T y) { return scalar::fminOf(x, y); }, a, b);
  case BinaryOp::FMax:
    return apply<type>(out, n, [](T x, T y) { return scalar::fmaxOf(x, y); }, a, b);
  case BinaryOp::FloorDiv:
    return applyDouble<type>(out, n, [](double x, double y) { return scalar::floatFloorDiv(x, y); }, a, b);
  case BinaryOp::Mod:
    return applyDouble<type>(out, n, [](double x, double y) { return scalar::floatMod(x, y); }, a, b);
  case BinaryOp::Pow:
    return applyDouble<type>(out, n, [](double x, double y) { return std::pow(x, y); }, a, b);
  default:
    return false;
  }
}

template <DType type> bool intBinary(BinaryOp op, Source a, Source b, void *out, size_t n) {
  using T = typename Element<type>::Value;
  using scalar::wrapping;
  switch (op) {
  case BinaryOp::Add:
    return apply<type>(out, n, [](T x, T y) { return static_cast<T>(wrapping(x) + wrapping(y)); }, a, b);
  case BinaryOp::Sub:
    return apply<type>(out, n, [](T x, T y) { return static_cast<T>(wrapping(x) - wrapping(y)); }, a, b);
  case BinaryOp::Mul:
    return apply<type>(out, n, [](T x, T y) { return static_cast<T>(wrapping(x) * wrapping(y)); }, a, b);
  case BinaryOp::FloorDiv:
    return apply<type>(out, n, [](T x, T y) { return scalar::floorDiv(x, y); }, a, b);
  case BinaryOp::Mod:
    return apply<type>(out, n, [](T x, T y) { return scalar::floorMod(x, y); }, a, b);
  case BinaryOp::CDiv:
    return apply<type>(out, n, [](T x, T y) { return scalar::ceilDiv(x, y); }, a, b);
  case BinaryOp::Pow:
    return apply<type>(out, n, [](T x, T y) { return scalar::power(x, y); }, a, b);
  case BinaryOp::Min:
  case BinaryOp::FMin:
    return apply<type>(out, n, [](T x, T y) { return scalar::minOf(x, y); }, a, b);
  case BinaryOp::Max:
  case BinaryOp::FMax:
    return apply<type>(out, n, [](T x, T y) { return scalar::maxOf(x, y); }, a, b);
  case BinaryOp::And:
    return apply<type>(out, n, [](T x, T y) { return static_cast<T>(x & y); }, a, b);
  case BinaryOp::Or:
    return apply<type>(out, n, [](T x, T y) { return static_cast<T>(x | y); }, a, b);
  case BinaryOp::Xor:
    return apply<type>(out, n, [](T x, T y) { return static_cast<T>(x ^ y); }, a, b);
  case BinaryOp::Shl:
    return apply<type>(out, n, [](T x, T y) { return scalar::shiftLeft(x, y); }, a, b);
  case BinaryOp::Shr:
    return apply<type>(out, n, [](T x, T y) { return scalar::shiftRight(x, y); }, a, b);
  case BinaryOp::Div:
    return false;
  }
  return false;
}

bool boolBinary(BinaryOp op, Source a, Source b, void *out, size_t n) {
  constexpr DType type = DType::Bool;
  switch (op) {
  case BinaryOp::And:
  case BinaryOp::Min:
    return apply<type>(out, n, [](int x, int y) { return x & y; }, a, b);
  case BinaryOp::Or:
  case BinaryOp::Max:
    return apply<type>(out, n, [](int x, int y) { return x | y; }, a, b);
  case BinaryOp::Xor:
    return apply<type>(out, n, [](int x, int y) { return x ^ y; }, a, b);
  default:
    return false;
  }
}

template <class T> bool compareValues(CompareOp op, T a, T b) {
  switch (op) {
  case CompareOp::Eq:
    return a == b;
  case CompareOp::Ne:
    return a != b;
  case CompareOp::Lt:
    return a < b;
  case CompareOp::Le:
    return a <= b;
  case CompareOp::Gt:
    return a > b;
  case CompareOp::Ge:
    return a >= b;
  }
  return false;
}

} // namespace

bool binary(BinaryOp op, DType type, Source a, Source b, void *out, size_t count) {
  return forDType(type, [&]<DType t>() {
    if constexpr (isFloat(t))
      return floatBinary<t>(op, a, b, out, count);
    else if constexpr (isInt(t))
      return intBinary<t>(op, a, b, out, count);
    else
      return boolBinary(op, a, b, out, count);
  });
}

bool fma(DType type, Source a, Source b, Source c, void *out, size_t count) {
  return forDType(type, [&]<DType t>() {
    if constexpr (Element<t>::narrow)
      return applyDouble<t>(
          out, count, [](double x, double y, double z) { return fmaToOdd(x, y, z); }, a, b, c);
    else if constexpr (isFloat(t))
      return apply<t>(out, count, [](auto x, auto y, auto z) { return std::fma(x, y, z); }, a, b, c);
    else
      return false;
  });
}

bool compare(CompareOp op, DType type, Source a, Source b, uint8_t *out, size_t count) {
  return forDType(type, [&]<DType t>() {
    detail::loop(
        out, count, [](bool is) { return uint8_t(is); },
        [op](auto x, auto y) { return compareValues(op, x, y); }, detail::Reader<t>(a), detail::Reader<t>(b));
    return true;
  });
}

void select(DType type, Source condition, Source a, Source b, void *out, size_t count) {
  forDType(type, [&]<DType t>() {
    using Storage = typename Element<t>::Storage;
    detail::Reader<DType::Bool> chosen(condition);
    const auto *first = static_cast<const Storage *>(a.data), *second = static_cast<const Storage *>(b.data);
    auto *result = static_cast<Storage *>(out);
    for (size_t i = 0; i < count; ++i) {
      auto at = static_cast<ptrdiff_t>(i);
      result[i] = chosen(i) ? first[at * a.step] : second[at * b.step];
    }
  });
}

} // namespace tilegym::interp
