// SPDX-License-Identifier: MIT
// Elementwise builtins: which dtypes each takes; select with a constant condition; bitcast and sizeof.
#include "compiler/semantics/BodyChecker.h"

namespace tilegym::sem {

namespace {
enum class Takes : uint8_t { Floats, Integers, Numbers };

Takes takes(Op operation) {
  switch (operation) {
  case Op::Abs:
  case Op::Min:
  case Op::Max:
  case Op::Pow:
    return Takes::Numbers;
  case Op::Pow2Ceil:
  case Op::CDiv:
    return Takes::Integers;
  default:
    return Takes::Floats;
  }
}
} // namespace

Value BodyChecker::elementwise(const BuiltinInfo &info, const BoundArguments &args, SourceRange range) {
  std::string what = quoted(info.name);
  Takes wanted = takes(info.operation);
  std::vector<Operand> operands;
  bool failed = false;
  for (const ast::Expr *arg : args.values) {
    if (!arg)
      continue;
    Operand x = checkValue(arg, what);
    // exp(1) means exp(1.0); abs(1) stays an integer.
    if (x && x.literal && wanted == Takes::Floats && isInt(x.dtype()))
      x = ops.floatLiteral(x.constant()->asFloat(), x.expr->range);
    if (!hasArithmetic(x, what, arg->range))
      x = {};
    if (x) {
      bool good = wanted == Takes::Floats     ? isFloat(x.dtype())
                  : wanted == Takes::Integers ? isInt(x.dtype())
                                              : !isBool(x.dtype());
      if (!good) {
        const char *need = wanted == Takes::Floats     ? "floats"
                           : wanted == Takes::Integers ? "integers"
                                                       : "numbers";
        std::string help = wanted == Takes::Floats && isInt(x.dtype())       ? "convert it: f32(x)"
                           : wanted == Takes::Integers && isFloat(x.dtype()) ? "convert it: i32(x)"
                           : isBool(x.dtype()) ? "convert it: i32(x), or use select(cond, a, b)"
                                               : "";
        error(arg->range, what + " needs " + need + ", found " + toString(x.type()), help);
        x = {};
      }
    }
    failed = failed || !x;
    operands.push_back(x);
  }
  if (failed)
    return {};
  switch (operands.size()) {
  case 1:
    return ops.elementwise(info.operation, what, {operands[0]}, range);
  case 2:
    if (info.operation == Op::Pow)
      return ops.binary(ast::BinaryOp::Pow, operands[0], operands[1], range);
    return ops.elementwise(info.operation, what, {operands[0], operands[1]}, range);
  default:
    return ops.elementwise(info.operation, what, {operands[0], operands[1], operands[2]}, range);
  }
}

Value BodyChecker::selectOp(const BoundArguments &args, SourceRange range) {
  Operand condition =
      ops.requireBool(checkValue(args.values[0], "the condition of `select`"), "the condition of `select`");
  if (!condition)
    return {};
  const Constant *known = condition.constant();
  Operand branches[2];
  for (int i = 0; i < 2; ++i) {
    // What a constant rules out is checked too, but may use optional tensors that are not there.
    bool dead = known && known->asBool() != (i == 0);
    deadDepth += dead;
    Block nowhere, *live = block;
    if (dead && block)
      block = &nowhere; // nor does it do anything
    branches[i] = checkValue(args.values[size_t(i) + 1], "`select`");
    block = live;
    deadDepth -= dead;
  }
  if (known) {
    const Operand &taken = branches[known->asBool() ? 0 : 1], &other = branches[known->asBool() ? 1 : 0];
    if (!other || !taken)
      return taken;
    // Scalars fold in a reference too, and a literal stays one: select(offset, 1, 0) takes the dtype of what it meets.
    if (taken.literal && other.literal)
      return taken;
    if (taken.type().isTile() && other.type().isTile() && taken.type().isScalar() &&
        other.type().isScalar()) {
      Operand *both[] = {&branches[0], &branches[1]};
      return ops.unifyDTypes(both, "`select`", range) ? Value(taken) : Value();
    }
  }
  return ops.select(condition, branches[0], branches[1], range);
}

Value BodyChecker::conversionOp(Builtin id, const BoundArguments &args, SourceRange range) {
  if (id == Builtin::sizeof_) {
    auto dtype = checkDType(args.values[0], "the argument of `sizeof`");
    if (!dtype)
      return {};
    return Operand{makeConst(DType::Index, Constant{int64_t(sizeInBytes(*dtype))}, range)};
  }
  Operand x = ops.settle(checkValue(args.values[0], "`bitcast`"));
  auto to = checkDType(args.values[1], "the dtype of `bitcast`");
  if (!x || !to)
    return {};
  if (isBool(*to) || isBool(x.dtype()) || isIndex(*to) || isIndex(x.dtype())) {
    error(range,
          "`bitcast` from " + std::string(name(x.dtype())) + " to " + std::string(name(*to)) +
              ": bool and index have no fixed bits",
          "convert to an integer of a size first: i32(x)");
    return {};
  }
  std::vector<int64_t> shape = x.type().shape;
  int64_t from = sizeInBytes(x.dtype()), into = sizeInBytes(*to);
  if (from != into) {
    if (shape.empty()) {
      error(range, "`bitcast` of a scalar from " + std::string(name(x.dtype())) + " to " +
                       std::string(name(*to)) + ": the sizes differ");
      return {};
    }
    int64_t &last = shape.back();
    if (last != kDynamic) {
      if (last * from % into != 0) {
        error(range, "`bitcast` of " + toString(x.type()) + " to " + std::string(name(*to)) +
                         ": the last axis does not fill whole elements");
        return {};
      }
      last = last * from / into;
    }
  }
  return Operand{make(Op::Bitcast, tileType(*to, shape), {x.expr}, range)};
}

} // namespace tilegym::sem
