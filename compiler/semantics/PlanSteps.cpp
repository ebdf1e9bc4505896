// SPDX-License-Identifier: MIT
// A plan's lets are put in their places, so that all that is left are expressions over dims and scalars.
#include "compiler/semantics/PlanSteps.h"
#include "compiler/semantics/Operators.h"
#include <algorithm>
#include <cassert>
#include <map>

namespace tilegym::sem {
namespace {

using Replacements = std::map<std::pair<Op, int64_t>, ExprPtr>;

/// The expression with leaves (by operation and index) replaced.
ExprPtr replaced(const ExprPtr &e, const Replacements &by) {
  if (!e)
    return e;
  if (auto found = by.find({e->op, e->index}); found != by.end())
    return found->second;
  auto copy = std::make_shared<Expr>(*e);
  for (ExprPtr &operand : copy->operands)
    operand = replaced(operand, by);
  for (IndexItem &item : copy->items) {
    item.first = replaced(item.first, by);
    item.second = replaced(item.second, by);
  }
  return copy;
}

ExprPtr node(Op op, std::vector<ExprPtr> operands, SourceRange range) {
  auto e = std::make_shared<Expr>();
  e->op = op;
  e->type = scalarType(DType::Index);
  e->operands = std::move(operands);
  e->range = range;
  return e;
}
ExprPtr leaf(Op op, int64_t id, SourceRange range) {
  auto e = std::make_shared<Expr>();
  e->op = op;
  e->type = scalarType(DType::Index);
  e->index = id;
  e->range = range;
  return e;
}

/// The host computes integers as index and floats as f64: what would round or wrap in between is not for it.
bool isExact(const Expr &e) {
  if (e.operands.empty())
    return e.op != Op::Local && e.op != Op::KernelParam;
  if (e.op == Op::Convert && e.operands[0]->operands.empty())
    return isExact(*e.operands[0]);
  if (!isIndex(e.type.dtype) && !isBool(e.type.dtype))
    return false;
  return std::all_of(e.operands.begin(), e.operands.end(), [](const ExprPtr &o) { return isExact(*o); });
}

void touch(const ExprPtr &e, std::vector<bool> &touched) {
  if (!e)
    return;
  if (e->op == Op::Tensor && !e->isKernelParam)
    touched[size_t(e->index)] = true;
  for (const ExprPtr &operand : e->operands)
    touch(operand, touched);
  for (const IndexItem &item : e->items) {
    touch(item.first, touched);
    touch(item.second, touched);
  }
}
void touch(const Block &block, std::vector<bool> &touched) {
  for (const StmtPtr &stmt : block) {
    for (const ExprPtr &e : {stmt->value, stmt->view, stmt->lo, stmt->hi, stmt->step})
      touch(e, touched);
    touch(stmt->condBlock, touched);
    touch(stmt->body, touched);
    touch(stmt->elseBody, touched);
  }
}

class StepMaker {
public:
  StepMaker(const OpModel &op, const Plan &plan, DiagnosticSink &sink) : op(op), plan(plan), sink(sink) {}

  std::optional<PlanSteps> run() {
    size_t errors = sink.numErrors();
    for (const TensorParam &tensor : op.tensors)
      if (tensor.isList)
        unsupported(tensor.range, "a plan of an op on lists");
    for (const StmtPtr &stmt : plan.block) {
      if (stmt->kind == Stmt::Let)
        lets[{Op::Local, stmt->index}] = replaced(stmt->value, lets);
      else if (stmt->kind == Stmt::Launch)
        addLaunch(plan.launches[size_t(stmt->index)], stmt->range);
      else // the checker lets nothing else into a plan
        assert(stmt->kind == Stmt::Scratch);
    }
    for (const ScratchBuffer &buffer : plan.scratch) {
      ScratchBuffer made = buffer;
      for (ExprPtr &extent : made.dims)
        extent = hostValue(extent);
      steps.scratch.push_back(std::move(made));
    }
    return sink.numErrors() == errors ? std::optional(std::move(steps)) : std::nullopt;
  }

private:
  void unsupported(SourceRange range, const std::string &what) {
    sink.error(range, "the target cannot lower " + what + " yet", "it can be checked and interpreted");
  }

