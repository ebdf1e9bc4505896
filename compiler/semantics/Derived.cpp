// SPDX-License-Identifier: MIT
// Evaluates derived parameters at the points that matter: every value of a dim, or, where a dim is only ever rounded up to a power of
// two or compared with constants, one value for each power, and those around each constant.
#include "compiler/semantics/Derived.h"
#include "compiler/semantics/HostExpr.h"
#include <algorithm>
#include <set>

namespace tilegym::sem {
namespace {

constexpr int64_t kMaxPoints = int64_t(1) << 18;
constexpr int kTopPower = 40; ///< no tensor has more elements along an axis

struct Variable {
  bool isDim;
  int64_t id, low, high;
  bool onlyPowers;             ///< every use is pow2ceil(v), or compares v with a constant
  std::set<int64_t> constants; ///< that it is compared with
  std::vector<int64_t> points;
};

/// False where `e` uses the variable outside of pow2ceil(v) and of comparisons with constants, which are noted.
bool usesOnlyPowers(const Expr &e, Op code, int64_t id, std::set<int64_t> &constants) {
  auto isVariable = [&](const Expr &x) { return x.op == code && x.index == id; };
  if (isVariable(e))
    return false;
  if (e.op == Op::Pow2Ceil && e.operands[0]->op == code)
    return true;
  bool compares = e.op == Op::Lt || e.op == Op::Le || e.op == Op::Gt || e.op == Op::Ge;
  if (compares && isVariable(*e.operands[0]) && e.operands[1]->op == Op::Const) {
    constants.insert(e.operands[1]->constant.asInt());
    return true;
  }
  for (const ExprPtr &operand : e.operands)
    if (!usesOnlyPowers(*operand, code, id, constants))
      return false;
  return true;
}

class Deriver {
public:
  Deriver(const OpModel &op, const Specialization &interface, const KernelModel &kernel)
      : op(op), kernel(kernel), values(knownValues(op, interface)) {
    guard = specializeHost(kernel.guard, op, interface);
    for (const ExprPtr &e : kernel.derived)
      derived.push_back(specializeHost(e, op, interface));
    for (const Check &check : op.checks)
      conditions.push_back(specializeHost(check.condition, op, interface));
    conditions.push_back(guard);
  }
  DerivedValues run();

private:
  bool findVariables();
  bool choosePoints();
  void set(const Variable &v, int64_t x);
  bool walk(size_t variable, bool guarded);
  bool stillGrows();
  std::string nameOf(const Variable &v) const { return v.isDim ? op.dims[v.id].name : op.scalars[v.id].name; }
  const ExprPtr &firstDerived() const {
    return *std::find_if(kernel.derived.begin(), kernel.derived.end(),
                         [](const ExprPtr &e) { return e != nullptr; });
  }
  const ExprPtr &busiest() const;
  bool fail(const ExprPtr &at, std::string error, std::string help) {
    result.range = at->range;
    result.error = std::move(error);
    result.help = std::move(help);
    return false;
  }

