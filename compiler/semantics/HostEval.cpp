// SPDX-License-Identifier: MIT
// A walk over the tree; every operation is ConstFold's.
#include "compiler/semantics/HostEval.h"
#include "compiler/semantics/HostExpr.h"

namespace tilegym::sem {
namespace {

/// A sum over more elements than any list has is a mistake, not work to do.
constexpr int64_t kMaxSum = int64_t(1) << 24;

Evaluated known(Constant value) { return {{value, {}}}; }
Evaluated failure(std::string text) { return {{std::nullopt, std::move(text)}}; }
Evaluated unknown(std::string what) { return {{std::nullopt, std::move(what)}, true}; }
Evaluated wrap(Folded folded) { return {std::move(folded)}; }

template <class T> const T *at(const std::vector<T> &list, int64_t i) {
  return i >= 0 && i < int64_t(list.size()) ? &list[size_t(i)] : nullptr;
}

class Evaluator {
public:
  explicit Evaluator(const HostValues &values) : values(values), locals(values.locals) {}
  Evaluated eval(const Expr &e);

private:
  Evaluated leaf(const Expr &e);
  Evaluated listDim(const Expr &e);
  Evaluated listSum(const Expr &e);

  const HostValues &values;
  std::vector<std::optional<Constant>> locals;
};

Evaluated Evaluator::leaf(const Expr &e) {
  switch (e.op) {
  case Op::Const:
    return known(e.constant);
  case Op::Local:
    if (auto v = at(locals, e.index); v && *v)
      return known(**v);
    return unknown("a local is not known");
  case Op::Dim:
    if (auto v = at(values.dims, e.index); v && *v != kDynamic)
      return known(Constant{*v});
    return unknown("a dim is not known");
  case Op::Scalar:
    if (auto v = at(values.scalars, e.index); v && *v)
      return known(isFloat(e.type.dtype) ? Constant{(*v)->asFloat()} : **v);
    return unknown("a scalar is not known");
  case Op::ListLen:
    if (auto v = at(values.lengths, e.index); v && *v >= 0)
      return known(Constant{*v});
    return unknown("the length of a list is not known");
  case Op::Present: {
    if (e.index < 0 || size_t(e.index) >= values.present.size())
      return unknown("presence is not known");
    return known(Constant{bool(values.present[size_t(e.index)])});
  }
  case Op::SizeOf:
  case Op::TypeCode:
    if (auto v = at(values.dtypes, e.index))
      return known(Constant{e.op == Op::SizeOf ? int64_t(sizeInBytes(*v)) : int64_t(*v)});
    return unknown("a dtype is not known");
  case Op::SmCount:
    return values.smCount > 0 ? known(Constant{values.smCount}) : unknown("the device is not known");
  default:
    return failure("not a host expression");
  }
}

Evaluated Evaluator::listDim(const Expr &e) {
  Evaluated element = eval(*e.operands[0]);
  if (!element)
    return element;
  auto list = at(values.lists, e.index);
  if (!list)
    return unknown("a list is not known");
  auto v = at(*list, element.value->asInt());
  return v ? known(Constant{*v})
           : failure("element " + std::to_string(element.value->asInt()) + " of a list of " +
                     std::to_string(list->size()));
}

Evaluated Evaluator::listSum(const Expr &e) {
  Evaluated lo = eval(*e.operands[0]);
  if (!lo)
    return lo;
  Evaluated hi = eval(*e.operands[1]);
  if (!hi)
    return hi;
  int64_t begin = lo.value->asInt(), end = hi.value->asInt();
  if (end > begin && uint64_t(end) - uint64_t(begin) > uint64_t(kMaxSum))
    return failure("a sum of more than " + std::to_string(kMaxSum) + " terms");
  size_t local = size_t(e.lambda->params[0]);
  if (locals.size() <= local)
    locals.resize(local + 1);
  std::optional<Constant> outer = locals[local];
  Evaluated total = known(Constant{int64_t(0)});
  for (int64_t i = begin; i < end && total; ++i) {
    locals[local] = Constant{i};
    Evaluated term = eval(*e.lambda->results[0]);
    total = term ? wrap(foldBinary(Op::Add, DType::Index, *total.value, *term.value)) : term;
  }
  locals[local] = outer;
  return total;
}

Evaluated Evaluator::eval(const Expr &e) {
  if (e.op == Op::ListDim)
    return listDim(e);
  if (e.op == Op::ListSum)
    return listSum(e);
  if (e.operands.empty())
    return leaf(e);
  std::vector<Constant> x;
  for (const ExprPtr &operand : e.operands) {
    Evaluated value = eval(*operand);
    if (!value)
      return value;
    x.push_back(*value.value);
  }
  DType dtype = e.operands[0]->type.dtype;
  if (e.op == Op::Convert) {
    if (e.exact && !fitsDType(x[0].asInt(), dtype, e.type.dtype))
      return failure(toString(x[0], dtype) + " does not fit in " + std::string(name(e.type.dtype)));
    return wrap(foldConvert(dtype, e.type.dtype, x[0], e.rounding, e.saturate));
  }
  if (e.op == Op::Select && x.size() == 3)
    return known(x[0].asBool() ? x[1] : x[2]);
  if (x.size() == 1)
    return wrap(foldUnary(e.op, dtype, x[0]));
  if (x.size() == 2)
    return wrap(foldBinary(e.op, dtype, x[0], x[1]));
  return failure("not a host expression");
}

} // namespace

Evaluated evaluateHost(const Expr &e, const HostValues &values) { return Evaluator(values).eval(e); }

HostValues knownValues(const OpModel &op, const Specialization &spec) {
  HostValues values;
  values.dims = spec.constDims;
  values.lists.resize(op.dims.size());
  values.scalars.resize(op.scalars.size());
  for (size_t i = 0; i < op.scalars.size(); ++i)
    if (op.scalars[i].isConst)
      values.scalars[i] = spec.consts[i];
  values.dtypes = spec.dtypes;
  values.present = spec.present;
  values.lengths.assign(op.tensors.size(), kDynamic);
  return values;
}

static ExprPtr foldKnown(const ExprPtr &e, const HostValues &values) {
  if (e->op == Op::Const)
    return e;
  if (Evaluated value = evaluateHost(*e, values))
    return makeConst(e->type.dtype, *value.value, e->range);
  auto copy = std::make_shared<Expr>(*e);
  for (ExprPtr &operand : copy->operands)
    operand = foldKnown(operand, values);
  // A condition known in part: false & x, true | x, and the side that decides.
  if ((e->op == Op::And || e->op == Op::Or) && isBool(e->type.dtype))
    for (int i = 0; i < 2; ++i)
      if (const ExprPtr &side = copy->operands[size_t(i)]; side->op == Op::Const)
        return side->constant.asBool() == (e->op == Op::Or) ? side : copy->operands[size_t(1 - i)];
  if (e->lambda) {
    auto lambda = std::make_shared<Lambda>(*e->lambda);
    for (ExprPtr &result : lambda->results)
      result = foldKnown(result, values);
    copy->lambda = lambda;
  }
  return copy;
}

ExprPtr specializeHost(const ExprPtr &e, const OpModel &op, const Specialization &spec) {
  return e ? foldKnown(e, knownValues(op, spec)) : e;
}

} // namespace tilegym::sem
