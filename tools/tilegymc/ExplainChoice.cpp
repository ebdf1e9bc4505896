// SPDX-License-Identifier: MIT
// The runtime's choice for a pretended call, and why the other variants lose.
#include "DeviceCall.h"
#include "Explain.h"
#include "VariantFit.h"

namespace tilegym::cli {

using json = nlohmann::ordered_json;

PretendedCall::PretendedCall(const sem::OpModel &op, const sem::TestCall &test, const PackageFile &package,
                             size_t number)
    : call(package.table(), package.table().ops()[number]), strides(op.tensors.size()),
      tensors(op.tensors.size()), scalars(op.scalars.size()) {
  uintptr_t block = 0;
  for (const sem::Argument &argument : op.arguments) {
    size_t id = size_t(argument.id);
    if (!argument.isTensor) {
      scalars[id] = scalarArgument(op, test, id, test.bound.values.scalars[id].value_or(sem::Constant{}));
      arguments.push_back(&scalars[id]);
    } else if (!test.bound.spec.present[id]) {
      arguments.push_back(nullptr);
    } else {
      DType dtype = test.bound.spec.dtypes[size_t(op.tensors[id].typeVar)];
      for (const interp::Dims &shape : test.bound.shapes[id])
        strides[id].push_back(interp::contiguousStrides(shape));
      for (const interp::Dims &shape : test.bound.shapes[id])
        tensors[id].tensors.push_back({reinterpret_cast<void *>(++block << 44), shape.data(),
                                       strides[id][tensors[id].tensors.size()].data(), int32_t(shape.size()),
                                       int32_t(dtype)});
      arguments.push_back(op.tensors[id].isList ? static_cast<const void *>(tensors[id].argument())
                                                : tensors[id].tensors.data());
    }
  }
}

bool PretendedCall::choose(int arch, int64_t multiprocessors, std::string &error, int &code) {
  call.smCount = multiprocessors;
  TilegymStatus status = call.bind(arguments.data(), false);
  if (status == TILEGYM_OK)
    status = runtime::choose(call, arch, "as asked for", &choice);
  if (status == TILEGYM_OK)
    status = choice.variant->launches.count
                 ? runtime::planLaunches(call, *choice.variant, arch, launches, &scratch)
                 : runtime::computeGrid(call, choice, &grid);
  if (status == TILEGYM_OK)
    return true;
  error = tilegym_last_error();
  code = status == TILEGYM_INVALID_ARGUMENT ? InputWrong : EnvironmentLacks;
  return false;
}

/// A guard in the spec's own words.
static std::string guardText(const sem::KernelModel &kernel) {
  if (!kernel.decl || !kernel.decl->when)
    return "";
  SourceRange range = kernel.decl->when->range;
  return range.file ? std::string(range.file->text().substr(range.begin, range.end - range.begin)) : "";
}

json explainKernel(const PretendedCall &pretended, const sem::OpModel &op, uint32_t k, int arch) {
  const runtime::Call &call = pretended.call;
  const runtime::Choice &choice = pretended.choice;
  const runtime::Table &table = call.table;
  const format::Kernel &kernel = table.get<format::Kernel>(call.op.kernels)[k];
  std::string name(table.text(kernel.name));
  json out = {{"kernel", name}};
  KernelFit fits = fitOf(call, k);
  for (const sem::KernelModel &model : op.kernels)
    if (std::string text = guardText(model); model.name == name && !text.empty())
      out["when"] = text;
  out["guard_holds"] = fits.guardHolds;
  std::span<const format::Slice> names = table.get<format::Slice>(kernel.paramNames);
  for (size_t p = 0; p < names.size(); ++p)
    if (fits.derived[p] != format::kRunTime)
      out["derived"][std::string(table.text(names[p]))] = fits.derived[p];
  out["variants"] = json::array();
  for (const format::Variant &v : table.get<format::Variant>(call.op.variants)) {
    if (v.kernel != k)
      continue;
    std::string why = whyNot(call, v, fits, arch);
    bool chosen = choice.variant == &v;
    if (!chosen && why.empty())
      why = choice.variant && choice.variant->kernel < k ? "an earlier kernel takes the call"
                                                         : "a more special variant takes the call";
    json one = {{"entry", std::string(table.text(v.entry))},
                {"facts", v.launches.count ? "plan" : runtime::factsName(table, v)},
                {"chosen", chosen}};
    if (!chosen)
      one["why_not"] = why;
    out["variants"].push_back(std::move(one));
  }
  return out;
}

} // namespace tilegym::cli
