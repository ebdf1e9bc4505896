// SPDX-License-Identifier: MIT
// Loads, stores, atomics, and the checks and prints of a program.
#include "compiler/interpreter/Broadcast.h"
#include "compiler/interpreter/Evaluator.h"
#include "compiler/interpreter/NumericsOps.h"
#include <cstdio>

namespace tilegym::interp {

using sem::Op;

namespace {

std::optional<BinaryOp> combinerOf(Op op) {
  switch (op) {
  case Op::AtomicAdd:
    return BinaryOp::Add;
  case Op::AtomicMin:
    return BinaryOp::Min;
  case Op::AtomicMax:
    return BinaryOp::Max;
  case Op::AtomicAnd:
    return BinaryOp::And;
  case Op::AtomicOr:
    return BinaryOp::Or;
  case Op::AtomicXor:
    return BinaryOp::Xor;
  default:
    return {};
  }
}

std::string elementText(const Value &value, int64_t i) {
  if (value.dtype == DType::Bool)
    return value.boolAt(i) ? "true" : "false";
  if (isUnsigned(value.dtype))
    return std::to_string(uint64_t(value.intAt(i)));
  if (isInt(value.dtype))
    return std::to_string(value.intAt(i));
  char text[40];
  std::snprintf(text, sizeof text, "%.9g",
                toDouble(value.dtype, value.data() + i * int64_t(value.elementSize())));
  return text;
}

/// Nested brackets, row-major.
std::string text(const Value &value, int axis, int64_t &at) {
  if (axis == value.shape.rank())
    return elementText(value, at++);
  std::string result = "[";
  for (int64_t i = 0; i < value.shape[axis]; ++i)
    result += (i ? ", " : "") + text(value, axis + 1, at);
  return result + "]";
}

/// The mask of a memory operation in the shape of its region.
std::optional<Value> maskOf(Evaluator &evaluator, const sem::Expr &e, const View &view) {
  if (!e.hasMask)
    return {};
  return broadcastTo(evaluator.value(*e.operands.back()), view.shape(), e.range);
}

Value tileFor(const Value &tile, const View &view, const sem::Expr &e) {
  if (tile.dtype != view.memory->dtype)
    fail(Fault::Program,
         std::string(name(tile.dtype)) + " written to memory of " + std::string(name(view.memory->dtype)),
         e.range);
  return broadcastTo(tile, view.shape(), e.range);
}

} // namespace

Value Evaluator::load(const sem::Expr &e) {
  View region = view(*e.operands[0]);
  const DType dtype = region.memory->dtype;
  Value pad = e.operands.size() > 1 ? value(*e.operands[1]) : Value::scalar(dtype, 0);
  if (pad.dtype != dtype)
    fail(Fault::Program,
         "a pad of " + std::string(name(pad.dtype)) + " for memory of " + std::string(name(dtype)), e.range);
  std::optional<Value> mask = maskOf(*this, e, region);
  return loadView(region, pad, mask ? &*mask : nullptr, access(e));
}

void Evaluator::store(const sem::Expr &e) {
  View region = view(*e.operands[0]);
  Value tile = tileFor(value(*e.operands[1]), region, e);
  std::optional<Value> mask = maskOf(*this, e, region);
  storeView(region, tile, mask ? &*mask : nullptr, access(e));
}

Value Evaluator::atomic(const sem::Expr &e) {
  View region = view(*e.operands[0]);
  Value tile = tileFor(value(*e.operands[1]), region, e);
  std::optional<Value> mask = maskOf(*this, e, region);
  const Value *maskPointer = mask ? &*mask : nullptr;
  if (e.op == Op::AtomicCas) {
    Value next = tileFor(value(*e.operands[2]), region, e);
    return atomicView(region, maskPointer, access(e),
                      [&](uint64_t old, int64_t i) { return old == tile.bitsAt(i) ? next.bitsAt(i) : old; });
  }
  std::optional<BinaryOp> op = combinerOf(e.op);
  if (!op)
    return atomicView(region, maskPointer, access(e), [&](uint64_t, int64_t i) { return tile.bitsAt(i); });
  return atomicView(region, maskPointer, access(e), [&](uint64_t old, int64_t i) {
    uint64_t operand = tile.bitsAt(i), result = 0;
    if (!binary(*op, tile.dtype, {&old, 1}, {&operand, 1}, &result, 1))
      fail(Fault::Program, "this atomic is not defined for " + std::string(name(tile.dtype)), e.range);
    return result;
  });
}

void Evaluator::check(const sem::Expr &e) {
  Value condition = value(*e.operands[0]);
  for (int64_t i = 0; i < condition.count(); ++i) {
    if (condition.boolAt(i))
      continue;
    RunFault thrown;
    const bool isAssert = e.op == Op::Assert;
    thrown.fault.kind = isAssert ? Fault::AssertFailed : Fault::AssumeFailed;
    thrown.fault.message = isAssert ? "assertion failed" : "assumption does not hold";
    if (!e.text.empty())
      thrown.fault.message += ": " + e.text;
    thrown.fault.range = e.range;
    for (int axis = condition.shape.rank(); axis-- > 0;) {
      thrown.fault.element.insert(thrown.fault.element.begin(), i % condition.shape[axis]);
      i /= condition.shape[axis];
    }
    throw thrown;
  }
}

void Evaluator::print(const sem::Expr &e) {
  std::string line;
  size_t next = 0;
  for (size_t i = 0; i < e.text.size(); ++i) {
    if (e.text.compare(i, 2, "{}") != 0 || next == e.operands.size()) {
      line += e.text[i];
      continue;
    }
    int64_t at = 0;
    line += text(value(*e.operands[next++]), 0, at);
    ++i;
  }
  if (context.options.print)
    context.options.print(line);
}

} // namespace tilegym::interp
