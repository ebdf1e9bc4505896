// SPDX-License-Identifier: MIT
// The rules of the runtime's choice, one by one, so that each can be named.
#include "VariantFit.h"

namespace tilegym::cli {

KernelFit fitOf(const runtime::Call &call, uint32_t number) {
  const runtime::Table &table = call.table;
  const format::Kernel &kernel = table.get<format::Kernel>(call.op.kernels)[number];
  runtime::Values values = call.values();
  KernelFit fits;
  if (kernel.guard.count) {
    runtime::Evaluated e = runtime::evaluate(table.get<format::Inst>(kernel.guard), values);
    fits.guardHolds = !e.error && e.value.i;
  }
  for (const format::Slice &code : table.get<format::Slice>(kernel.derived)) {
    fits.derived.push_back(format::kRunTime);
    if (!code.count || !fits.guardHolds)
      continue;
    runtime::Evaluated e = runtime::evaluate(table.get<format::Inst>(code), values);
    if (e.error)
      fits.guardHolds = false; // the runtime leaves such a kernel out, too
    else
      fits.derived.back() = e.value.i;
  }
  return fits;
}

std::string whyNot(const runtime::Call &call, const format::Variant &v, const KernelFit &fits, int arch) {
  const runtime::Table &table = call.table;
  if (!fits.guardHolds)
    return "its kernel's guard does not hold";
  std::string why;
  auto add = [&](const std::string &text) { why += (why.empty() ? "" : "; ") + text; };
  std::span<const uint8_t> dtypes = table.get<uint8_t>(v.dtypes);
  for (size_t i = 0; i < dtypes.size(); ++i)
    if (call.dtypes[i] != 255 && dtypes[i] != call.dtypes[i])
      add("for " + std::string(table.text(call.typeVars[i].name)) + " = " + runtime::dtypeName(dtypes[i]));
  std::span<const int64_t> consts = table.get<int64_t>(v.consts), dims = table.get<int64_t>(v.constDims);
  for (size_t i = 0; i < consts.size(); ++i)
    if (call.scalars[i].isConst && consts[i] != call.scalarValues[i].i)
      add("for " + std::string(table.text(call.scalars[i].name)) + " = " + std::to_string(consts[i]));
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != format::kRunTime && dims[i] != call.dimValues[i])
      add("for " + std::string(table.text(call.dims[i].name)) + " = " + std::to_string(dims[i]));
  for (size_t i = 0; i < call.tensors.size(); ++i)
    if ((v.present ^ call.present) >> i & 1)
      add((v.present >> i & 1 ? "for a call with " : "for a call without ") +
          std::string(table.text(call.tensors[i].name)));
  const format::Kernel &kernel = table.get<format::Kernel>(call.op.kernels)[v.kernel];
  std::span<const int64_t> params = table.get<int64_t>(v.params);
  std::span<const format::Slice> names = table.get<format::Slice>(kernel.paramNames);
  for (size_t p = 0; p < params.size(); ++p)
    if (fits.derived[p] != format::kRunTime && fits.derived[p] != params[p])
      add("for " + std::string(table.text(names[p])) + " = " + std::to_string(params[p]));
  if (v.facts == format::kFactsFast) {
    std::string set = runtime::factsName(table, v);
    if (!call.fastBase)
      add(set + " needs leading axes that merge, strides that are not negative, and offsets below 2^31");
    std::span<const uint8_t> wanted = table.get<uint8_t>(v.tensorFacts);
    for (size_t t = 0; t < wanted.size(); ++t) {
      std::string name(table.text(call.tensors[t].name));
      int lacking = wanted[t] & ~call.facts[t];
      bool transposed = wanted[t] >= format::kTransposed;
      std::string axis = transposed ? "last axis but one" : "last axis";
      if (transposed)
        lacking /= format::kTransposed;
      if (lacking & format::kUnitInner)
        add(set + " needs " + name + " to have unit stride along its " + axis);
      if (lacking & format::kAligned)
        add(set + " needs " + name + "'s address and " + (transposed ? "other" : "outer") +
            " strides to be multiples of 16 bytes");
      if (lacking & format::kWholeVectors)
        add(set + " needs " + name + "'s " + axis + " to be a multiple of 16 bytes");
    }
  }
  if (runtime::fitnessOf(table, v, arch) < 0)
    add("has no code for sm_" + std::to_string(arch));
  return why;
}

} // namespace tilegym::cli
