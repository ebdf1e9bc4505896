// SPDX-License-Identifier: MIT
// One test case on the GPU.
#include "GpuBackend.h"
#include "VariantFit.h"
#include "VariantLaunch.h"
#include <set>

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
    for (size_t t = 0; op.tensors[id].role != sem::Role::Input && t < a[id].size(); ++t)
      for (int64_t i = 0, count = a[id][t].numElements(); i < count; ++i)
        if (a[id][t].bits(i) != b[id][t].bits(i))
          return "element " + std::to_string(i) + " (row-major) of `" + op.tensors[id].name +
                 (op.tensors[id].isList ? "[" + std::to_string(t) + "]`" : "`");
  return "";
}

} // namespace

std::vector<TransposedInputs> transposedInputs(const PackageFile &package, const sem::OpModel &op) {
  std::set<uint64_t> sets;
  std::optional<size_t> number = package.findOp(op.name);
  const runtime::Table &table = package.table();
  auto add = [&](const format::Op &of) {
    for (const format::Variant &v : table.get<format::Variant>(of.variants)) {
      uint64_t tensors = 0;
      std::span<const uint8_t> facts = table.get<uint8_t>(v.tensorFacts);
      for (size_t id = 0; id < facts.size() && id < op.tensors.size(); ++id)
        tensors |= uint64_t(facts[id] >= format::kTransposed) << id;
      if (tensors)
        sets.insert(tensors);
    }
  };
  if (number) {
    add(table.ops()[*number]);
    for (const format::Variant &v : table.get<format::Variant>(table.ops()[*number].variants))
      for (const format::Launch &launch : table.get<format::Launch>(v.launches))
        add(table.launched()[launch.op]); // its tensors are the op's, and then its own
  }
  std::vector<TransposedInputs> result;
  for (uint64_t tensors : sets) {
    std::string text;
    for (size_t id = 0; id < op.tensors.size(); ++id)
      if (tensors >> id & 1)
        text += (text.empty() ? ", " : " and ") + op.tensors[id].name;
    result.push_back({tensors, text + " transposed"});
  }
  return result;
}

bool mayRunInPlace(const sem::OpModel &op) {
  return std::any_of(op.tensors.begin(), op.tensors.end(),
                     [](const sem::TensorParam &t) { return t.aliasOf >= 0; });
}

bool GpuBackend::attach(std::string &why) const { return findGpu(why).has_value(); }

void GpuBackend::addFailure(interp::Outcome &outcome, const std::string &message) const {
  addFault(outcome, message);
}

void GpuBackend::checkShapes(DeviceCall &call, size_t number, const sem::TestCall &test,
                             interp::Outcome &outcome) {
  std::vector<const void *> given = call.inputsOnly();
  for (size_t i = 0; i < op.arguments.size(); ++i) {
    size_t id = size_t(op.arguments[i].id);
    if (!op.arguments[i].isTensor || op.tensors[id].role != sem::Role::Output ||
        !test.bound.spec.present[id] || op.typeVars[size_t(op.tensors[id].typeVar)].isArgument)
      continue;
    const std::vector<interp::Dims> &shapes = test.bound.shapes[id];
    for (size_t t = 0; t < shapes.size(); ++t) {
      int64_t shape[TILEGYM_MAX_RANK];
      int32_t rank = 0, dtype = 0;
      size_t count = 1;
      TilegymStatus status =
          op.tensors[id].isList
              ? tilegym_infer_list(package.handle(), number, given.data(), i, t, &count, shape, &rank, &dtype)
              : tilegym_infer_shape(package.handle(), number, given.data(), i, shape, &rank, &dtype);
      if (status != TILEGYM_OK)
        addFault(outcome, tilegym_last_error());
      else if (count != shapes.size() || interp::Dims(shape, shape + rank) != shapes[t] ||
               dtype != int32_t(test.bound.spec.dtypes[size_t(op.tensors[id].typeVar)]))
        addFault(outcome, "the package computes another shape or dtype for `" + op.tensors[id].name +
                              "` than the spec says");
    }
  }
}

