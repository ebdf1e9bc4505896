// SPDX-License-Identifier: MIT
// From a call to what may run for it: the interface specialization, kernels whose guards hold, derived parameters; and runs of these.
#include "compiler/interpreter/Binding.h"
#include "compiler/interpreter/Launch.h"
#include <algorithm>

namespace tilegym::interp {

namespace {

template <class Body> void guarded(std::vector<Fault> &faults, Body body) {
  try {
    body();
  } catch (RunFault &thrown) {
    faults.push_back(std::move(thrown.fault));
  } catch (const std::exception &error) {
    faults.emplace_back().message =
        std::string("the checked tree and the op model disagree: ") + error.what();
  }
}

std::string choicesText(const std::vector<DType> &choices) {
  std::string text;
  for (DType choice : choices)
    text += (text.empty() ? "" : " | ") + std::string(name(choice));
  return text;
}

DType dtypeOf(const sem::OpModel &op, size_t var, const Arguments &args,
              const std::vector<DType> &dtypeArguments) {
  const sem::TypeVar &variable = op.typeVars[var];
  std::optional<DType> found;
  for (size_t t = 0; t < op.tensors.size() && !found; ++t)
    if (op.tensors[t].typeVar == int64_t(var) && op.tensors[t].role != sem::Role::Output &&
        !args.tensors.at(t).empty())
      found = args.tensors[t][0].dtype;
  if (!found && variable.isArgument && var < dtypeArguments.size())
    found = dtypeArguments[var];
  if (!found)
    found = variable.choices.at(0);
  if (std::find(variable.choices.begin(), variable.choices.end(), *found) == variable.choices.end())
    fail(Fault::Arguments,
         std::string(name(*found)) + " is none of " + variable.name + ": " + choicesText(variable.choices),
         {}, "convert the tensor, or add the dtype to the op's `where`");
  return *found;
}

sem::Constant constOf(const sem::ScalarParam &param, size_t s, const Arguments &args) {
  std::optional<sem::Constant> value =
      s < args.scalars.size() ? std::optional(args.scalars[s]) : param.defaultValue;
  if (!value)
    fail(Fault::Arguments, "const '" + param.name + "' was not given", param.range);
  for (const sem::Constant &choice : param.choices)
    if (choice.asFloat() == value->asFloat())
      return choice;
  fail(Fault::Arguments, "const '" + param.name + "' has no variant for this value", param.range,
       "add it to the signature's choices");
}

std::vector<Fault> faultsOf(const DiagnosticSink &sink) {
  std::vector<Fault> faults;
  for (const Diagnostic &diagnostic : sink.all()) {
    if (diagnostic.severity != Severity::Error)
      continue;
    Fault &fault = faults.emplace_back();
    fault.range = diagnostic.range;
    fault.message = diagnostic.message;
    fault.help = diagnostic.help;
  }
  if (faults.empty())
    faults.emplace_back().message = "no checked tree could be made";
  return faults;
}

/// The first element, in row-major order, whose bits differ.
std::optional<int64_t> firstDifference(const HostTensor &a, const HostTensor &b) {
  HostTensor x = a.clone(), y = b.clone();
  for (int64_t i = 0, count = x.numElements(); i < count; ++i)
    if (x.bits(i) != y.bits(i))
      return i;
  return {};
}

} // namespace

std::optional<sem::Specialization> specialize(const sem::OpModel &op, const Arguments &args,
                                              const std::vector<DType> &dtypeArguments,
                                              std::vector<Fault> &faults) {
  std::optional<sem::Specialization> result;
  guarded(faults, [&] {
    if (args.tensors.size() != op.tensors.size())
      fail(Fault::Arguments, std::to_string(args.tensors.size()) + " tensors were given to an op with " +
                                 std::to_string(op.tensors.size()));
    sem::Specialization spec;
    for (size_t v = 0; v < op.typeVars.size(); ++v)
      spec.dtypes.push_back(dtypeOf(op, v, args, dtypeArguments));
    for (size_t s = 0; s < op.scalars.size(); ++s)
      spec.consts.push_back(op.scalars[s].isConst ? constOf(op.scalars[s], s, args) : sem::Constant{});
    for (size_t t = 0; t < op.tensors.size(); ++t)
      spec.present.push_back(!op.tensors[t].optional || !args.tensors[t].empty());
    spec.constDims.assign(op.dims.size(), sem::kDynamic);
    const BoundDims bound = bindOrFail(op, spec, args);
    for (size_t d = 0; d < op.dims.size(); ++d) {
      const auto &choices = op.dims[d].choices;
      if (choices.empty())
        continue;
      const int64_t value = bound.dims.values[d];
      if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
        std::string list;
        for (int64_t choice : choices)
          list += (list.empty() ? "" : " | ") + std::to_string(choice);
        fail(Fault::Arguments, op.dims[d].name + " = " + std::to_string(value) + " has no variant: " + list,
             {}, "add the value to the op's `where`");
      }
      spec.constDims[d] = value;
    }
    result = std::move(spec);
  });
  return result;
}

std::vector<int64_t> eligibleKernels(const sem::OpModel &op, const sem::Specialization &interface,
                                     const Arguments &args, std::vector<Fault> &faults) {
  std::vector<int64_t> kernels;
  guarded(faults, [&] {
    const BoundDims bound = bindOrFail(op, interface, args);
    const auto scalars = scalarsFor(op, interface, args);
    for (size_t k = 0; k < op.kernels.size(); ++k) {
      const sem::KernelModel &kernel = op.kernels[k];
      if (kernel.launchedOnly)
        continue;
      if (!kernel.guard ||
          evaluateHostOrFail(op, interface, bound.dims, scalars, args, *kernel.guard, 3).asBool())
        kernels.push_back(int64_t(k));
    }
  });
  return kernels;
}

