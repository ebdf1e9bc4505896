// SPDX-License-Identifier: MIT
// One function a family: index and integers, floats, bools.
#include "compiler/semantics/ConstFold.h"
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace tilegym::sem {
namespace {

Folded value(int64_t v) { return {Constant{v}, {}}; }
Folded value(bool v) { return {Constant{v}, {}}; }
Folded value(double v) { return {Constant{v}, {}}; }
Folded failure(std::string text) { return {std::nullopt, std::move(text)}; }

/// Integers are computed in 128 bits, which hold every sum and product of two of 64; then `finish` wraps or complains.
using Wide = __int128;

Wide widen(int64_t v, DType type) { return type == DType::U64 ? Wide(uint64_t(v)) : Wide(v); }

Folded finish(Wide v, DType type) {
  if (isIndex(type) && (v < std::numeric_limits<int64_t>::min() || v > std::numeric_limits<int64_t>::max()))
    return failure("the result does not fit in 64 bits");
  return value(wrapToDType(int64_t(uint64_t(v)), type));
}

Wide floorDiv(Wide a, Wide b) {
  Wide q = a / b;
  return a % b != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
}

Folded intPower(Wide base, Wide exponent, DType type) {
  if (exponent < 0 && isIndex(type))
    return failure("negative exponent of an integer power");
  if (exponent < 0) // 1 // base^n, truncated
    return value(base == 1           ? int64_t(1)
                 : base != -1        ? int64_t(0)
                 : exponent % 2 != 0 ? int64_t(-1)
                                     : int64_t(1));
  // Square and multiply, wrapped at each step; an index must stay exact, so it stops at the first overflow.
  Constant result{int64_t(1)}, square{int64_t(base)};
  for (uint64_t e = uint64_t(exponent); e != 0; e >>= 1) {
    if (e & 1) {
      Folded next = foldBinary(Op::Mul, type, result, square);
      if (!next)
        return next;
      result = *next.value;
    }
    if (e > 1) {
      Folded next = foldBinary(Op::Mul, type, square, square);
      if (!next)
        return next;
      square = *next.value;
    }
  }
  return value(result.asInt());
}

Folded intShift(Op op, Wide a, Wide amount, DType type) {
  // A count out of range moves every bit out; of an index it is a mistake where that loses something.
  if (amount < 0 && isIndex(type))
    return failure("negative shift");
  bool all = amount < 0 || amount >= int(sizeInBits(type));
  if (op == Op::Shr)
    return finish(all ? (a < 0 ? -1 : 0) : a >> int(amount), type);
  if (!all)
    return finish(Wide(static_cast<unsigned __int128>(a) << int(amount)), type);
  return isIndex(type) && a != 0 ? failure("the result does not fit in 64 bits") : value(int64_t(0));
}

/// Nothing where the operation is no comparison.
template <class T> std::optional<bool> compare(Op op, T a, T b) {
  switch (op) {
  case Op::Eq:
    return a == b;
  case Op::Ne:
    return a != b;
  case Op::Lt:
    return a < b;
  case Op::Le:
    return a <= b;
  case Op::Gt:
    return a > b;
  case Op::Ge:
    return a >= b;
  default:
    return std::nullopt;
  }
}

Folded foldInt(Op op, DType type, int64_t x, int64_t y) {
  Wide a = widen(x, type), b = widen(y, type);
  if (std::optional<bool> holds = compare(op, a, b))
    return value(*holds);
  switch (op) {
  case Op::Add:
    return finish(a + b, type);
  case Op::Sub:
    return finish(a - b, type);
  case Op::Mul:
    return finish(Wide(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)), type);
  case Op::FloorDiv:
  case Op::Mod:
  case Op::CDiv: {
    if (b == 0)
      return failure("division by zero");
    if (op == Op::Mod)
      return finish(a - floorDiv(a, b) * b, type);
    return finish(op == Op::FloorDiv ? floorDiv(a, b) : -floorDiv(-a, b), type);
  }
  case Op::Pow:
    return intPower(a, b, type);
  case Op::And:
    return value(x & y);
  case Op::Or:
    return value(x | y);
  case Op::Xor:
    return value(wrapToDType(x ^ y, type));
  case Op::Shl:
  case Op::Shr:
    return intShift(op, a, b, type);
  case Op::Min:
  case Op::FMin:
    return value(a < b ? x : y);
  case Op::Max:
  case Op::FMax:
    return value(a > b ? x : y);
  default:
    return failure("not an operation of integers");
  }
}

/// -0 counts as below +0, and NaN wins (or loses, for fmin and fmax).
double extremum(Op op, double a, double b) {
  bool wantMax = op == Op::Max || op == Op::FMax;
  if (std::isnan(a) || std::isnan(b)) {
    if (op == Op::Max || op == Op::Min)
      return std::numeric_limits<double>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  if (a == b)
    return std::signbit(a) == wantMax ? b : a;
  return (a > b) == wantMax ? a : b;
}

Folded foldFloat(Op op, DType type, double a, double b) {
  if (std::optional<bool> holds = compare(op, a, b))
    return value(*holds);
  switch (op) {
  // f64 has more than twice the bits of every narrower dtype, so the second rounding does no harm.
  case Op::Add:
    return value(roundToDType(a + b, type));
  case Op::Sub:
    return value(roundToDType(a - b, type));
  case Op::Mul:
    return value(roundToDType(a * b, type));
  case Op::Div:
    return value(roundToDType(a / b, type));
  case Op::Pow:
    return value(roundToDType(std::pow(a, b), type));
  case Op::Min:
  case Op::Max:
  case Op::FMin:
  case Op::FMax:
    return value(extremum(op, a, b));
  default:
    return failure("not an operation of floats");
  }
}

Folded foldBool(Op op, bool a, bool b) {
  switch (op) {
  case Op::And:
    return value(a && b);
  case Op::Or:
    return value(a || b);
  case Op::Xor:
  case Op::Ne:
    return value(a != b);
  case Op::Eq:
    return value(a == b);
  default:
    return failure("not an operation of bool");
  }
}

/// 0 where the dtype has no such power; of an index that is an error.
Folded pow2ceil(int64_t x, DType type) {
  if (widen(x, type) <= 1)
    return value(int64_t(1));
  uint64_t largest = uint64_t(1) << (sizeInBits(type) - (isSigned(type) ? 2 : 1));
  if (uint64_t(x) > largest)
    return isIndex(type) ? failure("the result does not fit in 64 bits") : value(int64_t(0));
  return value(int64_t(std::bit_ceil(uint64_t(x))));
}

double roundMode(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  case Rounding::NearestEven:
    return std::nearbyint(value);
  default:
    return std::trunc(value);
  }
}

int64_t floatToInt(double x, DType to) {
  if (std::isnan(x))
    return 0;
  if (x <= double(minInt(to)))
    return minInt(to);
  // maxInt as a double may round up to the next power of two, which is itself out of range.
  if (x >= double(maxInt(to)))
    return int64_t(maxInt(to));
  return to == DType::U64 ? int64_t(uint64_t(x)) : int64_t(x);
}

} // namespace

