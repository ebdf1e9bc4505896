// SPDX-License-Identifier: MIT
// The points tried: for each dim and scalar that a condition names, the numbers next to every constant of the conditions, 1, and one
// beyond all of them.
#include "compiler/semantics/Coverage.h"
#include "compiler/semantics/HostExpr.h"
#include "compiler/semantics/TuneSpace.h"
#include <algorithm>
#include <set>

namespace tilegym::sem {
namespace {

constexpr int64_t kBeyond = int64_t(1) << 40;
constexpr size_t kMaxPoints = 1 << 14;
constexpr size_t kMaxInterfaces = 64;

void constantsOf(const Expr &e, std::set<int64_t> &found) {
  if (e.op == Op::Const && isInt(e.type.dtype))
    for (int64_t near : {-1, 0, 1})
      if (std::abs(e.constant.asInt()) < kBeyond)
        found.insert(e.constant.asInt() + near);
  for (const ExprPtr &operand : e.operands)
    constantsOf(*operand, found);
}

class CoverageSearch {
public:
  CoverageSearch(const OpModel &op, const Specialization &interface)
      : op(op), values(knownValues(op, interface)) {
    for (const Check &check : op.checks)
      checks.push_back(specializeHost(check.condition, op, interface));
    for (const KernelModel &kernel : op.kernels)
      if (!kernel.launchedOnly && factsBuilt(kernel) != FactsBuilt::Fast)
        guards.push_back(specializeHost(kernel.guard, op, interface));
    values.smCount = 132;
  }
  std::optional<std::string> run();

private:
  struct Variable {
    bool isDim;
    int64_t id;
    std::vector<int64_t> points;
  };
  void findVariables();
  bool uncovered() const;
  std::optional<std::string> walk(size_t variable);

  const OpModel &op;
  HostValues values;
  std::vector<ExprPtr> checks, guards;
  std::vector<Variable> variables;
};

void CoverageSearch::findVariables() {
  std::set<int64_t> constants = {1, kBeyond};
  std::vector<ExprPtr> conditions = guards;
  conditions.insert(conditions.end(), checks.begin(), checks.end());
  auto add = [&](bool isDim, int64_t id) {
    for (const Variable &known : variables)
      if (known.isDim == isDim && known.id == id)
        return;
    variables.push_back({isDim, id, {}});
  };
  for (const ExprPtr &condition : conditions) {
    constantsOf(*condition, constants);
    HostUses uses = usesOf(*condition);
    for (int64_t id : uses.dims)
      add(true, id);
    for (int64_t id : uses.scalars)
      add(false, id);
  }
  size_t total = 1;
  for (Variable &v : variables) {
    for (int64_t x : constants)
      if (!v.isDim || x >= 1)
        v.points.push_back(x);
    // Too many together: the later ones are only tried at both ends.
    if (total * v.points.size() > kMaxPoints)
      v.points = {1, kBeyond};
    total *= v.points.size();
  }
}

/// The op takes the call and no kernel does. What cannot be evaluated (a list, a product beyond 64 bits) decides nothing.
bool CoverageSearch::uncovered() const {
  for (const ExprPtr &check : checks)
    if (Evaluated holds = evaluateHost(*check, values); !holds || !holds.value->asBool())
      return false;
  for (const ExprPtr &guard : guards)
    if (Evaluated holds = evaluateHost(*guard, values); !holds || holds.value->asBool())
      return false;
  return true;
}

std::optional<std::string> CoverageSearch::walk(size_t variable) {
  if (variable == variables.size()) {
    if (!uncovered())
      return std::nullopt;
    std::string text;
    for (const Variable &v : variables) {
      int64_t x = v.isDim ? values.dims[size_t(v.id)] : values.scalars[size_t(v.id)]->asInt();
      text += (text.empty() ? "" : ", ") +
              (v.isDim ? op.dims[size_t(v.id)].name : op.scalars[size_t(v.id)].name) + " = " +
              std::to_string(x);
    }
    return text;
  }
  const Variable &v = variables[variable];
  for (int64_t x : v.points) {
    if (v.isDim)
      values.dims[size_t(v.id)] = x;
    else
      values.scalars[size_t(v.id)] = isFloat(op.typeVars[size_t(op.scalars[size_t(v.id)].typeVar)].choices[0])
                                         ? Constant{double(x)}
                                         : Constant{x};
    if (auto found = walk(variable + 1))
      return found;
  }
  return std::nullopt;
}

std::optional<std::string> CoverageSearch::run() {
  for (const ExprPtr &guard : guards)
    if (!guard || (guard->op == Op::Const && guard->constant.asBool()))
      return std::nullopt;
  findVariables();
  return walk(0);
}

} // namespace

std::optional<std::string> findUncovered(const OpModel &op) {
  std::vector<Specialization> interfaces = enumerateInterfaces(op);
  for (size_t i = 0; i < interfaces.size() && i < kMaxInterfaces; ++i) {
    auto found = CoverageSearch(op, interfaces[i]).run();
    if (!found)
      continue;
    // Which dtypes matters only where a guard asks; the first of them stand for all.
    std::string dtypes;
    for (size_t v = 0; v < op.typeVars.size(); ++v)
      if (!op.typeVars[v].name.empty())
        dtypes += (dtypes.empty() ? "" : ", ") + op.typeVars[v].name + " = " +
                  std::string(name(interfaces[i].dtypes[v]));
    return found->empty() ? dtypes : dtypes.empty() ? *found : *found + ", " + dtypes;
  }
  return std::nullopt;
}

} // namespace tilegym::sem