  ExprPtr hostValue(const ExprPtr &e) {
    ExprPtr value = replaced(e, lets);
    if (!isExact(*value))
      unsupported(value->range, "arithmetic of a plan on what is no index");
    return value;
  }

  void addLaunch(const Launch &launch, SourceRange range) {
    const Kernel &kernel = *launch.kernel;
    auto model = std::make_shared<OpModel>(op);
    PlanLaunch made;
    made.spec = kernel.spec;
    keepKernel(*model, made.spec);
    std::vector<bool> touched(op.tensors.size());
    touch(kernel.block, touched);
    for (size_t id = 0; id < touched.size(); ++id)
      model->tensors[id].isTouched = touched[id];
    Replacements params;
    for (size_t i = 0; i < kernel.params.size(); ++i)
      if (!kernel.params[i].isTensor)
        params[{Op::KernelParam, int64_t(i)}] = addNumber(*model, made, kernel, i, launch.args[i]);
    for (size_t i = 0; i < kernel.params.size(); ++i)
      if (kernel.params[i].isTensor)
        addTensor(*model, made, kernel.params[i], launch, i, params, range);
    made.model = std::move(model);
    steps.launches.push_back(std::move(made));
  }

  /// Guard and tune section are the plan's: they hold for its launches.
  void keepKernel(OpModel &model, Specialization &spec) const {
    const KernelModel &from = op.kernels[size_t(plan.spec.kernel)];
    KernelModel kernel = op.kernels[size_t(spec.kernel)];
    kernel.guard = from.guard;
    kernel.tune = from.tune;
    kernel.launchedOnly = false;
    std::fill(kernel.derived.begin(), kernel.derived.end(), nullptr); // they have their values
    model.kernels = {std::move(kernel)};
    model.checks.clear();
    model.isLaunch = true;
    spec.kernel = 0;
  }

  int64_t addType(OpModel &model, Specialization &spec, DType dtype) const {
    model.typeVars.push_back({"", {dtype}, false});
    spec.dtypes.push_back(dtype);
    return int64_t(model.typeVars.size()) - 1;
  }

  /// A scalar parameter becomes a scalar; a name that an axis binds becomes a dim, and compile-time where its value is.
  ExprPtr addNumber(OpModel &model, PlanLaunch &made, const Kernel &kernel, size_t i, const LaunchArg &arg) {
    const KernelParam &param = kernel.params[i];
    ExprPtr value = hostValue(arg.value);
    if (i < kernel.params.size() - kernel.boundNames) {
      ScalarParam scalar;
      scalar.name = param.name;
      scalar.typeVar = addType(model, made.spec, param.dtype);
      model.scalars.push_back(scalar);
      model.arguments.push_back({false, int64_t(model.scalars.size()) - 1});
      made.spec.consts.emplace_back();
      made.scalars.push_back(value);
      return leaf(Op::Scalar, int64_t(model.scalars.size()) - 1, value->range);
    }
    DimVar dim;
    dim.name = param.name;
    int64_t fixed = kDynamic;
    if (value->op == Op::Const)
      dim.choices = {fixed = value->constant.asInt()};
    model.dims.push_back(dim);
    made.spec.constDims.push_back(fixed);
    made.dims.push_back(value);
    return leaf(Op::Dim, int64_t(model.dims.size()) - 1, value->range);
  }

