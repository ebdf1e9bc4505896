// SPDX-License-Identifier: MIT
// A leaf of the expansion becomes a case: literals fix dims, dims are evaluated, then the numbers of the input rules.
#include "compiler/interpreter/CaseExpander.h"
#include <limits>

namespace tilegym::interp {
namespace {

/// Product of extents; where it leaves 64 bits, the greatest integer.
int64_t productOf(const Dims &extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    if (__builtin_mul_overflow(result, extent, &result))
      return std::numeric_limits<int64_t>::max();
  return result;
}

std::string extentsText(const Dims &extents) {
  std::string text;
  for (size_t i = 0; i < extents.size(); ++i)
    text += (i ? "x" : "") + std::to_string(extents[i]);
  return text;
}

} // namespace

sem::HostValues hostValues(const sem::OpModel &op, const TestCase &test) {
  sem::HostValues values;
  values.dims = test.dims.values;
  values.lists = test.dims.lists;
  values.lengths = test.lengths;
  values.scalars.assign(test.scalars.begin(), test.scalars.end());
  values.dtypes = test.interface.dtypes;
  values.present = test.interface.present;
  return values;
}

bool CaseExpander::bindLiteral(TestCase &test, int64_t id, const std::vector<sem::LiteralTensor> &literals) {
  const sem::TensorParam &tensor = op.tensors[id];
  for (size_t element = 0; element < literals.size(); ++element) {
    const Dims &shape = literals[element].shape;
    size_t axis = 0;
    for (const sem::DimUse &use : tensor.dims) {
      size_t length = use.isGroup ? shape.size() + 1 - tensor.dims.size() : 1;
      if (axis + length > shape.size())
        return false; // of another rank, which the analysis has reported
      Dims here(shape.begin() + axis, shape.begin() + axis + length);
      axis += length;
      if (use.dim < 0 || (use.orOne && here[0] == 1))
        continue;
      if (op.dims[use.dim].perElement) {
        auto &list = test.dims.lists[use.dim];
        list.resize(std::max(list.size(), element + 1));
        list[element] = here[0];
      } else if (test.dims.values[use.dim] == sem::kDynamic) {
        test.dims.values[use.dim] = productOf(here);
        test.groups[use.dim] = here;
      }
    }
  }
  return true;
}

/// Extents may name each other, so they are evaluated until nothing changes.
bool CaseExpander::bindDims(TestCase &test, const State &state) {
  std::vector<bool> done(op.dims.size());
  for (size_t id = 0; id < op.dims.size(); ++id)
    done[id] = state.dims[id].values.empty() && !state.dims[id].isList;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t id = 0; id < op.dims.size(); ++id) {
      if (done[id])
        continue;
      Dims extents;
      bool unknown = false;
      for (const sem::ExprPtr &expr : state.dims[id].values) {
        sem::Evaluated value = sem::evaluateHost(*expr, hostValues(op, test));
        unknown |= value.unknown;
        if (!value && !value.unknown)
          return error(expr->range, "`" + op.dims[id].name + "`: " + value.error), false;
        if (value && value.value->asInt() < 0)
          return error(expr->range, "`" + op.dims[id].name + "` is " + std::to_string(value.value->asInt()) +
                                        " here, but a dim is at least 0"),
                 false;
        extents.push_back(value ? value.value->asInt() : 0);
      }
      if (unknown)
        continue;
      done[id] = changed = true;
      if (op.dims[id].perElement) {
        test.dims.lists[id] = extents;
      } else {
        test.dims.values[id] = productOf(extents);
        test.groups[id] = extents;
      }
    }
  }
  for (size_t id = 0; id < op.dims.size(); ++id) {
    bool missing = op.dims[id].perElement ? test.dims.lists[id].empty() && !state.dims[id].isList
                                          : test.dims.values[id] == sem::kDynamic;
    if (!done[id] || missing)
      return error(caseRange, "`" + op.dims[id].name + "` has no value here",
                   done[id] ? "add " + op.dims[id].name + (op.dims[id].perElement ? " = [64, 128]" : " = 64")
                            : "its value depends on itself"),
             false;
  }
  return true;
}

/// Lists that share a per-element dim have equal length; one whose dims are fixed alone gets two tensors.
void CaseExpander::setLengths(TestCase &test) const {
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    test.lengths.push_back(op.tensors[id].isList ? 2 : 1);
    for (const sem::DimUse &use : op.tensors[id].dims)
      if (use.dim >= 0 && op.dims[use.dim].perElement)
        test.lengths[id] = int64_t(test.dims.lists[use.dim].size());
    if (op.tensors[id].isList && !test.inputs[id].literals.empty())
      test.lengths[id] = int64_t(test.inputs[id].literals.size());
  }
}

bool CaseExpander::evaluateRule(TestCase &test, int64_t id, const sem::Generator &generator) {
  InputRule &rule = test.inputs[id];
  std::vector<sem::Constant> args;
  for (const sem::ExprPtr &expr : generator.args) {
    sem::Evaluated value = sem::evaluateHost(*expr, hostValues(op, test));
    if (!value)
      return error(expr->range, "`" + op.tensors[id].name +
                                    "`: " + (value.unknown ? "a value that is not known here" : value.error)),
             false;
    args.push_back(*value.value);
  }
  if (rule.kind == sem::Generator::RandInt && args.size() == 2) {
    rule.lo = args[0].asInt();
    rule.hi = args[1].asInt();
    return true;
  }
  if (!args.empty())
    rule.a = args[0].asFloat();
  if (args.size() > 1)
    rule.b = args[1].asFloat();
  if (args.size() > 2)
    rule.at = args[2].asInt();
  return true;
}

void CaseExpander::finish(const State &state) {
  TestCase test;
  test.range = caseRange;
  test.interface.dtypes = state.dtypes;
  test.interface.consts = state.scalars;
  test.scalars = state.scalars;
  for (size_t id = 0; id < op.scalars.size(); ++id)
    if (!op.scalars[id].isConst)
      test.interface.consts[id] = {};
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    InputRule rule;
    if (const sem::Generator *generator = state.tensors[id]) {
      rule.kind = generator->kind;
      rule.literals = generator->literals;
      rule.range = generator->range;
    } else if (op.tensors[id].optional && state.leaveOptionals) {
      rule.kind = sem::Generator::Absent;
    }
    test.interface.present.push_back(rule.kind != sem::Generator::Absent);
    test.inputs.push_back(std::move(rule));
  }
  test.dims.values.assign(op.dims.size(), sem::kDynamic);
  test.dims.lists.resize(op.dims.size());
  test.groups.resize(op.dims.size());
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (!bindLiteral(test, int64_t(id), test.inputs[id].literals))
      return;
  if (!bindDims(test, state))
    return;
  setLengths(test);
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (state.tensors[id] && !evaluateRule(test, int64_t(id), *state.tensors[id]))
      return;
  test.name = caseName + state.label;
  for (size_t id = 0; id < op.dims.size(); ++id) {
    test.interface.constDims.push_back(op.dims[id].choices.empty() ? sem::kDynamic : test.dims.values[id]);
    if (dims[id].size() > 1)
      test.name += " " + op.dims[id].name + "=" +
                   extentsText(op.dims[id].perElement ? test.dims.lists[id] : test.groups[id]);
  }
  if (state.leaveOptionals)
    test.name += " without optionals";
  if (!test.name.empty() && test.name[0] == ' ')
    test.name.erase(0, 1);
  test.expects = *expects;
  test.seed = hashName(test.name, hashName(op.name + "\n"));
  cases.push_back(std::move(test));
}

} // namespace tilegym::interp
