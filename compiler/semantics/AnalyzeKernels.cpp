// SPDX-License-Identifier: MIT
// Headers of kernels and plans, and whether each has the `tune` section it needs.
#include "compiler/semantics/Analyze.h"
#include "compiler/semantics/Coverage.h"
#include "compiler/semantics/Derived.h"
#include "compiler/semantics/TuneSpace.h"
#include <algorithm>

namespace tilegym::sem {
namespace {

bool isRunTime(const Expr &e, const OpModel &op) {
  HostUses uses = usesOf(e);
  auto dim = [&](int64_t id) { return op.dims[id].choices.empty(); };
  auto scalar = [&](int64_t id) { return !op.scalars[id].isConst; };
  return std::any_of(uses.dims.begin(), uses.dims.end(), dim) ||
         std::any_of(uses.scalars.begin(), uses.scalars.end(), scalar);
}

/// Variants below 128 elements would not pay, so pow2ceil of run-time values stops there: written into the expression once,
/// so that everyone who evaluates it agrees.
ExprPtr clampPow2Ceil(const ExprPtr &e, const OpModel &op) {
  auto copy = std::make_shared<Expr>(*e);
  for (ExprPtr &operand : copy->operands)
    operand = clampPow2Ceil(operand, op);
  if (e->op != Op::Pow2Ceil || !isRunTime(*e, op))
    return copy;
  return makeExpr(Op::Max, e->type, {makeConst(DType::Index, Constant{kLeastDerivedPow2}, e->range), copy},
                  e->range);
}

class KernelAnalyzer {
public:
  KernelAnalyzer(OpModel &op, const ast::KernelDecl &decl, DiagnosticSink &sink)
      : op(op), decl(decl), sink(sink) {}
  KernelModel run();

private:
  void params(KernelModel &kernel);
  void guard(KernelModel &kernel);

