// SPDX-License-Identifier: MIT
// Each setting is looked for in one of three lists, which are narrowed in turn: interfaces, derived parameters, points of the space.
#include "compiler/driver/ChooseVariant.h"
#include <algorithm>

namespace tilegym::driver {

using sem::OpModel;
using sem::Specialization;

static std::string text(const sem::Constant &value) {
  return value.isBool() ? (value.asBool() ? "true" : "false") : std::to_string(value.asInt());
}

/// What the interface says of the name, or nothing if it has no such name.
static std::optional<std::string> interfaceValue(const OpModel &op, const Specialization &spec,
                                                 const std::string &name) {
  if (int64_t id = op.findTypeVar(name); id >= 0)
    return std::string(tilegym::name(spec.dtypes[id]));
  if (int64_t id = op.findDim(name); id >= 0)
    return std::to_string(spec.constDims[id]);
  if (int64_t id = op.findTensor(name); id >= 0)
    return spec.present[id] ? "present" : "absent";
  int64_t id = op.findScalar(name);
  if (id < 0 || !op.scalars[id].isConst)
    return {};
  const auto &enumerators = op.scalars[id].enumerators;
  size_t number = size_t(spec.consts[id].asInt());
  return number < enumerators.size() ? enumerators[number] : text(spec.consts[id]);
}

static std::optional<std::string> numberIn(const std::vector<sem::NamedInt> &list, const std::string &name) {
  for (const sem::NamedInt &entry : list)
    if (entry.name == name)
      return std::to_string(entry.value);
  return {};
}

std::optional<Specialization> chooseVariant(const OpModel &op, std::string_view kernel,
                                            const Settings &settings, std::string_view arch,
                                            DiagnosticSink &sink) {
  SourceRange whole = op.kernels.empty() ? SourceRange() : op.kernels.front().decl->range;
  auto found =
      std::find_if(op.kernels.begin(), op.kernels.end(), [&](const auto &k) { return k.name == kernel; });
  if (found == op.kernels.end()) {
    std::string names;
    for (const auto &k : op.kernels)
      names += (names.empty() ? "" : ", ") + k.name;
    sink.error(whole, "no kernel '" + std::string(kernel) + "' in op '" + op.name + "'",
               "its kernels are " + names);
    return {};
  }
  auto agrees = [](const std::optional<std::string> &has, const std::string &wanted) {
    return !has || *has == wanted;
  };
  bool anyInterface = false;
  for (const Specialization &interface : sem::enumerateInterfaces(op)) {
    if (!std::all_of(settings.begin(), settings.end(),
                     [&](const auto &s) { return agrees(interfaceValue(op, interface, s.first), s.second); }))
      continue;
    anyInterface = true;
    for (const Specialization &derived : sem::enumerateDerived(op, interface, found - op.kernels.begin()))
      for (const Specialization &point : sem::candidates(op, derived, arch, sink)) {
        auto holds = [&](const auto &s) {
          if (interfaceValue(op, point, s.first))
            return true;
          std::optional<std::string> has = numberIn(point.params, s.first);
          if (!has)
            has = numberIn(point.knobs, s.first);
          return has == s.second;
        };
        if (std::all_of(settings.begin(), settings.end(), holds))
          return point;
      }
  }
  if (!sink.hasErrors())
    sink.error(found->decl->range,
               anyInterface ? "no point of kernel '" + found->name + "' has these parameters and knobs"
                            : "op '" + op.name + "' has no variant with these dtypes and consts");
  return {};
}

} // namespace tilegym::driver
