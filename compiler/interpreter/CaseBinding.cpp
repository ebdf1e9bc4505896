// SPDX-License-Identifier: MIT
// A finished case: dims that literals fix, what is still missing, and the case itself.
#include "compiler/interpreter/CaseExpander.h"
#include <algorithm>

namespace tilegym::interp {

using sem::Constant;

namespace {

std::string joined(const Dims &dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

} // namespace

/// Takes the dims that a literal's shape fixes, and checks those that are set.
bool CaseExpander::bindLiteral(State &state, int64_t id, const InputRule &rule) {
  const sem::TensorParam &tensor = op.tensors[id];
  const Dims &shape = rule.literal.shape;
  size_t fixed = 0;
  bool hasGroup = false;
  for (const sem::DimUse &use : tensor.dims)
    use.isGroup ? void(hasGroup = true) : void(++fixed);
  if (shape.size() < fixed || (!hasGroup && shape.size() != fixed))
    return error(rule.range, "`" + tensor.name + "` has rank " + std::to_string(fixed) +
                                 (hasGroup ? " or more" : "") + ", but this literal has rank " +
                                 std::to_string(shape.size())),
           false;
  size_t axis = 0;
  for (const sem::DimUse &use : tensor.dims) {
    Dims here(shape.begin() + axis, shape.begin() + axis + (use.isGroup ? shape.size() - fixed : 1));
    axis += here.size();
    if (use.dim < 0 || op.dims[use.dim].perElement || (use.orOne && here == Dims{1}))
      continue;
    auto &value = state.scope.dims[use.dim];
    if (value && *value != productOf(here))
      return error(rule.range, "`" + tensor.name + "` is given as " + joined(shape) + ", but `" +
                                   op.dims[use.dim].name + "` is " + std::to_string(*value)),
             false;
    value = productOf(here);
    state.scope.groups[use.dim] = here;
  }
  return true;
}

bool CaseExpander::bindLiterals(State &state) {
  for (size_t i = 0; i < op.tensors.size(); ++i)
    if (state.rules[i] && state.rules[i]->kind == InputRule::Literal && !state.rules[i]->literal.isScalar &&
        !op.tensors[i].isList)
      if (!bindLiteral(state, int64_t(i), *state.rules[i]))
        return false;
  return true;
}

bool CaseExpander::complete(const State &state) {
  for (size_t i = 0; i < op.dims.size(); ++i)
    if (op.dims[i].perElement ? state.scope.lists[i].empty() : !state.scope.dims[i])
      return error(caseRange, "dim `" + op.dims[i].name + "` has no value here",
                   "set it in the test section or in the case, for example `" + op.dims[i].name + " = " +
                       (op.dims[i].perElement ? "[3, 0, 5]`" : "64`")),
             false;
  for (size_t i = 0; i < op.tensors.size(); ++i) {
    const sem::TensorParam &tensor = op.tensors[i];
    if (tensor.role == sem::Role::Output || state.rules[i] || (tensor.optional && state.allAbsent))
      continue;
    DType type = *state.scope.dtypes[tensor.typeVar];
    if (!isFloat(type))
      return error(caseRange,
                   "input `" + tensor.name + "` is " + std::string(name(type)) +
                       ", and the test does not say its values",
                   "only float inputs are normal(0, 1) unless said; for example `" + tensor.name +
                       (isBool(type) ? " = randint(0, 2)`" : " = randint(0, 10)`")),
             false;
  }
  return true;
}

void CaseExpander::finish(State state) {
  if (!bindLiterals(state) || !complete(state))
    return;
  TestCase test;
  test.name = caseName + state.label;
  if (!test.name.empty() && test.name[0] == ' ')
    test.name.erase(0, 1);
  test.range = caseRange;
  for (const auto &type : state.scope.dtypes)
    test.interface.dtypes.push_back(*type);
  for (size_t i = 0; i < op.dims.size(); ++i) {
    test.dims.values.push_back(state.scope.dims[i].value_or(sem::kDynamic));
    test.interface.constDims.push_back(op.dims[i].choices.empty() ? sem::kDynamic : *state.scope.dims[i]);
  }
  test.dims.lists = state.scope.lists;
  test.groups = state.scope.groups;
  for (const auto &scalar : state.scope.scalars)
    test.scalars.push_back(*scalar);
  test.interface.consts = test.scalars;
  for (size_t i = 0; i < op.scalars.size(); ++i)
    if (!op.scalars[i].isConst)
      test.interface.consts[i] = Constant{};
  for (size_t i = 0; i < op.tensors.size(); ++i) {
    InputRule rule = state.rules[i].value_or(InputRule{});
    if (!state.rules[i] && state.allAbsent && op.tensors[i].optional)
      rule.kind = InputRule::Absent;
    test.interface.present.push_back(rule.kind != InputRule::Absent);
    test.inputs.push_back(std::move(rule));
  }
  for (size_t i = 0; expects && i < expects->size(); ++i) {
    const ast::Setting &setting = (*expects)[i];
    Expectation expectation;
    expectation.tensor = op.findTensor(setting.name.name);
    expectation.range = setting.range;
    if (expectation.tensor < 0 || op.tensors[expectation.tensor].role == sem::Role::Input)
      return error(setting.name.range, "`" + setting.name.name + "` is no output of the op");
    auto values = once([&](DiagnosticSink &to) { return evaluateLiteral(state.scope, *setting.value, to); });
    if (!values)
      return;
    expectation.values = std::move(*values);
    test.expects.push_back(std::move(expectation));
  }
  test.seed = hashName(test.name, hashName(op.name + "\n"));
  cases.push_back(std::move(test));
}

} // namespace tilegym::interp
