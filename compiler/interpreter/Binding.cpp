// SPDX-License-Identifier: MIT
// Dims from arguments, checks of a call, shapes of outputs, and the host expressions that they need.
#include "compiler/interpreter/Binding.h"
#include <algorithm>

namespace tilegym::interp {

using sem::kDynamic;

namespace {

class Binder {
public:
  Binder(const sem::OpModel &op, const sem::Specialization &spec, const Arguments &args)
      : op(op), spec(spec), args(args) {
    bound.dims.values.assign(op.dims.size(), kDynamic);
    bound.dims.lists.resize(op.dims.size());
    bound.groups.resize(op.dims.size());
    listBound.resize(op.dims.size());
  }

  BoundDims bind() {
    for (size_t t = 0; t < op.tensors.size(); ++t)
      if (op.tensors[t].role != sem::Role::Output)
        bindTensor(t);
    // A dim that only ever met extent 1 where it may broadcast is 1.
    for (size_t d = 0; d < op.dims.size(); ++d)
      if (bound.dims.values[d] == kDynamic && broadcastOnly(int64_t(d)))
        bound.dims.values[d] = 1;
    for (size_t d = 0; d < op.dims.size() && d < spec.constDims.size(); ++d)
      if (spec.constDims[d] != kDynamic && bound.dims.values[d] != spec.constDims[d]) {
        if (bound.dims.values[d] != kDynamic)
          fail(Fault::Arguments, op.dims[d].name + " is " + std::to_string(bound.dims.values[d]) +
                                     ", but this variant is for " + std::to_string(spec.constDims[d]));
        bound.dims.values[d] = spec.constDims[d];
      }
    return std::move(bound);
  }

private:
  const sem::OpModel &op;
  const sem::Specialization &spec;
  const Arguments &args;
  BoundDims bound;
  std::vector<bool> listBound; ///< by dim id: a list has said how many there are

  bool broadcastOnly(int64_t dim) const {
    for (const auto &tensor : op.tensors)
      for (const auto &use : tensor.dims)
        if (use.dim == dim && use.orOne && tensor.role != sem::Role::Output)
          return true;
    return false;
  }

  void bindTensor(size_t t) {
    const sem::TensorParam &param = op.tensors[t];
    const auto &given = args.tensors.at(t);
    if (!spec.present.at(t)) {
      if (!given.empty())
        fail(Fault::Arguments, "'" + param.name + "' was given to a variant without it", param.range);
      return;
    }
    if (given.empty() && !param.isList)
      fail(Fault::Arguments, "'" + param.name + "' was not given", param.range);
    if (!param.isList && given.size() > 1)
      fail(Fault::Arguments,
           "'" + param.name + "' is one tensor, " + std::to_string(given.size()) + " were given",
           param.range);
    if (param.isList)
      for (const auto &use : param.dims)
        if (use.dim >= 0 && op.dims[size_t(use.dim)].perElement)
          bindList(param, size_t(use.dim), given.size());
    for (size_t g = 0; g < given.size(); ++g)
      bindOne(param, given[g], spec.dtypes.at(size_t(param.typeVar)), g);
  }

  void bindList(const sem::TensorParam &param, size_t dim, size_t length) {
    auto &list = bound.dims.lists[dim];
    if (!listBound[dim])
      list.assign(length, kDynamic);
    listBound[dim] = true;
    if (list.size() != length)
      fail(Fault::Arguments,
           "list '" + param.name + "' has " + std::to_string(length) + " tensors, where dim " +
               op.dims[dim].name + " belongs to lists of " + std::to_string(list.size()),
           param.range);
  }