  const OpModel &op;
  const KernelModel &kernel;
  HostValues values;
  ExprPtr guard;
  std::vector<ExprPtr> derived, conditions;
  std::vector<Variable> variables;
  std::set<std::vector<int64_t>> found;
  DerivedValues result;
};

bool Deriver::findVariables() {
  HostBounds bounds = boundsOf(op, conditions);
  for (size_t i = 0; i < derived.size(); ++i) {
    if (!derived[i])
      continue;
    HostUses uses = usesOf(*derived[i]);
    auto add = [&](bool isDim, int64_t id) {
      for (Variable &known : variables)
        if (known.isDim == isDim && known.id == id)
          return;
      Variable v{isDim,
                 id,
                 isDim ? bounds.dimLow[id] : bounds.scalarLow[id],
                 isDim ? bounds.dimHigh[id] : bounds.scalarHigh[id],
                 true,
                 {},
                 {}};
      for (const ExprPtr &e : derived)
        v.onlyPowers =
            v.onlyPowers && (!e || usesOnlyPowers(*e, isDim ? Op::Dim : Op::Scalar, id, v.constants));
      variables.push_back(v);
    };
    for (int64_t id : uses.dims) {
      if (op.dims[id].perElement)
        return fail(kernel.derived[i],
                    "the derived parameter `" + kernel.tileParams[i] + "` depends on `" + op.dims[id].name +
                        "`, which differs between list elements",
                    "tune it instead");
      add(true, id);
    }
    for (int64_t id : uses.scalars)
      add(false, id);
  }
  return true;
}

bool Deriver::choosePoints() {
  int64_t total = 1;
  for (Variable &v : variables) {
    if (v.low > v.high) {
      v.points.clear();
    } else if (v.onlyPowers) {
      // Both ends and every power between: pow2ceil is constant from one power to the next.
      int64_t low = std::max<int64_t>(v.low, 1), high = std::min(v.high, int64_t(1) << kTopPower);
      v.points.push_back(low);
      for (int64_t power = 1; power < high; power *= 2)
        if (power > low)
          v.points.push_back(power);
      if (high > low)
        v.points.push_back(high);
      for (int64_t constant : v.constants)
        for (int64_t near : {constant - 1, constant, constant + 1})
          if (near > low && near < high)
            v.points.push_back(near);
    } else {
      const ExprPtr *at = nullptr;
      size_t which = 0;
      for (size_t i = 0; i < derived.size(); ++i)
        if (derived[i]) {
          at = &kernel.derived[i];
          which = i;
          HostUses uses = usesOf(*derived[i]);
          const auto &ids = v.isDim ? uses.dims : uses.scalars;
          if (std::find(ids.begin(), ids.end(), v.id) != ids.end())
            break;
        }
      bool open = v.high == HostBounds::none || v.low == INT64_MIN;
      if (open || v.high - v.low >= kMaxPoints / total)
        return fail(*at,
                    "the derived parameter `" + kernel.tileParams[which] + "` has " +
                        (open ? "no bound" : "too many values") + ": `" + nameOf(v) + "` can be " +
                        (open ? "any size" : std::to_string(v.low) + " to " + std::to_string(v.high)),
                    "bound it in the guard, e.g. when " + nameOf(v) + " <= 16384");
      for (int64_t x = v.low; x <= v.high; ++x)
        v.points.push_back(x);
    }
    total *= std::max<int64_t>(1, int64_t(v.points.size()));
    if (total > kMaxPoints)
      return fail(firstDerived(),
                  "the derived parameters of `" + kernel.name + "` have too many combinations to list",
                  "bound the dims in the guard");
  }
  return true;
}

/// The parameter with the most values of those found.
const ExprPtr &Deriver::busiest() const {
  const ExprPtr *most = &firstDerived();
  size_t best = 0;
  for (size_t i = 0; i < derived.size(); ++i) {
    std::set<int64_t> distinct;
    for (const std::vector<int64_t> &tuple : found)
      distinct.insert(tuple[i]);
    if (derived[i] && distinct.size() > best) {
      best = distinct.size();
      most = &kernel.derived[i];
    }
  }
  return *most;
}

/// Evaluates at every combination of points. The guard decides exactly only where all of its variables are walked point by point.
bool Deriver::walk(size_t variable, bool guarded) {
  if (variable < variables.size()) {
    Variable &v = variables[variable];
    for (int64_t x : v.points) {
      set(v, x);
      if (!walk(variable + 1, guarded))
        return false;
    }
    return true;
  }
  if (guarded && guard)
    if (Evaluated holds = evaluateHost(*guard, values); holds && !holds.value->asBool())
      return true;
  std::vector<int64_t> tuple(derived.size(), 0);
  for (size_t i = 0; i < derived.size(); ++i) {
    if (!derived[i])
      continue;
    Evaluated value = evaluateHost(*derived[i], values);
    if (!value)
      return fail(kernel.derived[i], "the derived parameter `" + kernel.tileParams[i] + "`: " + value.error,
                  "");
    tuple[i] = value.value->asInt();
    if (tuple[i] < 1)
      return fail(kernel.derived[i],
                  "the derived parameter `" + kernel.tileParams[i] + "` can be " + std::to_string(tuple[i]),
                  "it must be at least 1");
  }
  found.insert(tuple);
  if (found.size() > kMaxDerived)
    return fail(busiest(),
                "the derived parameters of `" + kernel.name + "` take more than " +
                    std::to_string(kMaxDerived) + " values",
                "tune them, or bound the dims in the guard");
  return true;
}

void Deriver::set(const Variable &v, int64_t x) {
  if (v.isDim)
    values.dims[v.id] = x;
  else
    values.scalars[v.id] = Constant{x};
}

/// Where a dim has no bound, the parameters may still have one: min(pow2ceil(N), 4096).
bool Deriver::stillGrows() {
  for (const Variable &v : variables) {
    if (v.high != HostBounds::none || v.points.empty())
      continue;
    for (const Variable &other : variables)
      if (!other.points.empty())
        set(other, other.points.front());
    for (size_t i = 0; i < derived.size(); ++i) {
      if (!derived[i])
        continue;
      set(v, int64_t(1) << kTopPower);
      Evaluated top = evaluateHost(*derived[i], values);
      set(v, int64_t(1) << (kTopPower - 1));
      Evaluated below = evaluateHost(*derived[i], values);
      if (!top || !below || !(*top.value == *below.value))
        return !fail(kernel.derived[i],
                     "the derived parameter `" + kernel.tileParams[i] + "` has no bound: `" + nameOf(v) +
                         "` can be any size",
                     "bound it in the guard, e.g. when " + nameOf(v) + " <= 16384");
    }
  }
  return false;
}

DerivedValues Deriver::run() {
  for (const ExprPtr &condition : conditions)
    if (condition && condition->op == Op::Const && !condition->constant.asBool())
      return result;
  if (!findVariables() || !choosePoints() || stillGrows())
    return result;
  bool guarded = true;
  for (const Variable &v : variables)
    guarded = guarded && !v.onlyPowers;
  if (walk(0, guarded))
    result.tuples.assign(found.begin(), found.end());
  return result;
}

} // namespace

DerivedValues deriveValues(const OpModel &op, const Specialization &interface, int64_t kernel) {
  return Deriver(op, interface, op.kernels[size_t(kernel)]).run();
}

} // namespace tilegym::sem
