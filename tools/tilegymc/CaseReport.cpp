// SPDX-License-Identifier: MIT
// Lines, totals and JSON of `check` and `test`.
#include "CaseReport.h"
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

namespace tilegym::cli {
namespace {

using json = nlohmann::ordered_json;
using interp::CaseResult;

const char *statusName(CaseResult::Status status) {
  return status == CaseResult::Passed ? "passed" : status == CaseResult::Failed ? "failed" : "skipped";
}

json caseJson(const CaseLine &line) {
  json j = {{"op", line.op},
            {"backend", line.backend},
            {"case", line.result.name},
            {"status", statusName(line.result.status)},
            {"variants", line.result.outcomes},
            {"seconds", line.result.seconds}};
  for (const sem::SeenError &error : line.result.errors)
    j["errors"][std::string(tilegym::name(error.dtype))] = error.relative;
  if (!line.result.failures.empty()) {
    j["failures"] = line.result.failures;
    j["rerun"] = line.rerun;
  }
  if (line.result.status == CaseResult::Skipped)
    j["reason"] = line.result.skipped;
  return j;
}

void printLine(const CaseLine &line) {
  const CaseResult &r = line.result;
  std::printf("%-7s %s, %s: %s", statusName(r.status), line.op.c_str(), line.backend.c_str(), r.name.c_str());
  if (r.status == CaseResult::Skipped)
    std::printf(" (%s)\n", r.skipped.c_str());
  else
    std::printf(" (%lld variant%s, %.3f s)\n", static_cast<long long>(r.outcomes), r.outcomes == 1 ? "" : "s",
                r.seconds);
  for (const std::string &failure : r.failures)
    std::printf("%s%s", failure.c_str(), failure.empty() || failure.back() != '\n' ? "\n" : "");
  if (!r.failures.empty())
    std::printf("  rerun: %s\n", line.rerun.c_str());
}

} // namespace

CaseLine skippedLine(const sem::OpModel &op, const sem::TestCall &call, const std::string &backend,
                     const std::string &why) {
  CaseLine line{op.name, backend, {}};
  line.result.name = call.name;
  line.result.status = interp::CaseResult::Skipped;
  line.result.skipped = why;
  return line;
}

unsigned threadsFor(unsigned jobs) { return jobs ? jobs : std::max(1u, std::thread::hardware_concurrency()); }

void runTasks(size_t count, unsigned jobs, const std::string &what,
              const std::function<std::function<void(size_t)>()> &makeWorker) {
  std::atomic<size_t> next{0}, done{0};
  std::mutex drawing;
  auto work = [&] {
    std::function<void(size_t)> worker = makeWorker();
    for (size_t i; (i = next++) < count;) {
      worker(i);
      std::lock_guard lock(drawing);
      progress(what + ": " + std::to_string(++done) + "/" + std::to_string(count));
    }
  };
  std::vector<std::thread> pool;
  for (unsigned t = 1; t < std::min<size_t>(threadsFor(jobs), count); ++t)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
  progress("");
}

void warnOfIdleKernels(const std::vector<std::shared_ptr<const sem::OpModel>> &ops,
                       const std::vector<CaseLine> &lines, DiagnosticSink &sink) {
  for (const auto &op : ops)
    for (size_t k = 0; k < op->kernels.size(); ++k) {
      const sem::KernelModel &kernel = op->kernels[k];
      bool ran = kernel.launchedOnly;
      for (const CaseLine &line : lines)
        if (line.op == op->name)
          // After a failure it is not known what else would have run.
          ran |= line.result.status == CaseResult::Failed ||
                 std::count(line.result.kernels.begin(), line.result.kernels.end(), int64_t(k)) > 0;
      if (!ran)
        sink.warning(kernel.decl->name.range,
                     "no case of `test` runs `" + kernel.name + "`, so nothing of it was checked",
                     "add a case that its guard takes");
    }
}

int reportCases(const std::vector<CaseLine> &lines, const DiagnosticSink &sink, const Globals &globals,
                bool quiet) {
  size_t counts[3] = {0, 0, 0};
  for (const CaseLine &line : lines)
    ++counts[line.result.status];
  if (globals.json) {
    json j = {{"passed", counts[CaseResult::Passed]},
              {"failed", counts[CaseResult::Failed]},
              {"skipped", counts[CaseResult::Skipped]},
              {"cases", json::array()},
              {"diagnostics", json::parse(renderJson(sink))}};
    for (const CaseLine &line : lines)
      j["cases"].push_back(caseJson(line));
    std::puts(j.dump(2, ' ', false, json::error_handler_t::replace).c_str());
  } else {
    for (const CaseLine &line : lines)
      if (!quiet || line.result.status == CaseResult::Failed)
        printLine(line);
    report(sink, globals);
    if (!lines.empty())
      std::printf("%zu passed, %zu failed, %zu skipped\n", counts[CaseResult::Passed],
                  counts[CaseResult::Failed], counts[CaseResult::Skipped]);
  }
  return sink.hasErrors() ? InputWrong : counts[CaseResult::Failed] ? CheckFailed : Ok;
}

} // namespace tilegym::cli