  void bindOne(const sem::TensorParam &param, const HostTensor &tensor, DType dtype, size_t element) {
    if (tensor.dtype != dtype)
      fail(Fault::Arguments,
           "'" + param.name + "' is " + std::string(name(tensor.dtype)) + ", expected " +
               std::string(name(dtype)),
           param.range);
    if (tensor.strides.size() != tensor.shape.size() || !tensor.isInsideBuffer())
      fail(Fault::Arguments, "'" + param.name + "' reaches outside of its buffer", param.range);
    const size_t written = param.dims.size();
    const bool hasGroup = written > 0 && param.dims[0].isGroup;
    if (hasGroup ? tensor.shape.size() + 1 < written : tensor.shape.size() != written)
      fail(Fault::Arguments,
           "'" + param.name + "' has rank " + std::to_string(tensor.shape.size()) + ", expected " +
               (hasGroup ? "at least " + std::to_string(written - 1) : std::to_string(written)),
           param.range);
    const size_t leading = hasGroup ? tensor.shape.size() + 1 - written : 0;
    if (hasGroup)
      bindGroup(param, param.dims[0], Dims(tensor.shape.begin(), tensor.shape.begin() + ptrdiff_t(leading)));
    for (size_t i = hasGroup ? 1 : 0; i < written; ++i) {
      const sem::DimUse &use = param.dims[i];
      if (use.dim < 0)
        continue; // an expression: checked when all dims are known
      const size_t axis = hasGroup ? leading + i - 1 : i;
      const int64_t extent = tensor.shape[axis];
      const size_t dim = size_t(use.dim);
      int64_t &value = op.dims[dim].perElement ? bound.dims.lists[dim].at(element) : bound.dims.values[dim];
      if (use.orOne && extent == 1)
        continue;
      if (value == kDynamic)
        value = extent;
      else if (value != extent)
        fail(Fault::Arguments,
             "'" + param.name + "' has extent " + std::to_string(extent) + " on axis " +
                 std::to_string(axis) + ", where " + op.dims[dim].name + " is " + std::to_string(value),
             param.range);
    }
  }

