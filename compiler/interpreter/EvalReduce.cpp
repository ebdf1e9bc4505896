// SPDX-License-Identifier: MIT
// Reductions with a built-in combiner.
#include "compiler/interpreter/Broadcast.h"
#include "compiler/interpreter/Evaluator.h"
#include "compiler/interpreter/Fold.h"
#include "compiler/interpreter/NumericsElement.h"
#include "compiler/interpreter/NumericsOps.h"
#include <algorithm>
#include <bit>
#include <limits>

namespace tilegym::interp {

using sem::Op;

namespace {

Value converted(const Value &from, DType to) {
  if (from.dtype == to)
    return from;
  Value result(to, from.shape);
  convert(from.dtype, {from.data(), 1}, to, result.data(), size_t(from.count()));
  return result;
}

BinaryOp combinerOf(Op op) {
  switch (op) {
  case Op::Sum:
    return BinaryOp::Add;
  case Op::Prod:
    return BinaryOp::Mul;
  case Op::ReduceMax:
    return BinaryOp::Max;
  case Op::ReduceMin:
    return BinaryOp::Min;
  case Op::Any:
    return BinaryOp::Or;
  default:
    return BinaryOp::And;
  }
}

/// Bits of the identity of a combiner in a dtype.
uint64_t identity(BinaryOp op, DType dtype) {
  const bool least = op == BinaryOp::Max;
  switch (op) {
  case BinaryOp::Mul:
  case BinaryOp::And:
    return convertBits(DType::I64, 1, dtype);
  case BinaryOp::Max:
  case BinaryOp::Min:
    if (isFloat(dtype)) {
      // f8e4m3 has no infinity: its largest finite value is the bound.
      double bound = std::numeric_limits<double>::infinity() * (least ? -1 : 1);
      return convertBits(DType::F64, std::bit_cast<uint64_t>(bound), dtype,
                         {{}, !floatFormat(dtype).hasInfinity});
    }
    return least ? uint64_t(minInt(dtype)) : maxInt(dtype);
  default:
    return 0;
  }
}

/// Reduces one axis, which keeps extent 1.
Value reduceAxis(BinaryOp op, const Value &from, int axis) {
  Shape shape = from.shape;
  const int64_t length = shape[axis], outer = shape.product(0, axis),
                inner = shape.product(axis + 1, shape.rank());
  shape[axis] = 1;
  Value result(from.dtype, shape);
  const int64_t size = int64_t(from.elementSize()), row = length * inner * size;
  if (length == 0) {
    Value unit = Value::scalar(from.dtype, identity(op, from.dtype));
    return broadcastTo(unit, shape, {});
  }
  // Each line is folded in a scratch array, of which the first step fills the lower half.
  std::vector<std::byte> scratch(size_t((length + 1) / 2 * inner * size));
  for (int64_t o = 0; o < outer; ++o) {
    const std::byte *line = from.data() + o * row;
    bool first = true;
    foldAxis(length, [&](int64_t upper, int64_t count) {
      const std::byte *lower = first ? line : scratch.data();
      binary(op, from.dtype, {lower, 1}, {lower + upper * inner * size, 1}, scratch.data(),
             size_t(count * inner));
      if (first && count < upper)
        std::memcpy(scratch.data() + count * inner * size, line + count * inner * size, size_t(inner * size));
      first = false;
    });
    std::memcpy(result.data() + o * inner * size, first ? line : scratch.data(), size_t(inner * size));
  }
  return result;
}

/// Before `found`: the first of equals stays, and the first NaN stays before all. -0 equals +0.
template <class T> bool beats(T candidate, T found, bool greatest) {
  if constexpr (std::is_floating_point_v<T>) {
    if (found != found)
      return false;
    if (candidate != candidate)
      return true;
  }
  return greatest ? candidate > found : candidate < found;
}

template <DType type>
void argAxis(const Value &from, Value &result, int64_t outer, int64_t length, int64_t inner, bool greatest) {
  using E = Element<type>;
  const auto *data = from.as<typename E::Storage>();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      const auto *line = data + o * length * inner + i;
      int64_t best = 0;
      for (int64_t k = 1; k < length; ++k)
        if (beats(E::load(line[k * inner]), E::load(line[best * inner]), greatest))
          best = k;
      result.as<int64_t>()[o * inner + i] = best;
    }
}

} // namespace

Value Evaluator::reduceOp(const sem::Expr &e) {
  Value from = value(*e.operands[0]);
  const BinaryOp op = combinerOf(e.op);
  const bool accumulates = op == BinaryOp::Add || op == BinaryOp::Mul;
  Value result = accumulates ? converted(from, e.accType) : from;
  if (e.wholeTile) {
    result = reduceAxis(op, result.reshaped(Shape{result.count()}), 0).reshaped(Shape{});
  } else {
    std::vector<int64_t> axes = e.ints;
    std::sort(axes.begin(), axes.end(), std::greater<>());
    for (int64_t axis : axes)
      result = reduceAxis(op, result, int(axis));
  }
  return converted(result, e.type.dtype);
}

Value Evaluator::argReduce(const sem::Expr &e) {
  Value from = value(*e.operands[0]);
  const int axis = e.wholeTile ? 0 : int(e.ints.at(0));
  if (e.wholeTile)
    from = from.reshaped(Shape{from.count()});
  Shape shape = from.shape;
  const int64_t length = shape[axis], outer = shape.product(0, axis),
                inner = shape.product(axis + 1, shape.rank());
  if (length == 0 && outer * inner > 0)
    fail(Fault::Arguments, "argmax or argmin of no elements", e.range, "guard the empty case");
  shape[axis] = 1;
  Value result(DType::Index, shape);
  forDType(from.dtype,
           [&]<DType type>() { argAxis<type>(from, result, outer, length, inner, e.op == Op::ArgMax); });
  return e.wholeTile ? result.reshaped(Shape{}) : result;
}

} // namespace tilegym::interp
