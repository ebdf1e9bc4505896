// SPDX-License-Identifier: MIT
// Element-wise reductions, bit by bit as memory does them.
#include "compiler/simulator/MemoryReduction.h"
#include "compiler/interpreter/NumericsFloat.h"
#include <algorithm>
#include <bit>
#include <cmath>

namespace tilegym::sim {
namespace {

template <class T> std::optional<uint64_t> reducedInteger(ReduceKind kind, uint64_t oldBits, uint64_t bits) {
  auto old = static_cast<T>(oldBits), value = static_cast<T>(bits);
  using Unsigned = std::make_unsigned_t<T>;
  auto result = [](T number) { return uint64_t(static_cast<Unsigned>(number)); };
  switch (kind) {
  case ReduceKind::Add:
    return uint64_t(static_cast<Unsigned>(static_cast<Unsigned>(old) + static_cast<Unsigned>(value)));
  case ReduceKind::Min:
    return result(std::min(old, value));
  case ReduceKind::Max:
    return result(std::max(old, value));
  case ReduceKind::Inc:
    return result(old >= value ? T(0) : T(old + 1));
  case ReduceKind::Dec:
    return result(old == 0 || old > value ? value : T(old - 1));
  case ReduceKind::And:
    return result(T(old & value));
  case ReduceKind::Or:
    return result(T(old | value));
  case ReduceKind::Xor:
    return result(T(old ^ value));
  }
  return std::nullopt;
}

/// The sum of two values of a 16-bit format is rounded once though f64 holds it first: f64 has more than twice its digits.
std::optional<uint64_t> reducedHalf(ReduceKind kind, DType type, uint64_t oldBits, uint64_t bits) {
  tilegym::FloatFormat format = tilegym::floatFormat(type);
  double old = interp::decode(format, oldBits), value = interp::decode(format, bits), result = 0;
  if (kind == ReduceKind::Add) {
    result = old + value;
  } else if (kind == ReduceKind::Min || kind == ReduceKind::Max) {
    bool takesOld = std::isnan(value) || (kind == ReduceKind::Min ? old < value : old > value) ||
                    (old == value && std::signbit(old) == (kind == ReduceKind::Min));
    result = takesOld ? old : value;
  } else {
    return std::nullopt;
  }
  if (std::isnan(result))
    return canonicalNaN16;
  return interp::encodeDouble(format, result, interp::Rounding::NearestEven, false);
}

} // namespace

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

std::optional<uint64_t> reduced(ReduceKind kind, ElementType type, uint64_t old, uint64_t value, bool flush) {
  switch (type) {
  case ElementType::U32:
    return reducedInteger<uint32_t>(kind, old, value);
  case ElementType::S32:
    return reducedInteger<int32_t>(kind, old, value);
  case ElementType::U64:
    return reducedInteger<uint64_t>(kind, old, value);
  case ElementType::S64:
    return reducedInteger<int64_t>(kind, old, value);
  case ElementType::F16:
    return reducedHalf(kind, DType::F16, old, value);
  case ElementType::BF16:
    return reducedHalf(kind, DType::BF16, old, value);
  case ElementType::F32: {
    if (kind != ReduceKind::Add)
      return std::nullopt;
    auto a = std::bit_cast<float>(uint32_t(old)), b = std::bit_cast<float>(uint32_t(value));
    float sum = flush ? flushed(flushed(a) + flushed(b)) : a + b;
    return std::isnan(sum) ? canonicalNaN32 : std::bit_cast<uint32_t>(sum);
  }
  case ElementType::F64: {
    if (kind != ReduceKind::Add)
      return std::nullopt;
    double a = std::bit_cast<double>(old), b = std::bit_cast<double>(value);
    if (std::isnan(a) || std::isnan(b)) // as they are, a signalling one too
      return std::isnan(b) ? value : old;
    double sum = a + b;
    return std::isnan(sum) ? invalidSum64 : std::bit_cast<uint64_t>(sum);
  }
  default:
    return std::nullopt;
  }
}

} // namespace tilegym::sim
