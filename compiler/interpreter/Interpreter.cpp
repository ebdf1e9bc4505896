// SPDX-License-Identifier: MIT
// The API: binds a call, runs a body, and turns whatever was thrown into faults.
#include "compiler/interpreter/Interpreter.h"
#include "compiler/interpreter/Binding.h"
#include "compiler/interpreter/Launch.h"
#include "compiler/interpreter/NumericsConvert.h"
#include <new>

namespace tilegym::interp {

namespace {

/// Runs `body`; what it throws is added to `faults`. True if nothing was.
template <class Body> bool guarded(std::vector<Fault> &faults, Body body) {
  try {
    body();
    return true;
  } catch (RunFault &thrown) {
    faults.push_back(std::move(thrown.fault));
  } catch (const std::bad_alloc &) {
    faults.emplace_back().kind = Fault::OutOfMemory;
    faults.back().message = "out of memory";
  } catch (const std::exception &error) { // an index into the op model that is out of range
    faults.emplace_back().message =
        std::string("the checked tree and the op model disagree: ") + error.what();
  }
  return false;
}

template <class Body>
RunResult runBody(const sem::OpModel &op, const sem::Specialization &spec, const Arguments &args,
                  const RunOptions &options, Body body) {
  RunResult result;
  RunContext context{op, spec, {}, {}, {}, {}, {}, options};
  if (guarded(result.faults, [&] {
        prepare(context, args);
        body(context);
      }))
    checkWritten(context, result.faults);
  result.tensors = std::move(context.hostTensors);
  return result;
}

/// Scratch and launches of one call of a plan.
class PlanRun : public PlanActions {
public:
  PlanRun(RunContext &context, const sem::Plan &plan)
      : context(context), plan(plan), scratches(plan.scratch.size()) {}

  void scratch(const sem::Stmt &stmt, Evaluator &evaluator) override {
    const sem::ScratchBuffer &buffer = plan.scratch.at(size_t(stmt.index));
    Dims shape;
    for (const auto &extent : buffer.dims) {
      shape.push_back(indexValue(evaluator, extent));
      if (shape.back() < 0)
        fail(Fault::Arguments,
             "scratch '" + buffer.name + "' would have an extent of " + std::to_string(shape.back()),
             extent->range);
    }
    Memory &memory = context.memories.emplace_back();
    memory.name = buffer.name;
    memory.tensor = HostTensor::allocate(buffer.dtype, shape);
    std::memset(memory.tensor.buffer->data(), 0xFF, memory.tensor.buffer->size());
    memory.data = memory.tensor.buffer->data();
    memory.dtype = buffer.dtype;
    memory.atomicLock = std::make_shared<std::mutex>();
    if (context.options.sanitize)
      memory.shadow = std::make_shared<Shadow>(memory.tensor.numElements(), false);
    scratches[size_t(stmt.index)] = wholeView(memory, nullptr, nullptr);
  }

  void launch(const sem::Stmt &stmt, Evaluator &evaluator) override {
    const sem::Launch &launch = plan.launches.at(size_t(stmt.index));
    std::vector<Slot> params;
    for (size_t i = 0; i < launch.args.size(); ++i) {
      const sem::LaunchArg &arg = launch.args[i];
      if (arg.kind == sem::LaunchArg::ScratchRef)
        params.emplace_back(scratches.at(size_t(arg.scratch)).value());
      else if (arg.kind == sem::LaunchArg::View)
        params.emplace_back(evaluator.view(*arg.value));
      else
        params.emplace_back(scalarParam(evaluator.value(*arg.value), launch.kernel->params.at(i)));
    }
    checkExtents(*launch.kernel, params, stmt.range);
    runLaunch(context, *launch.kernel, std::move(params));
  }

private:
  /// Tensors given must have the extents that the parameters' types say.
  void checkExtents(const sem::Kernel &kernel, const std::vector<Slot> &params, SourceRange range) const {
    LaunchContext launch;
    launch.kernel = kernel.name;
    launch.params = params;
    Evaluator evaluator(context, &launch, kernel.locals.size());
    for (size_t i = 0; i < params.size(); ++i) {
      const auto *view = std::get_if<View>(&params[i]);
      for (size_t axis = 0; view && axis < view->axes.size(); ++axis)
        if (const int64_t want = indexValue(evaluator, kernel.params[i].dims[axis]),
            found = view->axes[axis].extent;
            want != found)
          fail(Fault::Arguments,
               "the parameter '" + kernel.params[i].name + "' of '" + kernel.name + "' takes an extent of " +
                   std::to_string(want) + " along axis " + std::to_string(axis) + ", found " +
                   std::to_string(found),
               range);
    }
  }

