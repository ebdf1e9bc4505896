// SPDX-License-Identifier: MIT
// One test case on the GPU.
#include "GpuBackend.h"
#include "runtime/src/VariantChoice.h"

namespace tilegym::cli {
namespace {

using Tensors = std::vector<std::vector<interp::HostTensor>>;

void addFault(interp::Outcome &outcome, const std::string &message) {
  interp::Fault fault;
  fault.kind = interp::Fault::Program;
  fault.message = message;
  outcome.faults.push_back(std::move(fault));
}

std::string variantOf(const PackageFile &package, size_t number, const void *const *args, const Gpu &gpu) {
  const format::Op &record = package.table().ops()[number];
  runtime::Call call(package.table(), record);
  call.smCount = gpu.device->multiprocessors;
  runtime::Choice choice;
  if (call.bind(args, false) != TILEGYM_OK ||
      runtime::choose(call, gpu.device->arch, gpu.device->name, &choice) != TILEGYM_OK)
    return "";
  return std::string(package.table().text(choice.variant->entry));
}

/// A place where two runs with the same inputs gave other bits; empty: none.
std::string difference(const sem::OpModel &op, const Tensors &a, const Tensors &b) {
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (op.tensors[id].role != sem::Role::Input && !a[id].empty())
      for (int64_t i = 0, count = a[id][0].numElements(); i < count; ++i)
        if (a[id][0].bits(i) != b[id][0].bits(i))
          return "element " + std::to_string(i) + " (row-major) of `" + op.tensors[id].name + "`";
  return "";
}

} // namespace

void GpuBackend::checkShapes(DeviceCall &call, size_t number, const sem::TestCall &test,
                             interp::Outcome &outcome) {
  std::vector<const void *> given = call.inputsOnly();
  for (size_t i = 0; i < op.arguments.size(); ++i) {
    size_t id = size_t(op.arguments[i].id);
    if (!op.arguments[i].isTensor || op.tensors[id].role != sem::Role::Output ||
        !test.bound.spec.present[id] || op.typeVars[size_t(op.tensors[id].typeVar)].isArgument)
      continue;
    int64_t shape[TILEGYM_MAX_RANK];
    int32_t rank = 0, dtype = 0;
    if (tilegym_infer_shape(package.handle(), number, given.data(), i, shape, &rank, &dtype) != TILEGYM_OK)
      addFault(outcome, tilegym_last_error());
    else if (interp::Dims(shape, shape + rank) != test.bound.shapes[id][0] ||
             dtype != int32_t(test.bound.spec.dtypes[size_t(op.tensors[id].typeVar)]))
      addFault(outcome, "the package computes another shape or dtype for `" + op.tensors[id].name +
                            "` than the spec says");
  }
}

std::optional<Tensors> GpuBackend::once(DeviceCall &call, size_t number, std::byte poison,
                                        interp::Outcome &outcome, std::string &skipped) {
  std::string error;
  if (!call.upload(spread, poison, error)) {
    addFault(outcome, error);
    return std::nullopt;
  }
  TilegymStatus status = tilegym_call(package.handle(), number, call.arguments().data(), nullptr);
  if (status == TILEGYM_NO_VARIANT || status == TILEGYM_NO_IMAGE) {
    skipped = tilegym_last_error();
    return std::nullopt;
  }
  if (status != TILEGYM_OK) {
    addFault(outcome, tilegym_last_error());
    return std::nullopt;
  }
  if (runtime::CUresult result = gpu.driver->streamSynchronize(nullptr); result != runtime::kSuccess) {
    health.lost = true;
    addFault(outcome, gpu.text("the kernel's run", result));
    return std::nullopt;
  }
  std::vector<std::string> damages;
  std::optional<Tensors> out = call.download(damages, error);
  if (!out) {
    health.lost = true;
    addFault(outcome, error);
  }
  for (const std::string &damage : damages)
    addFault(outcome, damage);
  return out;
}

interp::BackendRun GpuBackend::run(const sem::TestCall &test, const interp::Arguments &inputs) {
  interp::BackendRun out;
  std::optional<size_t> number = package.findOp(op.name);
  std::string why;
  if (!number)
    out.skipped = "the package has no op " + op.name;
  else if (health.lost)
    out.skipped = "an earlier case left the GPU unusable";
  else if (!findGpu(why)) // makes the context this thread's
    out.skipped = why;
  for (const sem::TensorParam &tensor : op.tensors)
    if (tensor.isList)
      out.skipped = "kernels that take lists cannot be compiled yet";
  if (!out.skipped.empty())
    return out;
  interp::Outcome outcome;
  DeviceCall call(gpu, op, test, inputs);
  std::optional<Tensors> first = once(call, *number, std::byte{0xa5}, outcome, out.skipped);
  if (!out.skipped.empty())
    return out;
  if (first) {
    outcome.variant = variantOf(package, *number, call.arguments().data(), gpu);
    checkShapes(call, *number, test, outcome);
    std::optional<Tensors> second = once(call, *number, std::byte{0xff}, outcome, out.skipped);
    if (second && !op.nondeterministic)
      if (std::string place = difference(op, *first, *second); !place.empty())
        addFault(outcome, "two runs on the same inputs gave other bits: " + place +
                              "; it was not written, or depends on timing");
    outcome.tensors = std::move(*first);
  }
  out.outcomes.push_back(std::move(outcome));
  return out;
}

} // namespace tilegym::cli
