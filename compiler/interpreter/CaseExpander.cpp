// SPDX-License-Identifier: MIT
// The walk over slots: what a section or a case sets, and what stands in for what it does not.
#include "compiler/interpreter/CaseExpander.h"
#include <algorithm>
#include <limits>

namespace tilegym::interp {

using sem::Constant;

std::string textOf(const ast::Expr &expr) {
  if (!expr.range.file)
    return "?";
  return std::string(expr.range.file->text().substr(expr.range.begin, expr.range.end - expr.range.begin));
}

int64_t productOf(const Dims &extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    if (__builtin_mul_overflow(result, extent, &result))
      return std::numeric_limits<int64_t>::max();
  return result;
}

CaseExpander::State CaseExpander::start() const {
  State state;
  state.scope.op = &op;
  state.scope.dtypes.resize(op.typeVars.size());
  state.scope.dims.resize(op.dims.size());
  state.scope.lists.resize(op.dims.size());
  state.scope.groups.resize(op.dims.size());
  state.scope.scalars.resize(op.scalars.size());
  state.rules.resize(op.tensors.size());
  return state;
}

std::optional<Slot> CaseExpander::slotOf(const ast::Setting &setting) {
  Slot slot;
  slot.setting = &setting;
  if (setting.kind == ast::Setting::Where) {
    slot.kind = Slot::Where;
    return slot;
  }
  const std::string &name = setting.name.name;
  if ((slot.id = op.findTypeVar(name)) >= 0)
    slot.kind = Slot::DTypes;
  else if ((slot.id = op.findDim(name)) >= 0)
    slot.kind = Slot::Dims;
  else if ((slot.id = op.findScalar(name)) >= 0)
    slot.kind = Slot::Scalars;
  else if ((slot.id = op.findTensor(name)) >= 0)
    slot.kind = Slot::Inputs;
  else {
    error(setting.name.range, "`" + name + "` is no dtype, dim, scalar or tensor of the op");
    return std::nullopt;
  }
  slot.shown = setting.kind == ast::Setting::In;
  return slot;
}

void CaseExpander::addImplicit(std::vector<Slot> &slots, bool crossed) const {
  auto has = [&](Slot::Kind kind, int64_t id) {
    return std::any_of(slots.begin(), slots.end(),
                       [&](const Slot &slot) { return slot.kind == kind && slot.id == id; });
  };
  std::vector<Slot> implicit;
  for (size_t i = 0; i < op.typeVars.size(); ++i)
    if (!has(Slot::DTypes, int64_t(i)))
      implicit.push_back({Slot::DTypes, int64_t(i), nullptr, op.typeVars[i].choices.size() > 1});
  for (size_t i = 0; i < op.dims.size(); ++i)
    if (!op.dims[i].choices.empty() && !has(Slot::Dims, int64_t(i)))
      implicit.push_back({Slot::Dims, int64_t(i), nullptr, op.dims[i].choices.size() > 1});
  for (size_t i = 0; i < op.scalars.size(); ++i)
    if (!has(Slot::Scalars, int64_t(i)))
      implicit.push_back(
          {Slot::Scalars, int64_t(i), nullptr, op.scalars[i].isConst && !op.scalars[i].defaultValue});
  bool anyOptional = false;
  for (size_t i = 0; i < op.tensors.size(); ++i)
    anyOptional |= op.tensors[i].optional && !has(Slot::Inputs, int64_t(i));
  slots.insert(slots.begin(), implicit.begin(), implicit.end());
  // Dtypes first and input rules after the dims: a value may depend on what stands below it in the text.
  std::vector<Slot> ordered;
  for (auto kinds : {std::initializer_list<Slot::Kind>{Slot::DTypes},
                     {Slot::Dims, Slot::Scalars},
                     {Slot::Inputs},
                     {Slot::Where}})
    for (const Slot &slot : slots)
      if (std::find(kinds.begin(), kinds.end(), slot.kind) != kinds.end())
        ordered.push_back(slot);
  slots = std::move(ordered);
  if (anyOptional && crossed)
    slots.push_back({Slot::Presence, -1, nullptr, true});
}

/// Dims that a literal input of a case binds: the section's lists for them do not apply to the case.
std::set<int64_t> CaseExpander::dimsOfLiterals(const std::vector<ast::Setting> &own) const {
  std::set<int64_t> dims;
  for (const ast::Setting &setting : own) {
    int64_t tensor = op.findTensor(setting.name.name);
    if (tensor < 0 || setting.kind != ast::Setting::Equals || !ast::dynCast<ast::List>(setting.value.get()) ||
        op.tensors[tensor].isList)
      continue;
    for (const sem::DimUse &use : op.tensors[tensor].dims)
      if (use.dim >= 0)
        dims.insert(use.dim);
  }
  for (const ast::Setting &setting : own)
    dims.erase(op.findDim(setting.name.name));
  return dims;
}

void CaseExpander::section(const ast::TestDecl &test) {
  std::vector<Slot> slots;
  bool cases = false;
  for (const ast::Setting &setting : test.settings) {
    auto slot = slotOf(setting);
    if (!slot)
      return;
    cases |= slot->kind != Slot::Where;
    slots.push_back(*slot);
  }
  // A section with named cases only has nothing to cross.
  if (cases || test.cases.empty()) {
    addImplicit(slots, true);
    caseName.clear();
    caseRange = test.range;
    expects = nullptr;
    walk(slots, 0, start());
  }
  for (const ast::Case &one : test.cases)
    named(test.settings, one.settings, one.expects, one.name, one.range);
}

void CaseExpander::named(const std::vector<ast::Setting> &inherited, const std::vector<ast::Setting> &own,
                         const std::vector<ast::Setting> &caseExpects, std::string name, SourceRange range) {
  std::set<std::string> overridden;
  for (const ast::Setting &setting : own)
    if (setting.kind != ast::Setting::Where)
      overridden.insert(setting.name.name);
  std::set<int64_t> literalDims = dimsOfLiterals(own);
  std::vector<Slot> slots;
  auto add = [&](const ast::Setting &setting) {
    auto slot = slotOf(setting);
    if (slot)
      slots.push_back(*slot);
    return slot.has_value();
  };
  for (const ast::Setting &setting : inherited) {
    bool isDim = setting.kind != ast::Setting::Where && op.findDim(setting.name.name) >= 0;
    if (setting.kind != ast::Setting::Where &&
        (overridden.count(setting.name.name) || (isDim && literalDims.count(op.findDim(setting.name.name)))))
      continue;
    if (!add(setting))
      return;
  }
  for (const ast::Setting &setting : own)
    if (!add(setting))
      return;
  addImplicit(slots, false);
  caseName = std::move(name);
  caseRange = range;
  expects = &caseExpects;
  size_t casesBefore = cases.size(), mistakesBefore = mistakes;
  walk(slots, 0, start());
  if (cases.size() == casesBefore && mistakes == mistakesBefore)
    error(range, "no combination of the lists satisfies `where`, so this case never runs");
}

/// The expressions a setting offers, or the numbers of a range.
std::vector<const ast::Expr *> CaseExpander::alternatives(const ast::Setting &setting,
                                                          std::vector<int64_t> &range) {
  if (setting.kind == ast::Setting::Equals)
    return {setting.value.get()};
  if (const auto *list = ast::dynCast<ast::List>(setting.value.get())) {
    std::vector<const ast::Expr *> elements;
    for (const ast::ExprPtr &element : list->elements)
      elements.push_back(element.get());
    if (elements.empty())
      error(setting.range, "an empty list gives `" + setting.name.name + "` no value, so nothing is tested");
    return elements;
  }
  if (const auto *span = ast::dynCast<ast::Range>(setting.value.get())) {
    SettingScope scope = start().scope;
    auto number = [&](const ast::ExprPtr &expr) {
      return expr ? once([&](DiagnosticSink &to) { return evaluateSetting(scope, *expr, to); })
                  : Constant{int64_t(1)};
    };
    auto lo = number(span->lo), hi = number(span->hi), step = number(span->step);
    if (!lo || !hi || !step)
      return {};
    if (!lo->isInt() || !hi->isInt() || !step->isInt())
      error(setting.range, "the ends and the step of a range are integers");
    else if (step->asInt() <= 0)
      error(setting.range, "the step of a range is at least 1");
    else
      for (int64_t value = lo->asInt(); value < hi->asInt() && range.size() < maxCases;) {
        range.push_back(value);
        if (__builtin_add_overflow(value, step->asInt(), &value))
          break;
      }
    return {};
  }
  error(setting.range, "`in` takes a list, a range or `all`");
  return {};
}

void CaseExpander::walk(const std::vector<Slot> &slots, size_t at, const State &state) {
  if (cases.size() >= maxCases) {
    error(caseRange, "the lists cross to more than " + std::to_string(maxCases) + " cases",
          "shorten them, or filter with `where`");
    return;
  }
  if (at == slots.size())
    return finish(state);
  const Slot &slot = slots[at];
  const ast::Setting *setting = slot.setting;
  const auto *word = setting ? ast::dynCast<ast::Name>(setting->value.get()) : nullptr;
  if (!setting || (setting->kind == ast::Setting::In && word && word->name == "all"))
    return walkImplicit(slots, at, state);
  if (slot.kind == Slot::Where) {
    auto holds = once([&](DiagnosticSink &to) { return evaluateSetting(state.scope, *setting->value, to); });
    if (holds && holds->asBool())
      walk(slots, at + 1, state);
    return;
  }
  std::vector<int64_t> range;
  for (const ast::Expr *value : alternatives(*setting, range))
    take(slots, at, state, *value);
  for (int64_t value : range) {
    State next = state;
    if (slot.kind == Slot::Dims && !op.dims[slot.id].perElement) {
      next.scope.dims[slot.id] = value;
      next.scope.groups[slot.id] = {value};
    } else if (slot.kind == Slot::Scalars) {
      next.scope.scalars[slot.id] = Constant{value};
    } else {
      return error(setting->range, "`" + setting->name.name + "` takes no range of integers");
    }
    next.label += " " + setting->name.name + "=" + std::to_string(value);
    walk(slots, at + 1, next);
  }
}

/// All that a name can be, or its default.
void CaseExpander::walkImplicit(const std::vector<Slot> &slots, size_t at, const State &state) {
  const Slot &slot = slots[at];
  bool all = slot.setting != nullptr;
  auto go = [&](State next, const std::string &label) {
    if (slot.shown)
      next.label += label;
    walk(slots, at + 1, next);
  };
  switch (slot.kind) {
  case Slot::DTypes:
    for (DType type : op.typeVars[slot.id].choices) {
      State next = state;
      next.scope.dtypes[slot.id] = type;
      go(next, " " + op.typeVars[slot.id].name + "=" + std::string(name(type)));
    }
    return;
  case Slot::Dims:
    if (op.dims[slot.id].choices.empty())
      return error(slot.setting->range,
                   "`" + op.dims[slot.id].name + "` is no compile-time dim, so `all` says nothing",
                   "list the extents to test");
    for (int64_t value : op.dims[slot.id].choices) {
      State next = state;
      next.scope.dims[slot.id] = value;
      next.scope.groups[slot.id] = {value};
      go(next, " " + op.dims[slot.id].name + "=" + std::to_string(value));
    }
    return;
  case Slot::Scalars: {
    const sem::ScalarParam &scalar = op.scalars[slot.id];
    if (!all && scalar.defaultValue) {
      State next = state;
      next.scope.scalars[slot.id] = *scalar.defaultValue;
      return go(next, "");
    }
    if (!scalar.isConst)
      return error(all ? slot.setting->range : caseRange,
                   "scalar `" + scalar.name + "` has no value here and no default",
                   "set it in the test section or in the case, for example `" + scalar.name + " = 1`");
    for (const Constant &choice : scalar.choices) {
      State next = state;
      next.scope.scalars[slot.id] = choice;
      size_t index = size_t(choice.asInt());
      bool isEnum = index < scalar.enumerators.size();
      go(next, " " + scalar.name + "=" +
                   (isEnum            ? scalar.enumerators[index]
                    : choice.isBool() ? (choice.asBool() ? "true" : "false")
                                      : std::to_string(choice.asInt())));
    }
    return;
  }
  case Slot::Presence: {
    go(state, "");
    State none = state;
    none.allAbsent = true;
    return go(none, " without optionals");
  }
  case Slot::Inputs:
  case Slot::Where:
    return error(slot.setting->range, "`all` says nothing of an input");
  }
}

} // namespace tilegym::interp
