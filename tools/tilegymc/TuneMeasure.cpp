// SPDX-License-Identifier: MIT
// `tune --measure`: checks every point, then times those that are right by successive halving, beside a device copy of the same bytes.
#include "BenchCalls.h"
#include "EventTimer.h"
#include "Tune.h"
#include "TuneCheck.h"
#include "TuneResults.h"
#include "VariantFit.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

namespace tilegym::cli {
namespace {

/// To a tenth of a nanosecond, so that the file stays short.
double microseconds(std::vector<double> seconds) {
  return std::round(summarize(std::move(seconds)).median * 1e10) * 1e-4;
}

constexpr size_t kFlushBytes = size_t(256) << 20; ///< several times the L2 cache

/// A date is all that tells when; a run over midnight is of the day when it began.
std::string today() {
  char text[16];
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

/// Calls done and the time they took, for a line of progress.
class Clock {
public:
  explicit Clock(size_t all) : all(all) {}
  void say(const std::string &what) const {
    std::string line = what + " (" + std::to_string(done) + "/" + std::to_string(all) + " calls";
    if (timed > 0)
      line += ", about " + std::to_string(int(spent / double(timed) * double(all - done) + 0.5)) + " s left";
    progress(line + ")");
  }
  void next(bool measured) {
    auto now = std::chrono::steady_clock::now();
    if (measured) {
      spent += std::chrono::duration<double>(now - last).count();
      ++timed;
    }
    last = now;
    ++done;
  }

private:
  size_t all, done = 0, timed = 0;
  double spent = 0;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

class Measuring {
public:
  Measuring(const Gpu &gpu, const PackageFile &package, const OpPtr &op, const TuneOp &part,
            TuneResults &results, DiagnosticSink &sink)
      : gpu(gpu), package(package), op(op), results(results),
        tests(sem::readTest(*op, *op->spec->test, sink)), bench(sem::readBench(*op, *op->spec->bench, sink)),
        calls(tuneCalls(*op, bench, part.shapes, sink)) {}

  const std::vector<sem::TestCall> &all() const { return calls; }

  /// False, with `error` set, where the run cannot go on.
  bool measure(const sem::TestCall &call, std::string &error) {
    CallResults &known = results.of(op->name, call.name);
    TuneCheck check(gpu, package, *op, tests, call);
    if (!check.prepare(error))
      return false;
    std::vector<std::string> entries;
    std::map<std::string, uint32_t> indices;
    for (uint32_t index : check.points()) {
      entries.push_back(check.entry(index));
      indices[entries.back()] = index;
    }
    if (entries.empty()) {
      error = "no point of the package takes the call " + call.name + ": build the plan again";
      return false;
    }
    if (!known.checked) {
      std::map<std::string, std::string> failed;
      for (const std::string &entry : known.survivors(entries))
        if (std::string why = check.checkSmall(indices[entry]);
            !why.empty() && !keepFailure(call, entry, why, check, failed, error))
          return false;
      for (const std::string &entry : known.survivors(entries)) {
        if (failed.count(entry))
          continue;
        if (std::string why = check.checkWhole(indices[entry]);
            !why.empty() && !keepFailure(call, entry, why, check, failed, error))
          return false;
      }
      if (failed.size() * 2 > entries.size()) {
        error = "more than half of the points are wrong, so the plan is not worth measuring: " +
                failed.begin()->first + ": " + failed.begin()->second;
        return false;
      }
      if (!results.addChecked(op->name, call.name, failed))
        return false;
    }
    while (!known.isDone(entries))
      if (!round(call, known, check, known.survivors(entries), indices, error))
        return false;
    return true;
  }

private:
  /// A wrong result costs the point its place; a GPU that is lost ends the run.
  bool keepFailure(const sem::TestCall &call, const std::string &entry, const std::string &why,
                   const TuneCheck &check, std::map<std::string, std::string> &failed, std::string &error) {
    failed[entry] = why;
    if (!check.isLost())
      return true;
    error =
        entry + ": " + why +
        "\nthe GPU is unusable in this process: run the same command again, which goes on without this point";
    results.addLost(op->name, call.name, entry, why);
    return false;
  }

  /// Points take turns, so that all see the same clocks; after each of them the caches are cold.
  bool round(const sem::TestCall &call, const CallResults &known, TuneCheck &check,
             const std::vector<std::string> &entries, const std::map<std::string, uint32_t> &indices,
             std::string &error) {
    size_t half = size_t(std::max<int64_t>(hostInteger(bench.bytes, call), 0)) / 2;
    DeviceBlock flush, from, to;
    if (!flush.allocate(gpu, kFlushBytes, error) || !from.allocate(gpu, half, error) ||
        !to.allocate(gpu, half, error))
      return false;
    EventTimer timer(gpu, error);
    std::map<std::string, std::vector<double>> runs;
    std::vector<double> copies;
    for (unsigned i = 0; i < kIterations[known.rounds.size()] && error.empty(); ++i) {
      auto cold = [&] {
        timer.keep("flushing the L2 cache",
                   gpu.driver->memsetD8Async(flush.address(), uint8_t(i), flush.size(), nullptr));
      };
      for (const std::string &entry : entries) {
        VariantLaunch *launch = check.launchOf(indices.at(entry), error);
        cold();
        if (launch)
          runs[entry].push_back(timer.time([&] { launch->launch(error); }));
      }
      cold();
      if (half)
        copies.push_back(timer.time([&] {
          timer.keep("copying on the GPU",
                     gpu.driver->memcpyDtoDAsync(to.address(), from.address(), half, nullptr));
        }));
    }
    if (!error.empty())
      return false;
    CallResults::Round round;
    round.copyMicroseconds = microseconds(std::move(copies));
    for (auto &[entry, seconds] : runs)
      round.microseconds[entry] = microseconds(std::move(seconds));
    return results.addRound(op->name, call.name, std::move(round));
  }

  const Gpu &gpu;
  const PackageFile &package;
  OpPtr op;
  TuneResults &results;
  sem::TestModel tests;
  sem::BenchModel bench;
  std::vector<sem::TestCall> calls;
};

/// The package as it was built; null after complaining.
std::shared_ptr<PackageFile> openPackage(const std::string &folder, const TuneOp &part,
                                         const sem::OpModel &op) {
  std::string path = folder + "/" + part.package;
  std::optional<std::string> bytes = readFile(path);
  if (!bytes) {
    complain("the plan's package '%s' is missing: build it again with `tilegymc tune %s --build %s`",
             path.c_str(), op.name.c_str(), folder.c_str());
    return nullptr;
  }
  if (checksumText(*bytes) != part.hash) {
    complain("'%s' is not the package that the plan was made with: build both again with `tilegymc tune %s "
             "--build %s`",
             path.c_str(), op.name.c_str(), folder.c_str());
    return nullptr;
  }
  std::shared_ptr<PackageFile> package = PackageFile::fromBytes(*bytes, "'" + path + "'");
  std::optional<size_t> number = package ? package->findOp(op.name) : std::nullopt;
  if (package && (!number || !package->isOf(*number, op))) {
    complain(
        "'%s' was built from another text of the spec: build it again with `tilegymc tune %s --build %s`",
        path.c_str(), op.name.c_str(), folder.c_str());
    return nullptr;
  }
  return package;
}

/// 90 for "sm_90a".
int archNumber(const std::string &chip) { return std::atoi(chip.c_str() + std::min<size_t>(3, chip.size())); }

} // namespace

int tuneMeasure(const TuneOptions &o, const std::vector<OpPtr> &ops, const Globals &globals) {
  std::optional<TunePlan> plan = readPlan(o.measure);
  if (!plan)
    return InputWrong;
  std::vector<const TuneOp *> parts = partsOf(*plan, ops);
  if (parts.empty())
    return InputWrong;
  std::string why;
  std::optional<Gpu> gpu = findGpu(why);
  if (!gpu) {
    complain("tune --measure times on a GPU: %s", why.c_str());
    return EnvironmentLacks;
  }
  if (gpu->device->arch != archNumber(plan->arch)) {
    complain("the plan is for %s, but this GPU is a %s (sm_%d): build a plan for it with --arch",
             plan->arch.c_str(), gpu->device->name, gpu->device->arch);
    return EnvironmentLacks;
  }
  DiagnosticSink sink;
  std::vector<std::shared_ptr<PackageFile>> packages;
  std::vector<std::unique_ptr<Measuring>> work;
  TuneResults results;
  Json header = {{"plan", plan->hash},
                 {"arch", plan->arch},
                 {"card", gpu->device->name},
                 {"driver", std::to_string(gpu->driver->version / 1000) + "." +
                                std::to_string(gpu->driver->version % 1000 / 10)},
                 {"versions", plan->versions},
                 {"date", today()}};
  size_t count = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    packages.push_back(openPackage(o.measure, *parts[i], *ops[i]));
    if (!packages.back())
      return InputWrong;
    work.push_back(std::make_unique<Measuring>(*gpu, *packages.back(), ops[i], *parts[i], results, sink));
    count += work.back()->all().size();
  }
  if (sink.hasErrors()) {
    report(sink, globals);
    return InputWrong;
  }
  if (o.dryRun) {
    for (size_t i = 0; i < ops.size(); ++i)
      for (const sem::TestCall &call : work[i]->all())
        std::printf("%s %s\n", ops[i]->name.c_str(), call.name.c_str());
    return Ok;
  }
  if (!results.open(resultsOf(o, o.measure), header))
    return InputWrong;
  Clock clock(count);
  for (size_t i = 0; i < ops.size(); ++i)
    for (const sem::TestCall &call : work[i]->all()) {
      const CallResults *before = results.find(ops[i]->name, call.name);
      bool fresh = !before || before->rounds.size() < kIterations.size();
      clock.say("tuning " + ops[i]->name + " " + call.name);
      std::string error;
      if (fresh && !work[i]->measure(call, error)) {
        progress("");
        complain("%s %s: %s", ops[i]->name.c_str(), call.name.c_str(), error.c_str());
        return CheckFailed;
      }
      clock.next(fresh);
      const CallResults &now = results.of(ops[i]->name, call.name);
      for (const auto &[entry, reason] : now.failed)
        std::fprintf(stderr, "%s is left out of %s: %s\n", entry.c_str(), call.name.c_str(), reason.c_str());
      if (!globals.json && fresh && !now.rounds.empty()) {
        double best = 0;
        for (const auto &[entry, time] : now.rounds.back().microseconds)
          best = best == 0 ? time : std::min(best, time);
        progress("");
        std::printf("%s %s: %zu points, best %.2f us, %.3f of a copy\n", ops[i]->name.c_str(),
                    call.name.c_str(), now.rounds.front().microseconds.size(), best,
                    best > 0 ? now.rounds.back().copyMicroseconds / best : 0);
        std::fflush(stdout);
      }
    }
  progress("");
  if (globals.json)
    std::puts(Json({{"calls", count}, {"results", resultsOf(o, o.measure)}}).dump(2).c_str());
  return Ok;
}

} // namespace tilegym::cli