int64_t wrapToDType(int64_t v, DType type) {
  switch (type) {
  case DType::I8:
    return int8_t(v);
  case DType::I16:
    return int16_t(v);
  case DType::I32:
    return int32_t(v);
  case DType::U8:
    return uint8_t(v);
  case DType::U16:
    return uint16_t(v);
  case DType::U32:
    return uint32_t(v);
  case DType::Bool:
    return v != 0;
  default:
    return v;
  }
}

bool fitsDType(int64_t v, DType from, DType to) {
  if (from == DType::U64 && v < 0)
    return to == DType::U64;
  return v >= minInt(to) && (v < 0 || uint64_t(v) <= maxInt(to));
}

/// Rounded to the dtype's spacing, whatever its range. long double holds every 64-bit integer, so those are rounded only once.
static double roundSpacing(long double v, DType type) {
  if (!std::isfinite(v) || v == 0 || type == DType::F64)
    return double(v);
  FloatFormat format = floatFormat(type);
  // The spacing of the dtype's values around v; below the normal range it stops shrinking.
  int exponent = std::max(std::ilogb(v), format.minExponent());
  long double step = std::ldexp(1.0L, exponent - format.fractionBits);
  return double(std::nearbyint(v / step) * step);
}

static double largestFinite(DType type) {
  FloatFormat format = floatFormat(type);
  // f8e4m3 spends its topmost pattern on NaN, so its largest value is one step lower.
  return (2 - std::ldexp(format.hasInfinity ? 1.0 : 2.0, -format.fractionBits)) *
         std::ldexp(1.0, format.maxExponent());
}

