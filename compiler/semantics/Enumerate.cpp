// SPDX-License-Identifier: MIT
// The variants of an op: what it can be called with, the values of derived parameters, the points of a tune section.
#include "compiler/semantics/Derived.h"
#include "compiler/semantics/TuneSpace.h"

namespace tilegym::sem {
namespace {

constexpr size_t kMaxCandidates = 1 << 20;

/// Calls `visit(digits)` for every combination, the last digit fastest.
template <class Visit> void product(const std::vector<size_t> &sizes, Visit visit) {
  std::vector<size_t> digits(sizes.size(), 0);
  for (size_t size : sizes)
    if (size == 0)
      return;
  while (true) {
    visit(digits);
    size_t i = digits.size();
    while (i > 0 && ++digits[i - 1] == sizes[i - 1])
      digits[--i] = 0;
    if (i == 0)
      return;
  }
}

/// Checks that what is fixed decides alone rule a combination out: it would refuse every call.
bool possible(const OpModel &op, const Specialization &spec) {
  HostValues values = knownValues(op, spec);
  for (const Check &check : op.checks)
    if (Evaluated holds = evaluateHost(*check.condition, values); holds && !holds.value->asBool())
      return false;
  return true;
}

} // namespace

std::vector<Specialization> enumerateInterfaces(const OpModel &op) {
  // Digits in order: dtypes, consts, compile-time dims, presence (given first).
  std::vector<size_t> sizes;
  for (const TypeVar &var : op.typeVars)
    sizes.push_back(var.choices.size());
  for (const ScalarParam &scalar : op.scalars)
    if (scalar.isConst)
      sizes.push_back(scalar.choices.size());
  for (const DimVar &dim : op.dims)
    if (!dim.choices.empty())
      sizes.push_back(dim.choices.size());
  for (const TensorParam &tensor : op.tensors)
    if (tensor.optional)
      sizes.push_back(2);
  std::vector<Specialization> all;
  product(sizes, [&](const std::vector<size_t> &digits) {
    size_t next = 0;
    Specialization spec;
    for (const TypeVar &var : op.typeVars)
      spec.dtypes.push_back(var.choices[digits[next++]]);
    for (const ScalarParam &scalar : op.scalars)
      spec.consts.push_back(scalar.isConst ? scalar.choices[digits[next++]] : Constant{});
    for (const DimVar &dim : op.dims)
      spec.constDims.push_back(dim.choices.empty() ? kDynamic : dim.choices[digits[next++]]);
    for (const TensorParam &tensor : op.tensors)
      spec.present.push_back(!tensor.optional || digits[next++] == 0);
    if (possible(op, spec))
      all.push_back(std::move(spec));
  });
  return all;
}

std::vector<Specialization> enumerateDerived(const OpModel &op, const Specialization &interface,
                                             int64_t kernel) {
  std::vector<Specialization> all;
  const KernelModel &model = op.kernels[size_t(kernel)];
  for (const std::vector<int64_t> &tuple : deriveValues(op, interface, kernel).tuples) {
    Specialization spec = interface;
    spec.kernel = kernel;
    spec.params.clear();
    for (size_t i = 0; i < tuple.size(); ++i)
      if (model.derived[i])
        spec.params.push_back({model.tileParams[i], tuple[i]});
    all.push_back(std::move(spec));
  }
  return all;
}

std::vector<Specialization> candidates(const OpModel &op, const Specialization &base, std::string_view arch,
                                       DiagnosticSink &sink) {
  const KernelModel &kernel = op.kernels[size_t(base.kernel)];
  if (!kernel.tune)
    return {base};
  size_t before = sink.numErrors();
  TuneSpace space = tuneSpace(op, kernel, *kernel.tune, arch, sink);
  if (sink.numErrors() != before)
    return {};
  std::vector<size_t> sizes;
  size_t total = 1;
  for (const TuneSetting &setting : space.settings) {
    sizes.push_back(setting.values.size());
    total *= setting.values.size();
    if (total > kMaxCandidates) {
      sink.error(kernel.tune->kernel.range,
                 "`tune " + kernel.name + "` has more than " + std::to_string(kMaxCandidates) + " points",
                 "shorten its lists");
      return {};
    }
  }
  HostValues values = knownValues(op, base);
  std::vector<Specialization> all;
  product(sizes, [&](const std::vector<size_t> &digits) {
    if (sink.numErrors() != before)
      return;
    Specialization spec = base;
    spec.params.clear();
    spec.knobs.clear();
    std::vector<NamedInt> set;
    for (size_t i = 0; i < digits.size(); ++i) {
      const TuneSetting &setting = space.settings[i];
      const Expr &chosen = *setting.values[digits[i]];
      Evaluated value = evaluateHost(chosen, values);
      if (!value) {
        sink.error(chosen.range, value.error);
        return;
      }
      set.push_back({setting.name, value.value->asInt()});
    }
    auto lookup = [](const std::vector<NamedInt> &list, const std::string &name) -> std::optional<int64_t> {
      for (const NamedInt &entry : list)
        if (entry.name == name)
          return entry.value;
      return std::nullopt;
    };
    for (size_t i = 0; i < kernel.tileParams.size(); ++i) {
      auto value = lookup(kernel.derived[i] ? base.params : set, kernel.tileParams[i]);
      if (value)
        spec.params.push_back({kernel.tileParams[i], *value});
    }
    for (size_t i = kernel.tileParams.size(); i < space.names.size(); ++i)
      spec.knobs.push_back({space.names[i], lookup(set, space.names[i]).value_or(0)});
    values.locals.clear();
    for (const std::string &name : space.names) {
      auto value = lookup(spec.params, name);
      if (!value)
        value = lookup(spec.knobs, name);
      values.locals.push_back(value ? std::optional<Constant>(Constant{*value}) : std::nullopt);
    }
    for (const ExprPtr &condition : space.where) {
      Evaluated holds = evaluateHost(*condition, values);
      if (!holds) {
        sink.error(condition->range, "the condition of `where`: " + holds.error);
        return;
      }
      if (!holds.value->asBool())
        return;
    }
    all.push_back(std::move(spec));
  });
  return all;
}

} // namespace tilegym::sem
