// SPDX-License-Identifier: MIT
// `tune --measure`: gives calls to workers, one a GPU, keeps what they find, and ends those whose kernel does not.
#include "ChildProcess.h"
#include "Gpu.h"
#include "Tune.h"
#include "TuneResults.h"
#include "WorkProgress.h"
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <thread>

namespace tilegym::cli {
namespace {

using Seconds = std::chrono::duration<double>;
using SteadyClock = std::chrono::steady_clock;

/// So often in a row a worker is started again that ended without a launch to blame: after a hang, the driver may need a while.
constexpr int kStarts = 5;

/// A date is all that tells when; a run over midnight is of the day when it began.
std::string today() {
  char text[16];
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

/// 90 for "sm_90a".
int archNumber(const std::string &chip) { return std::atoi(chip.c_str() + std::min<size_t>(3, chip.size())); }

struct Task {
  size_t op;
  const sem::TestCall *call;
};

struct Worker {
  ChildProcess process;
  size_t gpu = 0;
  const Task *task = nullptr; ///< what it works on
  std::string flying;         ///< the entry that it has launched; empty: none
  SteadyClock::time_point since;
  int idleEnds = 0;
};

class Foreman {
public:
  Foreman(const TuneOptions &options, const std::vector<OpPtr> &ops, const std::string &card,
          TuneResults &results, bool quiet)
      : o(options), ops(ops), card(card), results(results), quiet(quiet) {}

  int run(const std::vector<Task> &tasks, size_t gpus) {
    WorkProgress counted(tasks.size(), "calls");
    clock = &counted;
    for (const Task &task : tasks) {
      const CallResults *before = results.find(ops[task.op]->name, task.call->name);
      if (before && before->done)
        finished(task, /*fresh=*/false);
      else
        queue.push_back(&task);
    }
    gpus = std::min(gpus, queue.size());
    for (size_t i = 0; i < gpus; ++i) {
      workers.push_back(std::make_unique<Worker>());
      workers.back()->gpu = i;
      start(*workers.back());
    }
    while (code == Ok && (!queue.empty() || std::any_of(workers.begin(), workers.end(), isBusy)))
      step();
    progress("");
    return code;
  }

private:
  static bool isBusy(const std::unique_ptr<Worker> &worker) { return worker->task != nullptr; }

  void fail(const Worker &worker, const std::string &why, int with) {
    progress("");
    std::string where = worker.task ? ops[worker.task->op]->name + " " + worker.task->call->name + ": " : "";
    complain("%s%s", where.c_str(), why.c_str());
    code = with;
  }

  void start(Worker &worker) {
    // Of the GPUs that this process may see, the worker sees one.
    const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
    std::vector<std::string> names = splitList({visible ? visible : ""});
    std::string one = worker.gpu < names.size() ? names[worker.gpu] : std::to_string(worker.gpu);
    std::vector<std::string> command = {kOwnProgram, "tune", "--worker", "--measure", o.measure};
    for (const std::string &spec : o.specs)
      command.push_back(spec);
    for (const std::string &folder : specDirs)
      command.insert(command.end(), {"--spec-dir", folder});
    std::string error;
    worker.flying.clear();
    if (!worker.process.start(command, {"CUDA_VISIBLE_DEVICES=" + one}, error))
      fail(worker, error, EnvironmentLacks);
  }

  void give(Worker &worker) {
    if (!worker.task && !queue.empty()) {
      worker.task = queue.front();
      queue.pop_front();
    }
    if (!worker.task)
      return;
    const std::string &op = ops[worker.task->op]->name, &call = worker.task->call->name;
    clock->say("tuning " + op + " " + call);
    worker.process.send(Json({{"op", op}, {"call", call}, {"known", results.of(op, call).lines}}).dump());
  }

  /// Waits for one worker to say something, or for the time of one to be over.
  void step() {
    std::vector<ChildProcess *> processes;
    double wait = 3600;
    for (const auto &worker : workers) {
      processes.push_back(&worker->process);
      if (!worker->flying.empty())
        wait = std::min(wait, o.limit - Seconds(SteadyClock::now() - worker->since).count());
    }
    int which = ChildProcess::waitForAny(processes, std::max(0.0, wait));
    if (which >= 0)
      return hear(*workers[size_t(which)]);
    for (const auto &worker : workers)
      if (!worker->flying.empty() && Seconds(SteadyClock::now() - worker->since).count() >= o.limit)
        lose(*worker, "it did not end within " + formatSeconds(o.limit) + ", and was killed");
  }

  static std::string formatSeconds(double seconds) {
    std::string text = std::to_string(seconds);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
      text.pop_back();
    return text + " s";
  }

  void hear(Worker &worker) {
    std::string text;
    ChildProcess::Got got = worker.process.receive(text, 0);
    if (got == ChildProcess::Late)
      return; // not a whole line yet
    Json said = got == ChildProcess::Line ? Json::parse(text, nullptr, false) : Json();
    if (!said.is_object())
      return ended(worker);
    worker.idleEnds = said.contains("card") ? worker.idleEnds : 0;
    if (said.contains("launch")) {
      worker.flying = said["launch"];
      worker.since = SteadyClock::now();
    } else if (said.contains("landed")) {
      worker.flying.clear();
    } else if (said.contains("result")) {
      if (!results.add(said["result"]))
        code = EnvironmentLacks;
    } else if (said.contains("lost")) {
      worker.flying = said["lost"];
      lose(worker, said["why"]);
    } else if (said.contains("error")) {
      fail(worker, said["error"], worker.task ? CheckFailed : EnvironmentLacks);
    } else if (said.contains("card") && said["card"] != card) {
      std::fprintf(stderr, "note: GPU %zu is left out: it is a %s, not a %s\n", worker.gpu,
                   said["card"].get<std::string>().c_str(), card.c_str());
      worker.process.kill();
    } else {
      if (said.contains("done") &&
          !results.add(doneLine(ops[worker.task->op]->name, worker.task->call->name)))
        code = EnvironmentLacks;
      if (said.contains("done"))
        finished(*std::exchange(worker.task, nullptr), /*fresh=*/true);
      give(worker);
    }
  }

  /// Without a word.
  void ended(Worker &worker) {
    std::string how = worker.process.ending();
    if (!worker.flying.empty())
      return lose(worker, "it ended the process that launched it: " + how);
    if (++worker.idleEnds == kStarts)
      return fail(worker, "the measuring process ends before it launches anything: " + how, EnvironmentLacks);
    std::this_thread::sleep_for(std::chrono::milliseconds(200 * worker.idleEnds));
    start(worker);
  }

  /// The point that is flying costs its place, and the worker its life.
  void lose(Worker &worker, const std::string &why) {
    worker.process.kill();
    const std::string &op = ops[worker.task->op]->name, &call = worker.task->call->name;
    if (!results.add(lostLine(op, call, worker.flying, why)))
      code = EnvironmentLacks;
    start(worker);
  }

  void finished(const Task &task, bool fresh) {
    clock->next(fresh);
    const CallResults &now = results.of(ops[task.op]->name, task.call->name);
    progress("");
    for (const auto &[entry, reason] : now.failed)
      std::fprintf(stderr, "%s is left out of %s: %s\n", entry.c_str(), task.call->name.c_str(),
                   reason.c_str());
    if (quiet || !fresh || now.rounds.empty())
      return;
    double best = 0;
    for (const auto &[entry, time] : now.rounds.back().microseconds)
      best = best == 0 ? time : std::min(best, time);
    std::printf("%s %s: %zu points, best %.2f us, %.3f of a copy\n", ops[task.op]->name.c_str(),
                task.call->name.c_str(), now.rounds.front().microseconds.size(), best,
                best > 0 ? now.rounds.back().copyMicroseconds / best : 0);
    std::fflush(stdout);
  }

public:
  std::vector<std::string> specDirs; ///< to look in, for workers

private:
  const TuneOptions &o;
  const std::vector<OpPtr> &ops;
  const std::string card;
  TuneResults &results;
  bool quiet;
  WorkProgress *clock = nullptr;
  std::deque<const Task *> queue;
  std::vector<std::unique_ptr<Worker>> workers;
  int code = Ok;
};

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
  std::vector<std::unique_ptr<TuneCalls>> work;
  std::vector<Task> tasks;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!openPlanned(o.measure, *parts[i], *ops[i]))
      return InputWrong;
    work.push_back(std::make_unique<TuneCalls>(ops[i], *parts[i], sink));
    for (const sem::TestCall &call : work.back()->calls)
      tasks.push_back({i, &call});
  }
  if (sink.hasErrors()) {
    report(sink, globals);
    return InputWrong;
  }
  if (o.dryRun) {
    for (const Task &task : tasks)
      std::printf("%s %s\n", ops[task.op]->name.c_str(), task.call->name.c_str());
    return Ok;
  }
  Json header = {{"plan", plan->hash},       {"arch", plan->arch},         {"card", gpu->device->name},
                 {"driver", gpu->version()}, {"versions", plan->versions}, {"date", today()}};
  for (const TuneOp &op : plan->ops)
    for (const TunePoint &point : op.points)
      header["codes"][point.entry] = point.code;
  TuneResults results;
  if (!results.open(resultsOf(o, o.measure), header, *plan))
    return InputWrong;
  int gpus = 1;
  gpu->driver->deviceGetCount(&gpus);
  Foreman foreman(o, ops, gpu->device->name, results, globals.json);
  foreman.specDirs = globals.specDirs;
  if (int code = foreman.run(tasks, size_t(std::max(1, gpus))); code != Ok)
    return code;
  if (globals.json)
    std::puts(Json({{"calls", tasks.size()}, {"results", resultsOf(o, o.measure)}}).dump(2).c_str());
  return Ok;
}

} // namespace tilegym::cli