  void bindGroup(const sem::TensorParam &param, const sem::DimUse &use, Dims extents) {
    const size_t dim = size_t(use.dim);
    if (bound.dims.values[dim] == kDynamic) {
      bound.dims.values[dim] = numElements(extents);
      bound.groups[dim] = std::move(extents);
    } else if (bound.groups[dim] != extents) {
      fail(Fault::Arguments,
           "'" + param.name + "' has leading dims " + toString(Shape(extents)) + ", where " +
               op.dims[dim].name + " stands for " + toString(Shape(bound.groups[dim])),
           param.range);
    }
  }
};

size_t localsOfBlock(const sem::Block &block) {
  size_t most = 0;
  for (const auto &stmt : block) {
    most = std::max(most, size_t(stmt->index + 1));
    for (const auto &e : {stmt->value, stmt->view, stmt->lo, stmt->hi, stmt->step})
      if (e)
        most = std::max(most, localsOf(*e));
    for (const auto *inner : {&stmt->condBlock, &stmt->body, &stmt->elseBody})
      most = std::max(most, localsOfBlock(*inner));
  }
  return most;
}

} // namespace

size_t localsOf(const sem::Expr &e) {
  size_t most = e.op == sem::Op::Local ? size_t(e.index + 1) : 0;
  for (const auto &operand : e.operands)
    most = std::max(most, localsOf(*operand));
  if (e.lambda) {
    for (int64_t param : e.lambda->params)
      most = std::max(most, size_t(param + 1));
    most = std::max(most, localsOfBlock(e.lambda->body));
    for (const auto &result : e.lambda->results)
      most = std::max(most, localsOf(*result));
  }
  return most;
}

std::vector<sem::Constant> scalarsFor(const sem::OpModel &op, const sem::Specialization &interface,
                                      const Arguments &args) {
  std::vector<sem::Constant> scalars(op.scalars.size());
  for (size_t s = 0; s < scalars.size(); ++s) {
    if (op.scalars[s].isConst && s < interface.consts.size())
      scalars[s] = interface.consts[s];
    else if (s < args.scalars.size())
      scalars[s] = args.scalars[s];
    else if (op.scalars[s].defaultValue)
      scalars[s] = *op.scalars[s].defaultValue;
    else
      fail(Fault::Arguments, "scalar '" + op.scalars[s].name + "' was not given", op.scalars[s].range);
  }
  return scalars;
}

Value evaluateHostOrFail(const sem::OpModel &op, const sem::Specialization &interface, const DimValues &dims,
                         const std::vector<sem::Constant> &scalars, const Arguments &args, const sem::Expr &e,
                         int64_t smCount) {
  RunContext context{op, interface, dims, scalars, args.tensors, {}, {}, {}};
  context.options.smCount = smCount;
  Evaluator evaluator(context, nullptr, localsOf(e));
  return evaluator.value(e);
}

BoundDims bindOrFail(const sem::OpModel &op, const sem::Specialization &interface, const Arguments &args) {
  if (args.tensors.size() != op.tensors.size() || interface.present.size() != op.tensors.size())
    fail(Fault::Arguments, std::to_string(args.tensors.size()) + " tensors were given to an op with " +
                               std::to_string(op.tensors.size()));
  BoundDims bound = Binder(op, interface, args).bind();
  const auto scalars = scalarsFor(op, interface, args);
  auto host = [&](const sem::ExprPtr &e) {
    return evaluateHostOrFail(op, interface, bound.dims, scalars, args, *e, 3);
  };
  for (size_t t = 0; t < op.tensors.size(); ++t) {
    const sem::TensorParam &param = op.tensors[t];
    if (param.role == sem::Role::Output)
      continue;
    for (const HostTensor &tensor : args.tensors[t])
      for (size_t i = 0; i < param.dims.size(); ++i) {
        const sem::DimUse &use = param.dims[i];
        if (use.dim >= 0)
          continue;
        const int64_t expected = host(use.expr).asInt();
        const size_t axis = i + tensor.shape.size() - param.dims.size();
        if (tensor.shape[axis] != expected && !(use.orOne && tensor.shape[axis] == 1))
          fail(Fault::Arguments,
               "'" + param.name + "' has extent " + std::to_string(tensor.shape[axis]) + " on axis " +
                   std::to_string(axis) + ", expected " + std::to_string(expected),
               use.range);
      }
  }
  for (const sem::Check &check : op.checks)
    if (!host(check.condition).asBool())
      fail(Fault::Arguments, "the call is refused: " + check.message, check.range);
  return bound;
}

std::vector<std::vector<Dims>> outputShapesOrFail(const sem::OpModel &op,
                                                  const sem::Specialization &interface, const Arguments &args,
                                                  const BoundDims &bound) {
  const auto scalars = scalarsFor(op, interface, args);
  std::vector<std::vector<Dims>> shapes(op.tensors.size());
  for (size_t t = 0; t < op.tensors.size(); ++t) {
    const sem::TensorParam &param = op.tensors[t];
    if (param.role != sem::Role::Output || !interface.present[t])
      continue;
    size_t length = 1;
    if (param.isList)
      for (const auto &use : param.dims)
        if (use.dim >= 0 && op.dims[size_t(use.dim)].perElement)
          length = bound.dims.lists[size_t(use.dim)].size();
    for (size_t g = 0; g < length; ++g) {
      Dims shape;
      for (const sem::DimUse &use : param.dims) {
        if (use.isGroup) {
          const Dims &group = bound.groups[size_t(use.dim)];
          shape.insert(shape.end(), group.begin(), group.end());
        } else if (use.dim >= 0) {
          const size_t dim = size_t(use.dim);
          shape.push_back(op.dims[dim].perElement ? bound.dims.lists[dim].at(g) : bound.dims.values[dim]);
        } else {
          shape.push_back(evaluateHostOrFail(op, interface, bound.dims, scalars, args, *use.expr, 3).asInt());
        }
        if (!shape.empty() && shape.back() < 0)
          fail(Fault::Arguments,
               "output '" + param.name + "' would have an extent of " + std::to_string(shape.back()),
               use.range);
      }
      shapes[t].push_back(std::move(shape));
    }
  }
  return shapes;
}

} // namespace tilegym::interp
