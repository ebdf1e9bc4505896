// SPDX-License-Identifier: MIT
// A worker of `tune --measure`: a process of its own on one GPU, that a kernel may hang or crash. It is given a call at a time on its standard input, with
// what is known of it, and answers with lines for the results' file. Before a launch it says of what, so that the other side can count the seconds.
#include "EventTimer.h"
#include "Tune.h"
#include "TuneCheck.h"
#include "TuneResults.h"
#include "VariantFit.h"
#include <algorithm>
#include <cmath>
#include <csignal>
#include <iostream>
#include <sys/prctl.h>
#include <tuple>

namespace tilegym::cli {
namespace {

constexpr size_t kFlushBytes = size_t(256) << 20; ///< several times the L2 cache

/// To a tenth of a nanosecond, so that the file stays short.
double microseconds(std::vector<double> seconds) {
  return std::round(summarize(std::move(seconds)).median * 1e10) * 1e-4;
}

bool say(const Json &line) {
  std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace);
  return std::printf("%s\n", text.c_str()) > 0 && std::fflush(stdout) == 0;
}

class Measuring {
public:
  Measuring(const Gpu &gpu, const PackageFile &package, const TuneCalls &work)
      : gpu(gpu), package(package), op(work.op), work(work) {
    watch.launch = [](const std::string &entry) { say({{"launch", entry}}); };
    watch.landed = [] { say({{"landed", true}}); };
  }

  /// False, with `error` set, where the run cannot go on.
  bool measure(const sem::TestCall &call, CallResults &known, std::string &error) {
    TuneCheck check(gpu, package, *op, work.tests, call, watch);
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
    if (!known.toCheck(entries).empty() && !checkAll(call, known, check, entries, indices, error))
      return false;
    auto wrong = [&](const std::string &entry) { return known.failed.count(entry) != 0; };
    if (size_t(std::count_if(entries.begin(), entries.end(), wrong)) * 2 > entries.size()) {
      const std::string &entry = *std::find_if(entries.begin(), entries.end(), wrong);
      error = "more than half of the points are wrong, so the plan is not worth measuring: " + entry + ": " +
              known.failed[entry];
      return false;
    }
    for (auto [number, due] = known.due(entries); !due.empty(); std::tie(number, due) = known.due(entries))
      if (!round(call, known, check, number, due, indices, error))
        return false;
    return true;
  }

private:
  bool checkAll(const sem::TestCall &call, CallResults &known, TuneCheck &check,
                const std::vector<std::string> &entries, const std::map<std::string, uint32_t> &indices,
                std::string &error) {
    std::map<std::string, std::string> failed;
    const std::vector<std::string> unknown = known.toCheck(entries);
    for (bool whole : {false, true})
      for (const std::string &entry : unknown) {
        if (failed.count(entry))
          continue;
        std::string why = whole ? check.checkWhole(indices.at(entry)) : check.checkSmall(indices.at(entry));
        if (why.empty())
          continue;
        failed[entry] = why;
        if (!check.isLost())
          continue;
        say({{"lost", entry}, {"why", why}});
        std::_Exit(CheckFailed); // the GPU takes no more work in this process
      }
    std::vector<std::string> right;
    std::copy_if(unknown.begin(), unknown.end(), std::back_inserter(right),
                 [&](const std::string &entry) { return !failed.count(entry); });
    return send(checkedLine(op->name, call.name, right, failed), known, error);
  }

  bool send(const Json &line, CallResults &known, std::string &error) {
    known.take(line);
    if (say({{"result", line}}))
      return true;
    error = "whoever asked has gone";
    return false;
  }

  /// Points take turns, so that all see the same clocks; after each of them the caches are cold.
  bool round(const sem::TestCall &call, CallResults &known, TuneCheck &check, size_t number,
             const std::vector<std::string> &entries, const std::map<std::string, uint32_t> &indices,
             std::string &error) {
    size_t half = size_t(std::max<int64_t>(hostInteger(work.bench.bytes, call), 0)) / 2;
    DeviceBlock flush, from, to;
    if (!flush.allocate(gpu, kFlushBytes, error) || !from.allocate(gpu, half, error) ||
        !to.allocate(gpu, half, error))
      return false;
    EventTimer timer(gpu, error);
    std::map<std::string, std::vector<double>> runs;
    std::vector<double> copies;
    for (unsigned i = 0; i < kIterations[number] && error.empty(); ++i) {
      auto cold = [&] {
        timer.keep("flushing the L2 cache",
                   gpu.driver->memsetD8Async(flush.address(), uint8_t(i), flush.size(), nullptr));
      };
      for (const std::string &entry : entries) {
        VariantLaunch *launch = check.launchOf(indices.at(entry), error);
        cold();
        if (!launch)
          continue;
        watch.launch(entry);
        runs[entry].push_back(timer.time([&] { launch->launch(error); }));
        watch.landed();
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
    return send(roundLine(op->name, call.name, number, round), known, error);
  }

  const Gpu &gpu;
  const PackageFile &package;
  OpPtr op;
  const TuneCalls &work;
  LaunchWatch watch;
};

/// One question: which call, and the lines that are known of it.
bool answer(const std::string &text, const Gpu &gpu, const std::vector<std::unique_ptr<TuneCalls>> &work,
            const std::vector<std::shared_ptr<PackageFile>> &packages, std::string &error) {
  Json question = Json::parse(text);
  CallResults known;
  for (const Json &line : question.at("known"))
    known.take(line);
  const std::string op = question.at("op"), name = question.at("call");
  for (size_t i = 0; i < work.size(); ++i)
    for (const sem::TestCall &call : work[i]->calls)
      if (work[i]->op->name == op && call.name == name)
        return Measuring(gpu, *packages[i], *work[i]).measure(call, known, error);
  error = "there is no such call";
  return false;
}

} // namespace

std::shared_ptr<PackageFile> openPlanned(const std::string &folder, const TuneOp &part,
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

int tuneWorker(const TuneOptions &o, const std::vector<OpPtr> &ops) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); // a kernel that never ends would keep it
  std::optional<TunePlan> plan = readPlan(o.measure);
  std::vector<const TuneOp *> parts = plan ? partsOf(*plan, ops) : std::vector<const TuneOp *>();
  std::string error;
  std::optional<Gpu> gpu = findGpu(error);
  if (parts.empty() || !gpu) {
    say({{"error", error.empty() ? "its plan is gone" : error}});
    return EnvironmentLacks;
  }
  DiagnosticSink sink;
  std::vector<std::unique_ptr<TuneCalls>> work;
  std::vector<std::shared_ptr<PackageFile>> packages;
  for (size_t i = 0; i < ops.size(); ++i) {
    packages.push_back(openPlanned(o.measure, *parts[i], *ops[i]));
    work.push_back(std::make_unique<TuneCalls>(ops[i], *parts[i], sink));
    if (!packages.back())
      return InputWrong;
  }
  say({{"card", gpu->device->name}});
  for (std::string line; std::getline(std::cin, line);)
    say(answer(line, *gpu, work, packages, error) ? Json{{"done", true}} : Json{{"error", error}});
  return Ok;
}

} // namespace tilegym::cli
