// SPDX-License-Identifier: MIT
// The interpreter as a backend: which kernels and which points of their spaces a case is tried on.
#include "compiler/interpreter/CaseRunner.h"
#include <algorithm>

namespace tilegym::interp {
namespace {

int64_t tileElements(const sem::Specialization &spec) {
  int64_t product = 1;
  for (const sem::NamedInt &param : spec.params)
    if (__builtin_mul_overflow(product, std::max<int64_t>(param.value, 1), &product))
      return INT64_MAX;
  return product;
}

int64_t elementsOf(const Arguments &inputs) {
  int64_t most = 0;
  for (const auto &list : inputs.tensors)
    for (const HostTensor &tensor : list)
      most = std::max(most, tensor.numElements());
  return most;
}

} // namespace

std::string variantName(const sem::OpModel &op, const sem::Specialization &spec) {
  std::string text = spec.kernel < 0 ? "reference" : op.kernels[spec.kernel].name;
  for (const sem::NamedInt &param : spec.params)
    text += " " + param.name + "=" + std::to_string(param.value);
  return text;
}

/// Knobs of the schedule mean nothing here, so points that differ in them alone are one.
std::vector<sem::Specialization> InterpreterBackend::points(const sem::Specialization &base, int64_t elements,
                                                            std::vector<Fault> &faults) const {
  DiagnosticSink sink;
  std::vector<sem::Specialization> distinct;
  for (sem::Specialization &point : sem::candidates(op, base, "", sink)) {
    point.knobs.clear();
    if (std::find(distinct.begin(), distinct.end(), point) == distinct.end())
      distinct.push_back(std::move(point));
  }
  for (const Diagnostic &diagnostic : sink.all()) {
    if (diagnostic.severity != Severity::Error)
      continue;
    Fault fault;
    fault.range = diagnostic.range;
    fault.message = diagnostic.message;
    fault.help = diagnostic.help;
    faults.push_back(std::move(fault));
  }
  if (distinct.empty() && faults.empty())
    distinct.push_back(base);
  if (elements > options.onePointAbove && !distinct.empty())
    return {*std::max_element(distinct.begin(), distinct.end(), [](const auto &a, const auto &b) {
      return tileElements(a) < tileElements(b);
    })};
  if (distinct.size() > options.pointsPerKernel && options.pointsPerKernel >= 2) {
    // The ends, then evenly between them.
    std::vector<sem::Specialization> picked;
    for (size_t i = 0; i < options.pointsPerKernel; ++i)
      picked.push_back(distinct[i * (distinct.size() - 1) / (options.pointsPerKernel - 1)]);
    return picked;
  }
  distinct.resize(std::min(distinct.size(), std::max<size_t>(options.pointsPerKernel, 1)));
  return distinct;
}

BackendRun InterpreterBackend::run(const sem::TestCall &test, const Arguments &inputs) {
  BackendRun out;
  std::vector<Fault> faults;
  bool wanted = options.onlyKernels.empty();
  for (int64_t kernel : eligibleKernels(op, test.bound.spec, inputs, faults)) {
    const std::string &kernelName = op.kernels[kernel].name;
    if (!options.onlyKernels.empty() && std::find(options.onlyKernels.begin(), options.onlyKernels.end(),
                                                  kernelName) == options.onlyKernels.end())
      continue;
    wanted = true;
    std::vector<sem::Specialization> specs;
    if (auto base = deriveParams(op, test.bound.spec, kernel, inputs, faults))
      specs = points(*base, elementsOf(inputs), faults);
    for (const sem::Specialization &spec : specs) {
      RunResult result = runInSeveralOrders(op, spec, inputs, options.run);
      out.outcomes.push_back(
          {variantName(op, spec), std::move(result.tensors), std::move(result.faults), kernel});
    }
  }
  if (!faults.empty())
    out.outcomes.push_back({"", {}, std::move(faults)});
  if (!wanted)
    out.skipped = "the kernels asked for do not take this case";
  return out;
}

} // namespace tilegym::interp
