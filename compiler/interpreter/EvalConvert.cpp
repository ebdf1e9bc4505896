// SPDX-License-Identifier: MIT
// Conversions and bit casts.
#include "compiler/interpreter/Broadcast.h"
#include "compiler/interpreter/Evaluator.h"
#include "compiler/interpreter/NumericsConvert.h"

namespace tilegym::interp {

namespace {

/// The first integer that the dtype has not, if there is one.
std::optional<int64_t> firstMisfit(const Value &from, DType to) {
  const int64_t *values = from.as<int64_t>();
  const int64_t least = minInt(to);
  const uint64_t greatest = maxInt(to);
  for (int64_t i = 0, count = from.count(); i < count; ++i)
    if (from.dtype == DType::U64 ? uint64_t(values[i]) > greatest
                                 : values[i] < least || (values[i] > 0 && uint64_t(values[i]) > greatest))
      return values[i];
  return {};
}

} // namespace

Value Evaluator::convertOp(const sem::Expr &e) {
  Value from = value(*e.operands[0]);
  const DType to = e.type.dtype;
  if (from.dtype == to)
    return from;
  // Into `index` nothing may be lost either: only u64 has values that it lacks.
  const bool exact = (e.exact && isInt(to) && from.dtype == DType::Index) ||
                     (to == DType::Index && from.dtype == DType::U64);
  if (exact)
    if (auto misfit = firstMisfit(from, to))
      fail(Fault::IndexRange,
           (from.dtype == DType::U64 ? std::to_string(uint64_t(*misfit)) : std::to_string(*misfit)) +
               " does not fit " + std::string(name(to)),
           e.range, "index values take the other side's dtype: convert that side to a wider one");
  Conversion options;
  // The tree does not tell "nearest even" from "not said"; a float to an integer truncates unless another mode is said.
  if (e.rounding != sem::Rounding::NearestEven)
    options.round = e.rounding;
  if (!e.saturate)
    options.saturate = false;
  Value result(to, from.shape);
  convert(from.dtype, {from.data(), 1}, to, result.data(), size_t(from.count()), options);
  return result;
}

Value Evaluator::bitcastOp(const sem::Expr &e) {
  Value from = value(*e.operands[0]);
  const DType to = e.type.dtype;
  Shape shape = from.shape;
  const int64_t fromSize = int64_t(from.elementSize()), toSize = sizeInBytes(to);
  if (fromSize != toSize) {
    const int last = shape.rank() - 1;
    if (last < 0 || shape[last] * fromSize % toSize != 0)
      fail(Fault::Arguments,
           "the last axis of " + toString(shape) + " does not divide into elements of " +
               std::string(name(to)),
           e.range);
    shape[last] = shape[last] * fromSize / toSize;
  }
  Value result(to, shape);
  std::memcpy(result.data(), from.data(), from.bytes());
  if (to == DType::Bool)
    for (int64_t i = 0; i < result.count(); ++i)
      result.as<uint8_t>()[i] = result.as<uint8_t>()[i] != 0;
  return result;
}

} // namespace tilegym::interp
