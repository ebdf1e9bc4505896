// SPDX-License-Identifier: MIT
// What `check` and `test` say: a line a case, the mismatches, the totals; or the same as JSON.
#pragma once
#include "Command.h"
#include "compiler/interpreter/CaseRunner.h"
#include <functional>
#include <nlohmann/json.hpp>

namespace tilegym::cli {

/// One case on one backend.
struct CaseLine {
  std::string op, backend;
  interp::CaseResult result;
  std::string rerun = {}; ///< a command that runs just this case
};

CaseLine skippedLine(const sem::OpModel &op, const sem::TestCall &call, const std::string &backend,
                     const std::string &why);

/// Runs task(0) ... task(count - 1) on `jobs` threads (0: one a core), with progress. Each thread makes its own `Worker`.
void runTasks(size_t count, unsigned jobs, const std::string &what,
              const std::function<std::function<void(size_t)>()> &makeWorker);
unsigned threadsFor(unsigned jobs);

/// A warning for each kernel that no case in the interpreter ran: nothing was checked of it.
void warnOfIdleKernels(const std::vector<std::shared_ptr<const sem::OpModel>> &ops,
                       const std::vector<CaseLine> &lines, DiagnosticSink &sink);

/// Prints all lines in order and the totals; returns the exit code. `quiet` leaves out what passed.
int reportCases(const std::vector<CaseLine> &lines, const DiagnosticSink &sink, const Globals &globals,
                bool quiet);

} // namespace tilegym::cli
