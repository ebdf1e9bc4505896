// SPDX-License-Identifier: MIT
// The walk over slots: what a section or a case sets, and what stands in for what it does not.
#include "compiler/interpreter/CaseExpander.h"
#include <algorithm>

namespace tilegym::interp {
namespace {

using sem::Constant;

constexpr size_t maxCases = 20000;

template <class T> const std::vector<T> &either(const std::vector<T> &own, const std::vector<T> *inherited) {
  return own.empty() && inherited ? *inherited : own;
}

std::string scalarText(const sem::ScalarParam &scalar, const Constant &value) {
  if (value.isBool())
    return value.asBool() ? "true" : "false";
  if (value.isFloat())
    return sem::toString(value);
  size_t index = size_t(value.asInt());
  return index < scalar.enumerators.size() ? scalar.enumerators[index] : std::to_string(value.asInt());
}

std::string textOf(SourceRange range) {
  return range.file ? std::string(range.file->text().substr(range.begin, range.end - range.begin)) : "given";
}

} // namespace

void CaseExpander::error(SourceRange place, std::string message, std::string help) {
  // One mistake would be met again in every case of the cross product.
  if (said.emplace(place.begin, message).second)
    sink.error(place, std::move(message), std::move(help));
}

/// Dims that a literal input of a case binds: the section's lists for them do not apply to the case.
std::set<int64_t> CaseExpander::dimsOfLiterals(const sem::TestSettings &own) const {
  std::set<int64_t> bound;
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (own.tensors[id].size() == 1 && own.tensors[id][0].kind == sem::Generator::Literal)
      for (const sem::DimUse &use : op.tensors[id].dims)
        if (use.dim >= 0 && own.dims[use.dim].empty())
          bound.insert(use.dim);
  return bound;
}

void CaseExpander::addSlots(const sem::TestSettings &own, const sem::TestSettings *section, bool crossed) {
  // Dtypes outermost: cases of one dtype share what a backend compiles.
  for (size_t id = 0; id < op.typeVars.size(); ++id) {
    dtypes.push_back(either(own.dtypes[id], section ? &section->dtypes[id] : nullptr));
    if (dtypes[id].empty())
      dtypes[id] = op.typeVars[id].choices;
    slots.push_back({Slot::DTypes, int64_t(id), dtypes[id].size()});
  }
  for (size_t id = 0; id < op.scalars.size(); ++id) {
    scalars.push_back(either(own.scalars[id], section ? &section->scalars[id] : nullptr));
    if (scalars[id].empty())
      scalars[id] = op.scalars[id].defaultValue ? std::vector<Constant>{*op.scalars[id].defaultValue}
                                                : op.scalars[id].choices;
    if (scalars[id].empty())
      error(caseRange, "scalar `" + op.scalars[id].name + "` has no value here and no default",
            "set it, for example " + op.scalars[id].name + " = 1");
    slots.push_back({Slot::Scalars, int64_t(id), scalars[id].size()});
  }
  std::set<int64_t> byLiteral = dimsOfLiterals(own);
  for (size_t id = 0; id < op.dims.size(); ++id) {
    bool literal = byLiteral.count(int64_t(id)) != 0;
    dims.push_back(literal ? own.dims[id] : either(own.dims[id], section ? &section->dims[id] : nullptr));
    if (dims[id].empty() && !literal)
      for (int64_t choice : op.dims[id].choices)
        dims[id].push_back({{sem::makeConst(DType::Index, Constant{choice}, caseRange)}, false});
    // Without candidates it comes from a literal; whether one binds it shows at the leaf.
    slots.push_back({Slot::Dims, int64_t(id), std::max<size_t>(dims[id].size(), 1)});
  }
  bool unsaidOptional = false;
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    tensors.push_back(either(own.tensors[id], section ? &section->tensors[id] : nullptr));
    unsaidOptional |= tensors[id].empty() && op.tensors[id].optional;
    slots.push_back({Slot::Tensors, int64_t(id), std::max<size_t>(tensors[id].size(), 1)});
  }
  slots.push_back({Slot::Presence, -1, crossed && unsaidOptional ? size_t(2) : size_t(1)});
}

void CaseExpander::expand(const sem::TestSettings &own, const sem::TestSettings *section,
                          const std::vector<sem::Expectation> &caseExpects, std::string name,
                          SourceRange range, bool crossed) {
  slots.clear(), dims.clear(), dtypes.clear(), scalars.clear(), tensors.clear();
  expects = &caseExpects;
  caseName = std::move(name);
  caseRange = range;
  addSlots(own, section, crossed);
  State state;
  state.dtypes.resize(op.typeVars.size());
  state.dims.resize(op.dims.size());
  state.scalars.resize(op.scalars.size());
  state.tensors.resize(op.tensors.size());
  walk(0, state);
}

void CaseExpander::walk(size_t at, const State &state) {
  if (cases.size() >= maxCases)
    return error(caseRange, "the lists cross to more than " + std::to_string(maxCases) + " cases",
                 "shorten them");
  if (at == slots.size())
    return finish(state);
  for (size_t candidate = 0; candidate < slots[at].count; ++candidate) {
    State next = state;
    choose(slots[at], candidate, next);
    walk(at + 1, next);
  }
}

/// The label tells apart what has several candidates; extents and presence join it at the leaf.
void CaseExpander::choose(const Slot &slot, size_t candidate, State &state) const {
  std::string label;
  switch (slot.kind) {
  case Slot::DTypes:
    state.dtypes[slot.id] = dtypes[slot.id][candidate];
    label = op.typeVars[slot.id].name + "=" + std::string(name(dtypes[slot.id][candidate]));
    break;
  case Slot::Scalars:
    state.scalars[slot.id] = scalars[slot.id][candidate];
    label = op.scalars[slot.id].name + "=" + scalarText(op.scalars[slot.id], scalars[slot.id][candidate]);
    break;
  case Slot::Dims:
    if (!dims[slot.id].empty())
      state.dims[slot.id] = dims[slot.id][candidate];
    return;
  case Slot::Tensors:
    if (tensors[slot.id].empty())
      return;
    state.tensors[slot.id] = &tensors[slot.id][candidate];
    label = op.tensors[slot.id].name + "=" + textOf(state.tensors[slot.id]->range);
    break;
  case Slot::Presence:
    state.leaveOptionals = candidate == 1;
    return;
  }
  if (slot.count > 1)
    state.label += " " + label;
}

} // namespace tilegym::interp