  OpModel &op;
  const ast::KernelDecl &decl;
  DiagnosticSink &sink;
};

void KernelAnalyzer::params(KernelModel &kernel) {
  HostScope scope{op, "a derived parameter"};
  for (const ast::KernelParam &param : decl.params) {
    const std::string &name = param.name.name;
    std::string taken = op.findDim(name) >= 0       ? "a dim"
                        : op.findTensor(name) >= 0  ? "a tensor"
                        : op.findScalar(name) >= 0  ? "a scalar"
                        : op.findTypeVar(name) >= 0 ? "a dtype"
                        : isReserved(name)          ? "a word of the language"
                                                    : "";
    // A kernel that a plan launches may call what it is given by the name of what the op calls so: `launch combine(y = y)`.
    if (!taken.empty() && (!param.type || isReserved(name)))
      sink.error(param.name.range, "`" + name + "` is " + taken + " already",
                 "call the parameter something else");
    bool twice = false;
    for (const ast::KernelParam *earlier = decl.params.data(); earlier != &param; ++earlier)
      twice |= earlier->name.name == name;
    if (twice)
      sink.error(param.name.range, "the parameter `" + name + "` is declared twice");
    kernel.launchedOnly |= param.type.has_value();
    if (param.type || twice || !taken.empty())
      continue;
    kernel.tileParams.push_back(name);
    kernel.derived.push_back(nullptr);
    if (!param.derived) {
      scope.unavailable[name] = "it is tuned, and derived parameters follow from the call alone";
      continue;
    }
    ExprPtr value = checkHostIndex(*param.derived, scope, "a derived parameter", sink);
    if (!value)
      value = makeConst(DType::Index, Constant{int64_t(1)},
                        param.range); // reported; keeps it from counting as tuned
    kernel.derived.back() = clampPow2Ceil(value, op);
    scope.names[name] = {kernel.derived.back()};
  }
}

void KernelAnalyzer::guard(KernelModel &kernel) {
  if (!decl.when)
    return;
  if (kernel.launchedOnly)
    sink.error(decl.when->range,
               "`" + kernel.name + "` runs only where a plan launches it, so it has no guard",
               "put the guard on the plan");
  HostScope scope{op, "a guard"};
  scope.smCount = true;
  for (const std::string &param : kernel.tileParams)
    scope.unavailable[param] = "the guard is decided before parameters are";
  kernel.guard = checkHostBool(*decl.when, scope, "a guard", sink);
}

KernelModel KernelAnalyzer::run() {
  KernelModel kernel;
  kernel.name = decl.name.name;
  kernel.isPlan = decl.isPlan;
  kernel.decl = &decl;
  params(kernel);
  if (kernel.isPlan && kernel.launchedOnly)
    sink.error(decl.name.range, "the plan `" + kernel.name + "` has typed parameters",
               "only kernels are launched with arguments; a plan sees those of the op");
  guard(kernel);
  return kernel;
}

/// Every tuned parameter needs candidates, in the common part so that each arch has some.
void checkTuned(const KernelModel &kernel, DiagnosticSink &sink) {
  if (kernel.launchedOnly)
    return; // a plan's launch gives them
  std::vector<std::string> open;
  for (size_t i = 0; i < kernel.tileParams.size(); ++i) {
    auto sets = [&](const ast::Setting &s) { return s.name.name == kernel.tileParams[i]; };
    if (!kernel.derived[i] &&
        !(kernel.tune && std::any_of(kernel.tune->settings.begin(), kernel.tune->settings.end(), sets)))
      open.push_back(kernel.tileParams[i]);
  }
  if (open.empty())
    return;
  std::string have = open.size() == 1 ? " is a free parameter of `" : " are free parameters of `";
  if (!kernel.tune)
    sink.error(kernel.decl->name.range,
               "`" + kernel.name + "` has no `tune` section, but " + quotedList(open) +
                   (open.size() == 1 ? " is free" : " are free"),
               "list candidates: tune " + kernel.name + " { " + open[0] + " in [64, 128] }");
  else
    sink.error(kernel.tune->kernel.range,
               quotedList(open) + have + kernel.name + "` without candidate values",
               "add " + open[0] + " in [64, 128] outside of any `arch`");
}

} // namespace

void analyzeTune(const OpModel &op, const KernelModel &kernel, const ast::TuneDecl &tune,
                 DiagnosticSink &sink) {
  size_t before = sink.numErrors();
  tuneSpace(op, kernel, tune, "", sink);
  std::vector<std::string> seen;
  for (const ast::ArchSettings &arch : tune.archs) {
    const std::string &name = arch.arch.name;
    bool known =
        name.size() > 3 && name.compare(0, 3, "sm_") == 0 && isdigit(static_cast<unsigned char>(name[3]));
    if (!known)
      sink.error(arch.arch.range, "unknown arch `" + name + "`", "write it as sm_80 or sm_90a");
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      sink.error(arch.arch.range, "arch `" + name + "` has settings already");
    seen.push_back(name);
    if (sink.numErrors() == before)
      tuneSpace(op, kernel, tune, name, sink);
  }
}

/// The last kernel takes every legal call, or the op says which it refuses.
static void warnOfGaps(const OpModel &op, DiagnosticSink &sink) {
  const KernelModel *last = nullptr;
  for (const KernelModel &kernel : op.kernels)
    if (!kernel.launchedOnly)
      last = &kernel;
  bool anyStrides = last && factsBuilt(*last) != FactsBuilt::Fast;
  if (!last || (!last->guard && anyStrides))
    return;
  if (auto call = findUncovered(op))
    sink.warning(last->decl->when ? last->decl->when->range : last->decl->name.range,
                 "no kernel takes a call with " + *call + (anyStrides ? "" : " whatever its strides"),
                 anyStrides ? "leave out the last guard, or say in `where` which calls the op refuses"
                            : "leave out the last `facts = fast`, or add a kernel of `facts = general`");
}

void analyzeKernels(OpModel &op, const ast::Spec &spec, DiagnosticSink &sink) {
  const size_t before = sink.numErrors();
  auto find = [&](const std::string &name) {
    return std::find_if(op.kernels.begin(), op.kernels.end(),
                        [&](const KernelModel &k) { return k.name == name; });
  };
  for (const ast::KernelDecl &decl : spec.kernels) {
    if (auto earlier = find(decl.name.name); earlier == op.kernels.end())
      op.kernels.push_back(KernelAnalyzer(op, decl, sink).run());
    else
      sink.error(decl.name.range,
                 "there is a " + std::string(earlier->isPlan ? "plan" : "kernel") + " `" + decl.name.name +
                     "` already",
                 "kernels and plans share their names");
  }
  bool misnamed = false; // a tune section for no kernel is likely the one that another lacks
  for (const ast::TuneDecl &tune : spec.tunes) {
    auto kernel = find(tune.kernel.name);
    if (kernel == op.kernels.end()) {
      misnamed = true;
      std::vector<std::string> known;
      for (const KernelModel &k : op.kernels)
        known.push_back(k.name);
      sink.error(tune.kernel.range, "`tune` for `" + tune.kernel.name + "`, which is no kernel",
                 suggestion(tune.kernel.name, known));
    } else if (kernel->tune) {
      sink.error(tune.kernel.range, "`" + kernel->name + "` has a `tune` section already");
    } else if (kernel->launchedOnly) {
      sink.error(tune.kernel.range,
                 "`tune` for `" + kernel->name + "` has no effect: it runs only where a plan launches it",
                 "the launch gives its parameters, and the plan's `tune` section the knobs");
    } else {
      kernel->tune = &tune;
      analyzeTune(op, *kernel, tune, sink);
    }
  }
  bool runnable = op.kernels.empty();
  for (const KernelModel &kernel : op.kernels) {
    if (kernel.tune || !misnamed)
      checkTuned(kernel, sink);
    runnable |= !kernel.launchedOnly;
  }
  if (!runnable && sink.numErrors() == before)
    sink.error(spec.kernels[0].name.range, "every kernel has typed parameters, so none can run",
               "add a plan that launches them");
  if (sink.numErrors() != before)
    return;
  // Bounds of derived parameters need the whole interface, so they come last. Which dtypes are meant rarely matters: errors are said once.
  std::vector<Specialization> interfaces = enumerateInterfaces(op);
  interfaces.resize(std::min<size_t>(interfaces.size(), 256));
  for (size_t i = 0; i < op.kernels.size(); ++i)
    for (const Specialization &interface : interfaces) {
      DerivedValues values = deriveValues(op, interface, int64_t(i));
      if (values.error.empty())
        continue;
      sink.error(values.range, values.error, values.help);
      break;
    }
  if (sink.numErrors() == before)
    warnOfGaps(op, sink);
}

} // namespace tilegym::sem
