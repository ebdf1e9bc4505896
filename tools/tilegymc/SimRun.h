// SPDX-License-Identifier: MIT
// Test cases on compiled code in the simulator: what `test --backend sim` and `check --sim` share.
#pragma once
#include "CaseReport.h"
#include "PackageFile.h"
#include <atomic>

namespace tilegym::cli {

struct SimOptions {
  std::vector<std::string> archs; ///< empty: every target there is
  int64_t limit = 65536;          ///< elements of all tensors of a case together; larger cases are skipped
  int64_t spreadLimit = 4096;     ///< cases with at most so many run in strided memory, too
  bool others = true;             ///< variants that the runtime would not choose
  uint64_t seed = 0;              ///< of schedules, beside the case's name
};
/// `--arch`, `--limit`, `--seed`.
void addSimOptions(CLI::App &command, SimOptions &options);

/// The packages to run, or why there are none.
class SimRun {
public:
  explicit SimRun(const SimOptions &options) : options(options) {}
  /// Compiles the variants that could take one of the calls. An exit code other than Ok where an error was said.
  int open(const std::vector<std::unique_ptr<OpTests>> &tests, unsigned jobs);
  /// Runs one case on every target, a line each, through the caller's runner. On any thread.
  void run(const sem::OpModel &op, const sem::TestCall &call, interp::CaseRunner &runner,
           std::vector<CaseLine> &lines) const;
  /// Why nothing can be simulated; empty: it can.
  const std::string &lacking() const { return why; }

private:
  struct Target {
    std::string chip;
    int capability = 0;
    std::shared_ptr<PackageFile> package;
  };
  SimOptions options;
  std::vector<Target> targets;
  std::string why;
};

} // namespace tilegym::cli