  RunContext &context;
  const sem::Plan &plan;
  std::vector<std::optional<View>> scratches;

  /// Host integers are `index` and host floats f64: the parameter has its own dtype.
  static Value scalarParam(const Value &value, const sem::KernelParam &param) {
    if (value.dtype == param.dtype)
      return value;
    if (value.dtype == DType::Index && isInt(param.dtype)) {
      const int64_t integer = value.asInt();
      if (integer < minInt(param.dtype) || (integer > 0 && uint64_t(integer) > maxInt(param.dtype)))
        fail(Fault::IndexRange, std::to_string(integer) + " does not fit " + std::string(name(param.dtype)) +
                                    " parameter '" + param.name + "'");
    }
    return Value::scalar(param.dtype, convertBits(value.dtype, value.bitsAt(0), param.dtype));
  }
};

} // namespace

Diagnostic toDiagnostic(const Fault &fault) {
  auto indices = [](const std::vector<int64_t> &list) {
    std::string text;
    for (size_t i = 0; i < list.size(); ++i)
      text += (i ? ", " : "") + std::to_string(list[i]);
    return text;
  };
  Diagnostic diagnostic;
  diagnostic.range = fault.range;
  diagnostic.message = fault.message;
  std::string place;
  if (!fault.kernel.empty())
    place = "in kernel '" + fault.kernel + "'";
  if (!fault.block.empty())
    place += (place.empty() ? "in block (" : ", block (") + indices(fault.block) + ")";
  if (!fault.tensor.empty() || !fault.element.empty()) {
    place += place.empty() ? "at " : ", at ";
    place += fault.tensor.empty() ? "element " : fault.tensor;
    if (!fault.element.empty())
      place += "[" + indices(fault.element) + "]";
  }
  if (!place.empty())
    diagnostic.message += " (" + place + ")";
  diagnostic.help = fault.help;
  return diagnostic;
}

std::optional<DimValues> bindDims(const sem::OpModel &op, const sem::Specialization &interface,
                                  const Arguments &args, std::vector<Fault> &faults) {
  std::optional<DimValues> dims;
  guarded(faults, [&] { dims = bindOrFail(op, interface, args).dims; });
  return dims;
}

std::optional<std::vector<std::vector<Dims>>> outputShapes(const sem::OpModel &op,
                                                           const sem::Specialization &interface,
                                                           const Arguments &args,
                                                           std::vector<Fault> &faults) {
  std::optional<std::vector<std::vector<Dims>>> shapes;
  guarded(faults, [&] { shapes = outputShapesOrFail(op, interface, args, bindOrFail(op, interface, args)); });
  return shapes;
}

std::optional<sem::Constant> evaluateHost(const sem::OpModel &op, const sem::Specialization &interface,
                                          const DimValues &dims, const Arguments &args,
                                          const sem::ExprPtr &expr, std::vector<Fault> &faults,
                                          int64_t smCount) {
  std::optional<sem::Constant> result;
  guarded(faults, [&] {
    Value value =
        evaluateHostOrFail(op, interface, dims, scalarsFor(op, interface, args), args, *expr, smCount);
    result.emplace();
    if (isBool(value.dtype))
      result->value = value.asBool();
    else if (isFloat(value.dtype))
      result->value = toDouble(value.dtype, value.data());
    else
      result->value = value.asInt();
  });
  return result;
}

RunResult runReference(const sem::OpModel &op, const sem::Reference &reference, const Arguments &args,
                       const RunOptions &options) {
  return runBody(op, reference.spec, args, options, [&](RunContext &context) {
    Evaluator evaluator(context, nullptr, reference.locals.size());
    evaluator.run(reference.block);
  });
}

RunResult runKernel(const sem::OpModel &op, const sem::Kernel &kernel, const Arguments &args,
                    const RunOptions &options) {
  return runBody(op, kernel.spec, args, options,
                 [&](RunContext &context) { runLaunch(context, kernel, {}); });
}

RunResult runPlan(const sem::OpModel &op, const sem::Plan &plan, const Arguments &args,
                  const RunOptions &options) {
  return runBody(op, plan.spec, args, options, [&](RunContext &context) {
    PlanRun actions(context, plan);
    Evaluator evaluator(context, nullptr, plan.locals.size());
    evaluator.plan = &actions;
    evaluator.run(plan.block);
  });
}

} // namespace tilegym::interp
