// SPDX-License-Identifier: MIT
// Runs test cases on a backend and judges what comes out: against the reference, evaluated here, and against the literal values of
// `expect`, which judge the reference too. The interpreter is one backend, a GPU another; both are a function from inputs to outputs.
#pragma once
#include "compiler/interpreter/Compare.h"
#include "compiler/interpreter/Inputs.h"
#include <memory>
#include <string>
#include <vector>

namespace tilegym::interp {

/// What one implementation made of a case.
struct Outcome {
  std::string variant;                          ///< "resident BM=4": as a user would name it; may be empty
  std::vector<std::vector<HostTensor>> tensors; ///< by tensor id; outputs and inouts are looked at
  std::vector<Fault> faults;
  int64_t kernel = -1; ///< which kernel of the op ran, where the backend says so
};

struct BackendRun {
  std::vector<Outcome> outcomes;
  std::string skipped; ///< why there is none; no outcome without a reason is a failure
};

class Backend {
public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  virtual BackendRun run(const sem::TestCall &test, const Arguments &inputs) = 0;
};

/// Every kernel and plan whose guard holds for the case, at several points of its `tune` section.
class InterpreterBackend : public Backend {
public:
  struct Options {
    RunOptions run;
    size_t pointsPerKernel = 2;      ///< first and last of the distinct tile parameters, then those between
    int64_t onePointAbove = 1 << 20; ///< cases with more elements get one point, with the largest tiles
    std::vector<std::string> onlyKernels; ///< empty: all
  };
  InterpreterBackend(const sem::OpModel &op, Options options) : op(op), options(std::move(options)) {}
  std::string name() const override { return "interpreter"; }
  BackendRun run(const sem::TestCall &test, const Arguments &inputs) override;

private:
  std::vector<sem::Specialization> points(const sem::Specialization &base, int64_t elements,
                                          std::vector<Fault> &faults) const;

  const sem::OpModel &op;
  Options options;
};

struct CaseResult {
  enum Status : uint8_t { Passed, Failed, Skipped } status = Passed;
  std::string name;
  std::vector<std::string> failures; ///< each a few lines that say op, case, variant and numbers
  std::string skipped;
  int64_t outcomes = 0;               ///< how many variants were compared
  std::vector<sem::SeenError> errors; ///< against the reference, by the dtype that keys the tolerance
  std::vector<int64_t> kernels;       ///< of the op: those that ran, as far as the backend says so
  double seconds = 0;
};

/// Sees what a case's runs are made of.
class CaseObserver {
public:
  virtual ~CaseObserver() = default;
  virtual void reference(const sem::TestCall &test, const Arguments &inputs,
                         const std::vector<std::vector<HostTensor>> &outputs) = 0;
  /// Of a run without faults; its outputs may be wrong.
  virtual void outcome(const std::string &backend, const Outcome &outcome) = 0;
};

class CaseRunner {
public:
  /// Of the runs on dense memory, from now on.
  void setObserver(CaseObserver *one) { observer = one; }
  /// `model` is the op's test section; its tolerances judge.
  CaseRunner(const sem::OpModel &op, const sem::TestModel &model, RunOptions options = {});

  CaseResult run(const sem::TestCall &test, Backend &backend, Spread spread = Spread::Dense);
  /// Only what needs no backend: the reference runs, and gives what the case expects.
  CaseResult runReferenceAlone(const sem::TestCall &test);

private:
  struct Wanted {
    std::string caseName;
    std::vector<std::vector<HostTensor>> tensors;
    std::vector<std::string> failures;
  };
  const Wanted &wantedOf(const sem::TestCall &test, const Arguments &inputs);
  void judge(const sem::TestCall &test, const std::string &who,
             const std::vector<std::vector<HostTensor>> &got,
             const std::vector<std::vector<HostTensor>> *reference, CaseResult &result) const;
  void judgeLiteral(const sem::TestCall &test, const std::string &who, int64_t id, size_t element,
                    const std::vector<HostTensor> &got, const sem::LiteralTensor &literal,
                    std::vector<std::string> &failures) const;
  std::string heading(const sem::TestCall &test, const std::string &who) const;

  const sem::OpModel &op;
  const sem::TestModel &model;
  RunOptions options;
  CaseObserver *observer = nullptr;
  Wanted wanted; ///< of the last case: several backends and spreads share it
};

/// "resident BM=4 BN=1024": kernel and tile parameters of a specialization.
std::string variantName(const sem::OpModel &op, const sem::Specialization &spec);

} // namespace tilegym::interp
