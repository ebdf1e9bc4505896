// SPDX-License-Identifier: MIT
// A kernel that ends before the host has started the next one is timed in a graph: between events it would be the host's time.
#include "BenchMeasure.h"
#include "BenchCalls.h"
#include "CaseReport.h"
#include "CublasLt.h"
#include <algorithm>

namespace tilegym::cli {
namespace {

constexpr double kShort = 15e-6; ///< seconds
constexpr size_t kCopies = 64;   ///< of inputs in a graph at most
constexpr size_t kColdBytes = size_t(192)
                              << 20; ///< all of a graph's copies together: more than the L2 cache holds

/// Remembers the name of what ran.
class VariantSeen : public interp::CaseObserver {
public:
  void reference(const sem::TestCall &, const interp::Arguments &,
                 const std::vector<std::vector<interp::HostTensor>> &) override {}
  void outcome(const std::string &, const interp::Outcome &outcome) override { name = outcome.variant; }
  std::string name;
};

/// A contestant that takes part, with its times; what fails takes no further part.
struct Entrant {
  std::unique_ptr<Contestant> contestant;
  std::string lacking;
  std::vector<double> seconds;

  void run(bool keep) {
    std::string error;
    double time = lacking.empty() ? contestant->once(error) : 0;
    if (lacking.empty())
      lacking = error;
    if (keep && lacking.empty())
      seconds.push_back(time);
  }
};

} // namespace

bool BenchMeasure::check(const sem::OpModel &op, const sem::TestModel &tests, const sem::TestCall &call,
                         BenchRow &row) {
  interp::RunOptions runOptions;
  runOptions.threads = threadsFor(0);
  runOptions.sanitize = false;
  interp::CaseRunner runner(op, tests, runOptions);
  VariantSeen seen;
  runner.setObserver(&seen);
  GpuBackend backend(gpu, package, op, health);
  interp::CaseResult result = runner.run(call, backend);
  row.variant = seen.name;
  if (result.status == interp::CaseResult::Passed)
    return true;
  row.skipped = result.status == interp::CaseResult::Skipped;
  row.failure = row.skipped ? result.skipped : result.failures[0];
  while (row.failure.ends_with('\n'))
    row.failure.pop_back();
  return false;
}

void BenchMeasure::measure(const OpPtr &op, const sem::TestModel &tests, const sem::BenchModel &bench,
                           const sem::TestCall &call, BenchRow &row) {
  row.bytes = hostInteger(bench.bytes, call);
  row.flops = hostInteger(bench.flops, call);
  sem::TestCall checked = smallEnough(*op, call, options.checkElements);
  row.checked = checked.name;
  std::vector<interp::Fault> faults;
  std::optional<interp::Arguments> inputs = interp::makeInputs(*op, checked, interp::Spread::Dense, faults);
  if (!inputs)
    row.failure = faults.empty() ? "no inputs" : faults[0].message;
  else if (check(*op, tests, checked, row))
    time(*op, call, *inputs, row);
}

void BenchMeasure::time(const sem::OpModel &op, const sem::TestCall &call, const interp::Arguments &pattern,
                        BenchRow &row) {
  std::vector<Entrant> entrants;
  std::vector<BenchColumn> lacking;
  std::string why;
  DeviceTimer timer(gpu, row.failure);
  size_t number = *package.findOp(op.name);
  if (row.failure.empty())
    entrants.push_back({ourContestant(timer, package, number, op, call, pattern, row.failure), "", {}});
  if (!row.failure.empty())
    return;
  if (row.bytes) {
    auto copy = copyContestant(timer, size_t(row.bytes), why);
    entrants.push_back({std::move(copy), why, {}});
  }
  if (std::optional<Product> product = productOf(op, call)) {
    auto cublas = cublasContestant(timer, op, call, pattern, *product, peers.cublasLt(), why);
    if (cublas)
      entrants.push_back({std::move(cublas), "", {}});
    else
      lacking.push_back({"cublaslt", why, {}});
  }
  for (std::unique_ptr<Contestant> &peer : peers.prepare(op, call, pattern, lacking))
    entrants.push_back({std::move(peer), "", {}});
  for (unsigned i = 0; i < options.warmUp; ++i)
    for (Entrant &entrant : entrants)
      entrant.run(/*keep=*/i > 0);
  Entrant &ours = entrants[0];
  row.inGraph = timer.graphs() && ours.lacking.empty() && summarize(ours.seconds).median < kShort;
  size_t footprint = std::max<size_t>(size_t(std::max<int64_t>(row.bytes, 0)), 1 << 20);
  unsigned runs = unsigned(std::clamp<size_t>(kColdBytes / footprint, 8, kCopies));
  for (Entrant &entrant : entrants) {
    entrant.seconds.clear();
    if (row.inGraph && entrant.lacking.empty())
      entrant.contestant->useGraph(runs, entrant.lacking);
  }
  for (unsigned i = 0; i < options.iterations; ++i)
    for (Entrant &entrant : entrants)
      entrant.run(/*keep=*/true);
  row.failure = ours.lacking;
  for (Entrant &entrant : entrants)
    row.columns.push_back({entrant.contestant ? entrant.contestant->name() : "copy", entrant.lacking,
                           summarize(entrant.seconds)});
  row.columns.insert(row.columns.end(), lacking.begin(), lacking.end());
  DType dtype = call.bound.spec.dtypes[size_t(op.tensors[0].typeVar)];
  row.roofline = card.roofline(row.bytes, row.flops, dtype);
}

} // namespace tilegym::cli