static double roundWide(long double v, DType type) {
  double rounded = roundSpacing(v, type), limit = largestFinite(type);
  // Not below the limit: NaN stays, infinity saturates as what rounds beyond does.
  if (!(std::fabs(rounded) > limit))
    return rounded;
  return std::copysign(sizeInBytes(type) == 1 ? limit : std::numeric_limits<double>::infinity(), rounded);
}

bool overflowsDType(double v, DType type) {
  return std::isfinite(v) && isFloat(type) && std::fabs(roundSpacing(v, type)) > largestFinite(type);
}

double roundToDType(double v, DType type) { return roundWide(v, type); }

Folded foldUnary(Op op, DType type, const Constant &x) {
  if (isBool(type))
    return op == Op::Not ? value(!x.asBool()) : failure("not an operation of bool");
  if (isInt(type)) {
    switch (op) {
    case Op::Neg:
      return finish(-widen(x.asInt(), type), type);
    case Op::BitNot:
      return value(wrapToDType(~x.asInt(), type));
    case Op::Abs:
      return isSigned(type) && x.asInt() < 0 ? finish(-Wide(x.asInt()), type) : value(x.asInt());
    case Op::Pow2Ceil:
      return pow2ceil(x.asInt(), type);
    default:
      return failure("not an operation of integers");
    }
  }
  double v = x.asFloat();
  auto rounded = [&](double r) { return value(roundToDType(r, type)); };
  switch (op) {
  case Op::Neg:
    return value(-v);
  case Op::Abs:
    return value(std::fabs(v));
  case Op::Exp:
    return rounded(std::exp(v));
  case Op::Exp2:
    return rounded(std::exp2(v));
  case Op::Log:
    return rounded(std::log(v));
  case Op::Log2:
    return rounded(std::log2(v));
  case Op::Sqrt:
    return rounded(std::sqrt(v));
  case Op::Rsqrt:
    return rounded(1 / std::sqrt(v));
  case Op::Sin:
    return rounded(std::sin(v));
  case Op::Cos:
    return rounded(std::cos(v));
  case Op::Tanh:
    return rounded(std::tanh(v));
  case Op::Erf:
    return rounded(std::erf(v));
  case Op::Sigmoid:
    return rounded(1 / (1 + std::exp(-v)));
  case Op::Floor:
    return value(std::floor(v));
  case Op::Ceil:
    return value(std::ceil(v));
  case Op::Round:
    return value(std::nearbyint(v));
  case Op::Trunc:
    return value(std::trunc(v));
  case Op::IsNan:
    return value(bool(std::isnan(v)));
  default:
    return failure("not an operation of floats");
  }
}

Folded foldBinary(Op op, DType type, const Constant &a, const Constant &b) {
  if (isBool(type))
    return foldBool(op, a.asBool(), b.asBool());
  if (isInt(type))
    return foldInt(op, type, a.asInt(), b.asInt());
  return foldFloat(op, type, a.asFloat(), b.asFloat());
}

Folded foldConvert(DType from, DType to, const Constant &x, Rounding rounding, bool saturate) {
  if (isBool(to))
    return value(isFloat(from) ? x.asFloat() != 0 : x.asInt() != 0);
  if (isFloat(to)) {
    if (!isFloat(from))
      return value(
          roundWide(from == DType::U64 ? (long double)(uint64_t(x.asInt())) : (long double)(x.asInt()), to));
    double v = x.asFloat();
    if (rounding != Rounding::NearestEven || !saturate)
      return failure("only nearest-even conversions fold");
    return value(roundToDType(v, to));
  }
  if (!isFloat(from))
    return value(wrapToDType(x.asInt(), to));
  return value(floatToInt(
      roundMode(x.asFloat(), rounding == Rounding::NearestEven ? Rounding::TowardZero : rounding), to));
}

std::string toString(const Constant &constant) {
  if (constant.isBool())
    return constant.asBool() ? "true" : "false";
  if (constant.isInt())
    return std::to_string(constant.asInt());
  double v = constant.asFloat();
  if (std::isnan(v))
    return "nan";
  if (std::isinf(v))
    return v < 0 ? "-inf" : "inf";
  // The shortest digits that read back as the same value.
  char buffer[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, v);
    if (std::strtod(buffer, nullptr) == v)
      break;
  }
  std::string text = buffer;
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string toString(const Constant &constant, DType type) {
  if (type == DType::U64 && constant.isInt())
    return std::to_string(uint64_t(constant.asInt()));
  return toString(constant);
}

} // namespace tilegym::sem
