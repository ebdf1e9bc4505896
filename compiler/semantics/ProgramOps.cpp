// SPDX-License-Identifier: MIT
// The grid and a block's place in it; lists and presence; facts, checks and printing.
#include "compiler/semantics/BodyChecker.h"

namespace tilegym::sem {

Value BodyChecker::gridOp(const ast::Call &e) {
  if (!inKernel() || !inlining.empty()) {
    error(e.range, "`grid` belongs at the head of a kernel");
    return {};
  }
  if (gridSeen) {
    if (!kernel->grid.empty())
      error(e.range, "`grid` is said twice");
    return {};
  }
  gridSeen = true;
  for (const ast::Arg &arg : e.args)
    if (ExprPtr extent = checkHost(arg.value.get(), "a grid extent"))
      kernel->grid.push_back(extent);
  return Value::nothing();
}

Value BodyChecker::programOp(Builtin id, const BoundArguments &args, SourceRange range) {
  auto blockOnly = [&] {
    if (inKernel() && block && !pureContext && gridSeen)
      return true;
    error(range, "`" + builtins()[size_t(id)].name + "` belongs to the body of a kernel, after `grid`");
    return false;
  };
  auto axisValue = [&](Op operation, int64_t axis) -> Operand {
    auto expr = make(operation, scalarType(DType::Index), {}, range);
    expr->index = axis;
    return {expr};
  };
  switch (id) {
  case Builtin::block_:
  case Builtin::num_blocks_: {
    if (!blockOnly())
      return {};
    auto axis = checkConstInt(args.values[0], "the axis");
    if (!axis)
      return {};
    int64_t rank = int64_t(kernel->grid.size());
    if (*axis < 0 || *axis >= rank) {
      error(args.values[0]->range,
            "the grid has no axis " + std::to_string(*axis) + ": it has " + std::to_string(rank));
      return {};
    }
    return axisValue(id == Builtin::block_ ? Op::BlockId : Op::NumBlocks, *axis);
  }
  case Builtin::blocks_: {
    if (!blockOnly())
      return {};
    std::vector<Value> positions;
    for (size_t axis = 0; axis < kernel->grid.size(); ++axis)
      positions.push_back(axisValue(Op::BlockId, int64_t(axis)));
    return positions.size() == 1 ? positions[0] : Value::tuple(std::move(positions));
  }
  case Builtin::swizzle_:
    return blockOnly() ? swizzleOp(args, range) : Value();
  case Builtin::sm_count_:
    if (inReference()) {
      error(range, "a reference does not depend on the device");
      return {};
    }
    return axisValue(Op::SmCount, 0);
  case Builtin::len_: {
    Value list = check(args.values[0]);
    if (!list)
      return {};
    if (list.kind != Value::ListTensor) {
      error(args.values[0]->range, "`len` counts the tensors of a list",
            "extents of a tensor are the dims of its declaration");
      return {};
    }
    return axisValue(Op::ListLen, list.id);
  }
  default: { // present
    Value tensor = check(args.values[0]);
    if (!tensor)
      return {};
    bool isTensor =
        tensor.kind == Value::Absent || (tensor.kind == Value::Data && tensor.data.expr->op == Op::Tensor &&
                                         !tensor.data.expr->isKernelParam);
    int64_t tensorId = tensor.kind == Value::Absent ? tensor.id : isTensor ? tensor.data.expr->index : -1;
    if (tensorId < 0 || !op.tensors[size_t(tensorId)].optional) {
      error(args.values[0]->range, "`present` asks of an optional tensor", "declare it with `?`: w: T[N]?");
      return {};
    }
    bool given = size_t(tensorId) >= spec.present.size() || spec.present[size_t(tensorId)];
    return Operand{makeConst(DType::Bool, Constant{given}, range)};
  }
  }
}

/// Blocks walk `group` rows of tiles column by column, so that neighbours in time share rows and columns.
Value BodyChecker::swizzleOp(const BoundArguments &args, SourceRange range) {
  Operand x[4];
  static constexpr const char *roles[] = {"the id of `swizzle`", "the rows of `swizzle`",
                                          "the columns of `swizzle`", "the group of `swizzle`"};
  for (size_t i = 0; i < 4; ++i)
    if (x[i] = bind(ops.requireIndex(checkValue(args.values[i], roles[i]), roles[i]), "swizzle", range);
        !x[i])
      return {};
  if (x[3].constant() && x[3].constant()->asInt() <= 0) {
    error(args.values[3]->range, "the group of `swizzle` is " + std::to_string(x[3].constant()->asInt()) +
                                     ", expected a positive one");
    return {};
  }
  using B = ast::BinaryOp;
  auto binary = [&](B operation, const Operand &a, const Operand &b) {
    return ops.binary(operation, a, b, range);
  };
  Operand width = bind(binary(B::Mul, x[3], x[2]), "width", range);
  Operand first = bind(binary(B::Mul, binary(B::FloorDiv, x[0], width), x[3]), "first", range);
  Operand left =
      bind(ops.elementwise(Op::Min, "`swizzle`", {binary(B::Sub, x[1], first), x[3]}, range), "rows", range);
  // Where there is a block there is a row, which the compiler does not know: without it no index would be known to be none below 0.
  Operand one{makeConst(DType::Index, Constant{int64_t(1)}, range)};
  Operand rows = bind(ops.elementwise(Op::Max, "`swizzle`", {left, one}, range), "rows", range);
  Operand rest = bind(binary(B::Mod, x[0], width), "rest", range);
  Value i = binary(B::Add, first, binary(B::Mod, rest, rows)), j = binary(B::FloorDiv, rest, rows);
  if (!i || !j)
    return {};
  return Value::tuple({i, j});
}

/// The condition as written, for what a failed check says.
static std::string sourceText(SourceRange range) {
  if (!range.file || range.end > range.file->text().size() || range.begin > range.end)
    return {};
  return std::string(range.file->text().substr(range.begin, range.end - range.begin));
}

Value BodyChecker::factsOp(Builtin id, const BoundArguments &args, const ast::Call &e) {
  if (id == Builtin::inline_ptx_)
    return inKernel() ? inlinePtx(args, e) : (error(e.range, "`inline_ptx` belongs to kernels"), Value());
  std::string what = quoted(builtins()[size_t(id)].name);
  if (kind == Kind::Plan) {
    error(e.range, what + " does not stand in a plan",
          "conditions on a call are written in `where` or `when`");
    return {};
  }
  if (!mayHaveEffects(e.range, what))
    return {};
  if (id == Builtin::print_) {
    auto format = checkText(args.values[0], "the format of `print`");
    std::vector<ExprPtr> values;
    for (const ast::Expr *arg : args.variadic) {
      Operand x = ops.settle(checkValue(arg, "`print`"));
      if (!x)
        return {};
      values.push_back(x.expr);
    }
    if (!format)
      return {};
    size_t holes = 0;
    for (size_t at = format->find("{}"); at != std::string::npos; at = format->find("{}", at + 2))
      ++holes;
    if (holes != values.size()) {
      error(args.values[0]->range, "`print` has " + std::to_string(holes) + " places {} for " +
                                       std::to_string(values.size()) + " values");
      return {};
    }
    auto expr = make(Op::Print, Type(), std::move(values), e.range);
    expr->text = *format;
    emit(Stmt::Eval, e.range).value = expr;
    return Value::nothing();
  }
  Operand condition = ops.requireBool(checkValue(args.values[0], what), what);
  std::string text = sourceText(args.values[0]->range);
  if (id == Builtin::assert_ && args.values[1]) {
    auto given = checkText(args.values[1], "the text of `assert`");
    if (!given)
      return {};
    text = *given;
  }
  if (!condition)
    return {};
  auto expr = make(id == Builtin::assert_ ? Op::Assert : Op::Assume, Type(), {condition.expr}, e.range);
  expr->text = text;
  emit(Stmt::Eval, e.range).value = expr;
  return Value::nothing();
}

} // namespace tilegym::sem
