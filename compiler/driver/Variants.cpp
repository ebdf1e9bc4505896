// SPDX-License-Identifier: MIT
// Enumeration and choice. The cost model looks at each candidate's checked tree: how much of its largest tile a thread would hold.
#include "compiler/driver/Variants.h"
#include "compiler/driver/CostModel.h"
#include <algorithm>

namespace tilegym::driver {
namespace {

bool wanted(const sem::OpModel &op, const sem::Specialization &spec, const VariantFilter &filter) {
  for (size_t i = 0; i < op.typeVars.size(); ++i)
    if (!filter.dtypes.empty() && op.typeVars[i].choices.size() > 1 &&
        std::find(filter.dtypes.begin(), filter.dtypes.end(), spec.dtypes[i]) == filter.dtypes.end())
      return false;
  for (const auto &[name, value] : filter.consts) {
    if (int64_t s = op.findScalar(name); s >= 0 && op.scalars[s].isConst) {
      const sem::ScalarParam &scalar = op.scalars[s];
      auto named = std::find(scalar.enumerators.begin(), scalar.enumerators.end(), value);
      std::string have = scalar.enumerators.empty() ? spec.consts[s].isBool()
                                                          ? spec.consts[s].asBool() ? "true" : "false"
                                                          : std::to_string(spec.consts[s].asInt())
                                                    : scalar.enumerators[size_t(spec.consts[s].asInt())];
      if (have != value && !(named == scalar.enumerators.end() && have == value))
        return false;
    }
    if (int64_t d = op.findDim(name);
        d >= 0 && !op.dims[d].choices.empty() && std::to_string(spec.constDims[d]) != value)
      return false;
  }
  return true;
}

} // namespace

std::vector<sem::Specialization> enumerateVariants(const sem::OpModel &op, std::string_view arch,
                                                   const VariantFilter &filter,
                                                   std::vector<std::string> &skipped, DiagnosticSink &sink) {
  std::vector<sem::Specialization> variants;
  for (const sem::KernelModel &k : op.kernels)
    if (k.isPlan || k.launchedOnly)
      skipped.push_back(k.name);
  for (const sem::Specialization &interface : sem::enumerateInterfaces(op)) {
    if (!wanted(op, interface, filter))
      continue;
    for (size_t k = 0; k < op.kernels.size(); ++k) {
      if (op.kernels[k].isPlan || op.kernels[k].launchedOnly)
        continue;
      for (const sem::Specialization &derived : sem::enumerateDerived(op, interface, int64_t(k)))
        if (std::optional<sem::Specialization> best =
                cheapest(op, sem::candidates(op, derived, arch, sink), sink))
          variants.push_back(std::move(*best));
    }
  }
  return variants;
}

} // namespace tilegym::driver