std::optional<Tensors> GpuBackend::once(DeviceCall &call, size_t number, std::byte poison,
                                        interp::Outcome &outcome, std::string &skipped) {
  std::string error;
  if (!call.upload(spread, transposed, poison, error)) {
    addFault(outcome, error);
    return std::nullopt;
  }
  TilegymStatus status = tilegym_call(package.handle(), number, call.arguments().data(), nullptr);
  if (status == TILEGYM_NO_VARIANT || status == TILEGYM_NO_IMAGE) {
    skipped = tilegym_last_error();
    return std::nullopt;
  }
  if (status != TILEGYM_OK) {
    addFailure(outcome, tilegym_last_error());
    return std::nullopt;
  }
  return finish(call, outcome);
}

std::optional<Tensors> GpuBackend::finish(DeviceCall &call, interp::Outcome &outcome) {
  std::string error;
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

void GpuBackend::runVariant(uint32_t index, size_t number, DeviceCall &call, interp::BackendRun &out) {
  interp::Outcome outcome;
  const format::Op &record = package.table().ops()[number];
  outcome.variant =
      std::string(package.table().text(package.table().get<format::Variant>(record.variants)[index].entry));
  std::string error;
  VariantLaunch variant;
  beforeLaunch(2 + index);
  if (!call.upload(spread, transposed, std::byte{0xff}, error) ||
      !variant.prepare(gpu, package, number, index, call.arguments().data(), error))
    addFault(outcome, error);
  else if (!variant.launch(error))
    addFailure(outcome, error);
  else if (std::optional<Tensors> tensors = finish(call, outcome))
    outcome.tensors = std::move(*tensors);
  out.outcomes.push_back(std::move(outcome));
}

void GpuBackend::runOthers(DeviceCall &call, size_t number, interp::BackendRun &out) {
  const format::Op &record = package.table().ops()[number];
  auto bound = std::make_unique<runtime::Call>(package.table(), record);
  bound->smCount = gpu.device->multiprocessors;
  runtime::Choice chosen;
  if (bound->bind(call.arguments().data(), false) != TILEGYM_OK ||
      runtime::choose(*bound, gpu.device->arch, gpu.device->name, &chosen) != TILEGYM_OK)
    return; // the chosen variant's run has said why
  std::span<const format::Variant> variants = package.table().get<format::Variant>(record.variants);
  for (uint32_t i = 0; i < variants.size() && !health.lost; ++i) {
    if (i == chosen.index ||
        !whyNot(*bound, variants[i], fitOf(*bound, variants[i].kernel), gpu.device->arch).empty())
      continue;
    runVariant(i, number, call, out);
  }
}

interp::BackendRun GpuBackend::run(const sem::TestCall &test, const interp::Arguments &inputs) {
  interp::BackendRun out;
  std::optional<size_t> number = package.findOp(op.name);
  std::string why;
  if (!number)
    out.skipped = "the package has no op " + op.name;
  else if (health.lost)
    out.skipped = "an earlier case left the GPU unusable";
  else if (!attach(why))
    out.skipped = why;
  else
    out.skipped = whySkipped(test);
  if (!out.skipped.empty())
    return out;
  interp::Outcome outcome;
  DeviceCall call(gpu, op, test, inputs, inPlace);
  if (only) {
    runVariant(*only, *number, call, out);
    return out;
  }
  beforeLaunch(0);
  std::optional<Tensors> first = once(call, *number, std::byte{0xa5}, outcome, out.skipped);
  if (!out.skipped.empty())
    return out;
  if (first) {
    outcome.variant = variantOf(package, *number, call.arguments().data(), gpu);
    checkShapes(call, *number, test, outcome);
    beforeLaunch(1);
    std::optional<Tensors> second = once(call, *number, std::byte{0xff}, outcome, out.skipped);
    if (second && !op.nondeterministic)
      if (std::string place = difference(op, *first, *second); !place.empty())
        addFault(outcome, "two runs on the same inputs gave other bits: " + place +
                              "; it was not written, or depends on timing");
    outcome.tensors = std::move(*first);
  }
  out.outcomes.push_back(std::move(outcome));
  if (others)
    runOthers(call, *number, out);
  return out;
}

} // namespace tilegym::cli