  void addTensor(OpModel &model, PlanLaunch &made, const KernelParam &param, const Launch &launch, size_t i,
                 const Replacements &params, SourceRange range) {
    const LaunchArg &arg = launch.args[i];
    TensorParam tensor;
    tensor.name = param.name;
    tensor.typeVar = addType(model, made.spec, param.dtype);
    tensor.range = range;
    bool isShared = std::any_of(launch.args.begin(), launch.args.end(), [&](const LaunchArg &other) {
      return &other != &arg && other.kind == LaunchArg::ScratchRef && other.scratch == arg.scratch;
    });
    // Only what nothing writes under another name during the launch may be read as what does not change.
    bool isConstant = arg.kind == LaunchArg::ScratchRef && !arg.isWritten && !isShared;
    tensor.role = isConstant ? Role::Input : Role::Inout;
    int64_t id = int64_t(model.tensors.size());
    for (size_t axis = 0; axis < param.dims.size(); ++axis) {
      DimUse use;
      use.expr = replaced(param.dims[axis], params);
      use.range = range;
      if (use.expr->op == Op::Dim && !model.dims[size_t(use.expr->index)].isGroup) {
        use.dim = use.expr->index;
        DimVar &dim = model.dims[size_t(use.dim)];
        if (dim.bindTensor < 0) {
          dim.bindTensor = id;
          dim.bindAxis = int64_t(axis);
        }
      }
      tensor.dims.push_back(std::move(use));
    }
    model.tensors.push_back(std::move(tensor));
    model.arguments.push_back({true, id});
    made.spec.present.push_back(true);
    PlanTensor given;
    given.range = range;
    if (arg.kind == LaunchArg::ScratchRef)
      given.scratch = arg.scratch;
    else if (!partOf(replaced(arg.value, lets), given))
      unsupported(arg.value->range, "this part of a tensor as an argument of a launch");
    made.tensors.push_back(std::move(given));
  }

  /// A view of an op's tensor, axis by axis. False where it is none that the host can make.
  bool partOf(const ExprPtr &view, PlanTensor &part) {
    if (view->op == Op::Tensor && !view->isKernelParam) {
      const TensorParam &tensor = op.tensors[size_t(view->index)];
      part.tensor = view->index;
      for (size_t axis = 0; axis < tensor.dims.size(); ++axis) {
        const DimUse &use = tensor.dims[axis];
        if (use.isGroup || use.orOne)
          return false; // several axes, or one whose extent is not the dim's
        part.axes.push_back(
            {int64_t(axis), false, nullptr, use.dim >= 0 ? leaf(Op::Dim, use.dim, view->range) : use.expr});
      }
      return true;
    }
    if (view->operands.empty() || !partOf(view->operands[0], part))
      return false;
    std::vector<PlanAxis> kept, points;
    for (const PlanAxis &axis : part.axes)
      (axis.isPoint ? points : kept).push_back(axis);
    std::vector<PlanAxis> result;
    if (view->op == Op::ViewPermute) {
      for (int64_t axis : view->ints)
        result.push_back(kept[size_t(axis)]);
    } else if (view->op == Op::ViewIndex) {
      for (size_t i = 0; i < view->items.size(); ++i)
        if (i >= kept.size() || !indexAxis(kept[i], view->items[i]))
          return false;
      for (const PlanAxis &axis : kept)
        (axis.isPoint ? points : result).push_back(axis);
    } else {
      return false;
    }
    result.insert(result.end(), points.begin(), points.end());
    part.axes = std::move(result);
    return true;
  }

  bool indexAxis(PlanAxis &axis, const IndexItem &item) {
    auto moved = [&](const ExprPtr &by) {
      return axis.start ? node(Op::Add, {axis.start, by}, item.range) : by;
    };
    switch (item.kind) {
    case IndexItem::Whole:
      return true;
    case IndexItem::Point:
      axis.start = moved(item.first);
      axis.isPoint = true;
      axis.extent = nullptr;
      return isExact(*axis.start);
    case IndexItem::Span: // may end beyond the axis, which no tensor of the host's does
      return false;
    case IndexItem::Bounds: {
      ExprPtr end = item.second ? node(Op::Min, {item.second, axis.extent}, item.range) : axis.extent;
      if (item.first) {
        auto zero = makeConst(DType::Index, Constant{int64_t(0)}, item.range);
        end = node(Op::Max, {node(Op::Sub, {end, item.first}, item.range), zero}, item.range);
        axis.start = moved(item.first);
      }
      axis.extent = end;
      return isExact(*end) && (!axis.start || isExact(*axis.start));
    }
    default:
      return false;
    }
  }

  const OpModel &op;
  const Plan &plan;
  DiagnosticSink &sink;
  Replacements lets;
  PlanSteps steps;
};

} // namespace

std::optional<PlanSteps> stepsOf(const OpModel &op, const Plan &plan, DiagnosticSink &sink) {
  return StepMaker(op, plan, sink).run();
}

} // namespace tilegym::sem
