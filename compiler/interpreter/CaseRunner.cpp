// SPDX-License-Identifier: MIT
// Judges outcomes against reference and expectations.
#include "compiler/interpreter/CaseRunner.h"
#include <chrono>

namespace tilegym::interp {

CaseRunner::CaseRunner(const sem::OpModel &op, const sem::TestModel &model, RunOptions options)
    : op(op), model(model), options(std::move(options)) {}

std::string CaseRunner::heading(const sem::TestCall &test, const std::string &who) const {
  return op.name + ", case \"" + test.name + "\", " + who + ": ";
}

/// Faults with the place in the spec, as the compiler prints errors.
static void appendFaults(const std::vector<Fault> &faults, const std::string &heading,
                         std::vector<std::string> &failures) {
  for (const Fault &fault : faults) {
    Diagnostic diagnostic = toDiagnostic(fault);
    failures.push_back(heading +
                       (diagnostic.range.file ? "\n" + render(diagnostic) : diagnostic.message + "\n"));
  }
}

void CaseRunner::judge(const sem::TestCall &test, const std::string &who,
                       const std::vector<std::vector<HostTensor>> &got,
                       const std::vector<std::vector<HostTensor>> *reference, CaseResult &result) const {
  static const std::vector<sem::Expectation> none;
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    const sem::TensorParam &tensor = op.tensors[id];
    if (tensor.role == sem::Role::Input || !test.bound.spec.present[id])
      continue;
    DType type = test.bound.spec.dtypes[tensor.typeVar];
    Tolerance tolerance = toleranceFor(op, model, test.bound, type);
    // A list may be empty, and then so is the output that is as long.
    if (id >= got.size() || got[id].size() != test.bound.shapes[id].size()) {
      result.failures.push_back(heading(test, who) + "gave no `" + tensor.name + "`\n");
      continue;
    }
    for (size_t element = 0; element < got[id].size(); ++element) {
      std::string called = tensor.isList ? tensor.name + "[" + std::to_string(element) + "]" : tensor.name;
      double used = 0;
      if (reference)
        if (auto mismatch =
                compareTensors(called, got[id][element], (*reference)[id][element], tolerance, &used))
          result.failures.push_back(heading(test, who + " against reference") + describe(*mismatch));
      if (auto dtype = toleranceDType(op, test.bound.spec, type); dtype && reference)
        sem::mergeErrors(result.errors, {{*dtype, used * tolerance.relative}});
    }
    for (const sem::Expectation &expectation : test.testCase ? test.testCase->expects : none)
      for (size_t element = 0; expectation.tensor == int64_t(id) && element < expectation.literals.size();
           ++element)
        judgeLiteral(test, who, int64_t(id), element, got[id], expectation.literals[element],
                     result.failures);
  }
}

void CaseRunner::judgeLiteral(const sem::TestCall &test, const std::string &who, int64_t id, size_t element,
                              const std::vector<HostTensor> &got, const sem::LiteralTensor &literal,
                              std::vector<std::string> &failures) const {
  const sem::TensorParam &tensor = op.tensors[id];
  DType type = test.bound.spec.dtypes[tensor.typeVar];
  std::string called = tensor.isList ? tensor.name + "[" + std::to_string(element) + "]" : tensor.name;
  if (element >= got.size()) {
    failures.push_back(heading(test, who) + "gave no `" + called + "`\n");
    return;
  }
  // The literal's own shape, so that a wrong one is a mismatch; an empty literal says nothing of the extents inside it.
  Dims shape = literal.shape;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == sem::kDynamic)
      shape[axis] = axis < got[element].shape.size() ? got[element].shape[axis] : 0;
  if (auto want = literalTensor(type, shape, literal))
    if (auto mismatch =
            compareTensors(called, got[element], *want, toleranceFor(op, model, test.bound, type)))
      failures.push_back(heading(test, who + " against expected values") + describe(*mismatch));
}

const CaseRunner::Wanted &CaseRunner::wantedOf(const sem::TestCall &test, const Arguments &inputs) {
  if (wanted.caseName == test.name && !wanted.tensors.empty())
    return wanted;
  wanted = {};
  wanted.caseName = test.name;
  RunResult result = runReferenceOf(op, test.bound.spec, inputs, options);
  appendFaults(result.faults, heading(test, "reference"), wanted.failures);
  wanted.tensors = std::move(result.tensors);
  if (wanted.failures.empty()) {
    CaseResult own;
    judge(test, "reference", wanted.tensors, nullptr, own);
    wanted.failures = std::move(own.failures);
  }
  return wanted;
}

CaseResult CaseRunner::run(const sem::TestCall &test, Backend &backend, Spread spread) {
  auto start = std::chrono::steady_clock::now();
  CaseResult result;
  result.name = test.name;
  std::vector<Fault> faults;
  auto inputs = makeInputs(op, test, spread, faults);
  if (!inputs) {
    appendFaults(faults, heading(test, "inputs"), result.failures);
  } else {
    const Wanted &want = wantedOf(test, *inputs);
    result.failures = want.failures;
    if (want.failures.empty()) {
      CaseObserver *sees = spread == Spread::Dense ? observer : nullptr;
      if (sees)
        sees->reference(test, *inputs, want.tensors);
      BackendRun run = backend.run(test, *inputs);
      result.skipped = run.skipped;
      result.outcomes = int64_t(run.outcomes.size());
      if (run.outcomes.empty() && run.skipped.empty())
        result.failures.push_back(heading(test, backend.name()) + "no kernel of the op takes this case\n");
      for (const Outcome &outcome : run.outcomes) {
        if (outcome.kernel >= 0)
          result.kernels.push_back(outcome.kernel);
        std::string who = backend.name() + (outcome.variant.empty() ? "" : " " + outcome.variant);
        appendFaults(outcome.faults, heading(test, who), result.failures);
        if (sees && outcome.faults.empty())
          sees->outcome(backend.name(), outcome);
        if (outcome.faults.empty())
          judge(test, who, outcome.tensors, &want.tensors, result);
      }
    }
  }
  result.status = !result.failures.empty() ? CaseResult::Failed
                  : result.outcomes == 0   ? CaseResult::Skipped
                                           : CaseResult::Passed;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

CaseResult CaseRunner::runReferenceAlone(const sem::TestCall &test) {
  auto start = std::chrono::steady_clock::now();
  CaseResult result;
  result.name = test.name;
  std::vector<Fault> faults;
  if (auto inputs = makeInputs(op, test, Spread::Dense, faults))
    result.failures = wantedOf(test, *inputs).failures;
  else
    appendFaults(faults, heading(test, "inputs"), result.failures);
  result.status = result.failures.empty() ? CaseResult::Passed : CaseResult::Failed;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

} // namespace tilegym::interp
