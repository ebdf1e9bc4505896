// SPDX-License-Identifier: MIT
// One value for one slot: checked against what the op says its name can be.
#include "compiler/interpreter/CaseExpander.h"
#include <algorithm>

namespace tilegym::interp {

using sem::Constant;

void CaseExpander::take(const std::vector<Slot> &slots, size_t at, State state, const ast::Expr &value) {
  const Slot &slot = slots[at];
  const std::string &called = slot.setting->name.name;
  switch (slot.kind) {
  case Slot::DTypes: {
    const auto *word = ast::dynCast<ast::Name>(&value);
    auto type = word ? parseDType(word->name) : std::nullopt;
    const auto &choices = op.typeVars[slot.id].choices;
    if (!type || std::find(choices.begin(), choices.end(), *type) == choices.end())
      return error(value.range, "`" + textOf(value) + "` is no dtype that `" + called + "` can be");
    state.scope.dtypes[slot.id] = type;
    break;
  }
  case Slot::Dims:
    if (!takeDim(state, slot, value))
      return;
    break;
  case Slot::Scalars:
    if (!takeScalar(state, slot, value))
      return;
    break;
  case Slot::Inputs: {
    auto rule = once([&](DiagnosticSink &to) { return evaluateRule(state.scope, value, to); });
    if (!rule)
      return;
    if (rule->kind == InputRule::Absent && !op.tensors[slot.id].optional)
      return error(value.range, "`" + called + "` is not optional, so it cannot be `none`");
    if (rule->kind != InputRule::Absent && op.tensors[slot.id].role == sem::Role::Output)
      return error(slot.setting->range, "`" + called + "` is an output",
                   "write `expect " + called + " = ...` for its values, or `" + called +
                       " = none` to not ask for it");
    state.rules[slot.id] = *rule;
    break;
  }
  case Slot::Where:
  case Slot::Presence:
    return;
  }
  if (slot.shown)
    state.label += " " + called + "=" + textOf(value);
  walk(slots, at + 1, state);
}

bool CaseExpander::takeDim(State &state, const Slot &slot, const ast::Expr &value) {
  const sem::DimVar &dim = op.dims[slot.id];
  const auto *list = ast::dynCast<ast::List>(&value);
  auto extent = [&](const ast::Expr &expr) {
    return once([&](DiagnosticSink &to) { return evaluateExtent(state.scope, expr, to); });
  };
  if (!list) {
    auto one = extent(value);
    if (!one)
      return false;
    if (dim.perElement)
      return error(value.range,
                   "`" + dim.name + "` has a value for each element of a list: write `[3, 0, 5]`"),
             false;
    if (!dim.choices.empty() && std::find(dim.choices.begin(), dim.choices.end(), *one) == dim.choices.end())
      return error(value.range,
                   std::to_string(*one) + " is not among the values that `" + dim.name + "` can have"),
             false;
    state.scope.dims[slot.id] = one;
    state.scope.groups[slot.id] = {*one};
    return true;
  }
  if (!dim.isGroup && !dim.perElement)
    return error(value.range, "`" + dim.name + "` is one extent, but this is a list"), false;
  Dims extents;
  for (const ast::ExprPtr &element : list->elements) {
    auto one = extent(*element);
    if (!one)
      return false;
    extents.push_back(*one);
  }
  if (dim.perElement) {
    state.scope.lists[slot.id] = extents;
  } else {
    state.scope.dims[slot.id] = productOf(extents);
    state.scope.groups[slot.id] = extents;
  }
  return true;
}

bool CaseExpander::takeScalar(State &state, const Slot &slot, const ast::Expr &value) {
  const sem::ScalarParam &scalar = op.scalars[slot.id];
  if (const auto *word = ast::dynCast<ast::Name>(&value); word && !scalar.enumerators.empty()) {
    auto found = std::find(scalar.enumerators.begin(), scalar.enumerators.end(), word->name);
    if (found == scalar.enumerators.end())
      return error(value.range, "`" + word->name + "` is no value of `" + scalar.name + "`"), false;
    state.scope.scalars[slot.id] = Constant{int64_t(found - scalar.enumerators.begin())};
    return true;
  }
  auto number = once([&](DiagnosticSink &to) { return evaluateSetting(state.scope, value, to); });
  if (!number)
    return false;
  // `eps = 0` gives a float scalar an integer, as a literal in the language does.
  DType type = *state.scope.dtypes[scalar.typeVar];
  if (isFloat(type))
    number = Constant{number->asFloat()};
  else if (number->isFloat())
    return error(value.range,
                 "`" + scalar.name + "` is " + std::string(name(type)) + ", but this is a float"),
           false;
  if (scalar.isConst &&
      std::find_if(scalar.choices.begin(), scalar.choices.end(), [&](const Constant &choice) {
        return choice.asFloat() == number->asFloat();
      }) == scalar.choices.end())
    return error(value.range, "`" + textOf(value) + "` is no value of `" + scalar.name + "`"), false;
  if (isBool(type))
    number = Constant{number->asBool()};
  state.scope.scalars[slot.id] = number;
  return true;
}

} // namespace tilegym::interp