std::optional<sem::Specialization> deriveParams(const sem::OpModel &op, const sem::Specialization &interface,
                                                int64_t kernel, const Arguments &args,
                                                std::vector<Fault> &faults) {
  std::optional<sem::Specialization> result;
  guarded(faults, [&] {
    const sem::KernelModel &model = op.kernels.at(size_t(kernel));
    const BoundDims bound = bindOrFail(op, interface, args);
    const auto scalars = scalarsFor(op, interface, args);
    sem::Specialization spec = interface;
    spec.kernel = kernel;
    for (size_t p = 0; p < model.tileParams.size(); ++p)
      if (model.derived.at(p))
        spec.params.push_back(
            {model.tileParams[p],
             evaluateHostOrFail(op, interface, bound.dims, scalars, args, *model.derived[p], 3).asInt()});
    result = std::move(spec);
  });
  return result;
}

namespace {

/// A kernel or plan, instantiated.
struct Variant {
  std::shared_ptr<const sem::Kernel> kernel;
  std::shared_ptr<const sem::Plan> plan;
  std::vector<Fault> faults; ///< why there is neither

  RunResult run(const sem::OpModel &op, const Arguments &args, const RunOptions &options) const {
    if (kernel)
      return runKernel(op, *kernel, args, options);
    if (plan)
      return runPlan(op, *plan, args, options);
    RunResult result;
    result.faults = faults;
    return result;
  }
  bool usesAtomics() const {
    if (kernel)
      return usesOp(kernel->block, isAtomic);
    for (const sem::Launch &launch : plan->launches)
      if (usesOp(launch.kernel->block, isAtomic))
        return true;
    return false;
  }
};

Variant instantiate(const sem::OpModel &op, const sem::Specialization &spec) {
  Variant variant;
  if (spec.kernel < 0 || size_t(spec.kernel) >= op.kernels.size()) {
    variant.faults.emplace_back().message = "the op has no kernel number " + std::to_string(spec.kernel);
    return variant;
  }
  DiagnosticSink sink;
  if (op.kernels[size_t(spec.kernel)].isPlan)
    variant.plan = sem::instantiatePlan(op, spec, sink);
  else
    variant.kernel = sem::instantiateKernel(op, spec, sink);
  if (!variant.plan && !variant.kernel)
    variant.faults = faultsOf(sink);
  return variant;
}

/// Elements of all tensors of a call; more than this, and a run in another order is made only where it could differ.
constexpr int64_t alwaysReorderedBelow = int64_t(1) << 16;

int64_t elementsOf(const RunResult &result) {
  int64_t count = 0;
  for (const auto &list : result.tensors)
    for (const HostTensor &tensor : list)
      count += tensor.numElements();
  return count;
}

} // namespace

RunResult runVariant(const sem::OpModel &op, const sem::Specialization &spec, const Arguments &args,
                     const RunOptions &options) {
  return instantiate(op, spec).run(op, args, options);
}

RunResult runReferenceOf(const sem::OpModel &op, const sem::Specialization &interface, const Arguments &args,
                         const RunOptions &options) {
  DiagnosticSink sink;
  if (auto reference = sem::instantiateReference(op, interface, sink))
    return runReference(op, *reference, args, options);
  RunResult result;
  result.faults = faultsOf(sink);
  return result;
}

RunResult runInSeveralOrders(const sem::OpModel &op, const sem::Specialization &spec, const Arguments &args,
                             const RunOptions &options) {
  const Variant variant = instantiate(op, spec);
  RunResult first = variant.run(op, args, options);
  if (!first.ok() || op.nondeterministic)
    return first;
  if (options.sanitize && !variant.usesAtomics() && elementsOf(first) > alwaysReorderedBelow)
    return first;
  Arguments again = args;
  for (size_t t = 0; t < op.tensors.size(); ++t)
    if (op.tensors[t].role == sem::Role::Output)
      again.tensors[t].clear();
  for (BlockOrder order : {BlockOrder::Reversed, BlockOrder::Shuffled}) {
    RunOptions other = options;
    other.order = order;
    other.inPlace = false;
    RunResult result = variant.run(op, again, other);
    if (!result.ok())
      return result;
    for (size_t t = 0; t < op.tensors.size(); ++t)
      for (size_t g = 0; g < first.tensors[t].size() && op.tensors[t].role != sem::Role::Input; ++g)
        if (auto at = firstDifference(first.tensors[t][g], result.tensors[t][g])) {
          Fault &fault = first.faults.emplace_back();
          fault.kind = Fault::OrderDependence;
          fault.message = "the result depends on the order of blocks";
          fault.help = "say `nondeterministic` in the signature, or use one block for each element";
          fault.kernel = op.kernels[size_t(spec.kernel)].name;
          fault.tensor = op.tensors[t].name;
          fault.range = op.tensors[t].range;
          for (size_t axis = first.tensors[t][g].shape.size(); axis-- > 0;) {
            const int64_t extent = first.tensors[t][g].shape[axis];
            fault.element.insert(fault.element.begin(), *at % extent);
            *at /= extent;
          }
          return first;
        }
  }
  return first;
}

} // namespace tilegym::interp
