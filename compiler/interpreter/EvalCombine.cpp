// SPDX-License-Identifier: MIT
// Reductions and scans by a written combiner, running sums, and the meaning of inline_ptx. A combiner is a function of scalars; where
// it is straight-line it is evaluated on whole arrays at once, else element by element, with the same result.
#include "compiler/interpreter/Broadcast.h"
#include "compiler/interpreter/Evaluator.h"
#include "compiler/interpreter/Fold.h"
#include "compiler/interpreter/NumericsElement.h"
#include "compiler/interpreter/NumericsOps.h"

namespace tilegym::interp {

namespace {

bool isStraightLine(const sem::Lambda &lambda) {
  for (const auto &stmt : lambda.body)
    if (stmt->kind != sem::Stmt::Let && stmt->kind != sem::Stmt::Assign)
      return false;
  return true;
}

/// Elements [from, from + count) of the first axis.
Value rows(const Value &value, int64_t from, int64_t count) {
  Shape shape = value.shape;
  shape[0] = count;
  Value result(value.dtype, shape);
  const size_t row = value.shape[0] ? value.bytes() / size_t(value.shape[0]) : 0;
  std::memcpy(result.data(), value.data() + size_t(from) * row, size_t(count) * row);
  return result;
}

void setRows(Value &value, int64_t from, const Value &part) {
  const size_t row = value.bytes() / size_t(value.shape[0]);
  std::memcpy(value.data() + size_t(from) * row, part.data(), part.bytes());
}

/// The axis in front as [length, rest], and back.
std::vector<int64_t> axisFirst(int rank, int axis) {
  std::vector<int64_t> order{axis};
  for (int a = 0; a < rank; ++a)
    if (a != axis)
      order.push_back(a);
  return order;
}

std::vector<int64_t> inverse(const std::vector<int64_t> &order) {
  std::vector<int64_t> result(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    result[size_t(order[i])] = int64_t(i);
  return result;
}

Value toRows(const Value &value, int axis) {
  Value moved = permute(value, axisFirst(value.shape.rank(), axis));
  const int64_t length = moved.shape[0];
  return moved.reshaped(Shape{length, moved.shape.product(1, moved.shape.rank())});
}

/// Undoes toRows for a result whose axis has `length`.
Value fromRows(const Value &value, const Shape &original, int axis, int64_t length) {
  std::vector<int64_t> order = axisFirst(original.rank(), axis);
  Shape moved;
  for (int64_t a : order)
    moved.push(a == axis ? length : original[int(a)]);
  return permute(value.reshaped(moved), inverse(order));
}

Slot asSlot(std::vector<Value> values) {
  if (values.size() == 1)
    return std::move(values[0]);
  auto tuple = std::make_shared<Tuple>();
  for (Value &value : values)
    tuple->elements.push_back(std::move(value));
  return std::shared_ptr<const Tuple>(std::move(tuple));
}

} // namespace

std::vector<Value> Evaluator::callLambda(const sem::Lambda &lambda, const std::vector<Value> &arguments) {
  for (size_t i = 0; i < lambda.params.size(); ++i)
    locals.at(size_t(lambda.params[i])) = arguments.at(i);
  run(lambda.body);
  std::vector<Value> results;
  for (const auto &result : lambda.results)
    results.push_back(value(*result));
  return results;
}

/// The combiner on every element of arrays of one shape; scalars among the arguments repeat.
std::vector<Value> Evaluator::applyLambda(const sem::Lambda &lambda, const std::vector<Value> &arguments,
                                          const Shape &shape) {
  std::vector<Value> results;
  if (isStraightLine(lambda)) {
    results = callLambda(lambda, arguments);
    for (Value &result : results)
      result = broadcastTo(result, shape, {});
    return results;
  }
  for (int64_t i = 0; i < shape.count(); ++i) {
    std::vector<Value> scalars;
    for (const Value &argument : arguments)
      scalars.push_back(Value::scalar(argument.dtype, argument.bitsAt(argument.count() == 1 ? 0 : i)));
    std::vector<Value> element = callLambda(lambda, scalars);
    if (results.empty())
      for (const Value &value : element)
        results.emplace_back(value.dtype, shape);
    for (size_t r = 0; r < element.size(); ++r)
      std::memcpy(results[r].data() + i * int64_t(element[r].elementSize()), element[r].data(),
                  element[r].elementSize());
  }
  return results;
}

Slot Evaluator::combineReduce(const sem::Expr &e) {
  const size_t number = e.operands.size() / 2;
  std::vector<Value> lines, inits;
  Shape original;
  const bool whole = e.index < 0;
  for (size_t i = 0; i < number; ++i) {
    Value tile = value(*e.operands[i]);
    original = tile.shape;
    lines.push_back(whole ? tile.reshaped(Shape{tile.count(), 1}) : toRows(tile, int(e.index)));
    inits.push_back(value(*e.operands[number + i]));
  }
  const int64_t length = lines[0].shape[0];
  foldAxis(length, [&](int64_t upper, int64_t count) {
    std::vector<Value> arguments;
    for (const Value &line : lines)
      arguments.push_back(rows(line, 0, count));
    for (const Value &line : lines)
      arguments.push_back(rows(line, upper, count));
    std::vector<Value> folded = applyLambda(*e.lambda, arguments, arguments[0].shape);
    for (size_t i = 0; i < number; ++i) {
      Value next = rows(lines[i], 0, upper);
      setRows(next, 0, folded[i]);
      lines[i] = std::move(next);
    }
  });
  const Shape row{1, lines[0].shape[1]};
  std::vector<Value> results;
  if (length == 0) {
    for (const Value &init : inits)
      results.push_back(broadcastTo(init, row, e.range));
  } else if (row.count() > 0) {
    std::vector<Value> arguments = inits;
    arguments.insert(arguments.end(), lines.begin(), lines.end());
    results = applyLambda(*e.lambda, arguments, row);
  } else {
    results = lines;
  }
  for (Value &result : results)
    result = whole ? result.reshaped(Shape{}) : fromRows(result, original, int(e.index), 1);
  return asSlot(std::move(results));
}

Slot Evaluator::combineScan(const sem::Expr &e) {
  const size_t number = e.operands.size() / 2;
  const int axis = int(e.index);
  std::vector<Value> lines, accumulators;
  Shape original;
  for (size_t i = 0; i < number; ++i) {
    Value tile = value(*e.operands[i]);
    original = tile.shape;
    lines.push_back(toRows(tile, axis));
    accumulators.push_back(value(*e.operands[number + i]));
  }
  const int64_t length = lines[0].shape[0];
  const Shape row{1, lines[0].shape[1]};
  std::vector<Value> results;
  for (const Value &line : lines)
    results.emplace_back(line.dtype, line.shape);
  for (int64_t k = 0; k < length && row.count() > 0; ++k) {
    const int64_t at = e.reverse ? length - 1 - k : k;
    std::vector<Value> arguments = accumulators;
    for (const Value &line : lines)
      arguments.push_back(rows(line, at, 1));
    accumulators = applyLambda(*e.lambda, arguments, row);
    for (size_t i = 0; i < number; ++i)
      setRows(results[i], at, accumulators[i]);
  }
  for (Value &result : results)
    result = fromRows(result, original, axis, length);
  return asSlot(std::move(results));
}

/// In order along the axis, each step rounded to `accType`.
Value Evaluator::cumSum(const sem::Expr &e) {
  Value from = value(*e.operands[0]);
  const int axis = int(e.index);
  Value lines = toRows(from, axis);
  if (lines.dtype != e.accType) {
    Value wide(e.accType, lines.shape);
    convert(lines.dtype, {lines.data(), 1}, e.accType, wide.data(), size_t(lines.count()));
    lines = wide;
  }
  const int64_t length = lines.shape[0], row = lines.shape[1], bytes = row * int64_t(lines.elementSize());
  Value sums(lines.dtype, lines.shape);
  for (int64_t k = 0; k < length; ++k) {
    const int64_t at = (e.reverse ? length - 1 - k : k) * bytes;
    if (k == 0)
      std::memcpy(sums.data() + at, lines.data() + at, size_t(bytes));
    else
      binary(BinaryOp::Add, sums.dtype, {sums.data() + (e.reverse ? at + bytes : at - bytes), 1},
             {lines.data() + at, 1}, sums.data() + at, size_t(row));
  }
  Value result(e.type.dtype, sums.shape);
  convert(sums.dtype, {sums.data(), 1}, result.dtype, result.data(), size_t(sums.count()));
  return fromRows(result, from.shape, axis, length);
}

Value Evaluator::inlinePtx(const sem::Expr &e) {
  std::vector<Value> arguments;
  Shape shape;
  for (const auto &operand : e.operands) {
    arguments.push_back(value(*operand));
    shape = broadcastShapes(shape, arguments.back().shape, e.range);
  }
  if (shape.count() == 0)
    return Value(e.type.dtype, shape);
  return applyLambda(*e.lambda, arguments, shape).at(0);
}

} // namespace tilegym::interp
