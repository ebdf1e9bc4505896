// SPDX-License-Identifier: MIT
// `tilegymc check`: the static check, then every kernel on every test case in the interpreter, against the reference.
#include "CaseReport.h"
#include "SimRun.h"
#include "Specs.h"
#include "compiler/interpreter/Gradient.h"
#include <algorithm>
#include <chrono>
#include <cstdio>

namespace tilegym::cli {
namespace {

struct Options {
  std::vector<std::string> specs, patterns, kernels;
  std::string exactly;
  unsigned jobs = 0, points = 2;
  bool staticOnly = false, quiet = false, simulate = false, referenceOnly = false;
  SimOptions sim;
};

/// One case, or the gradient check of one.
struct Task {
  const OpTests *tests;
  const sem::TestCall *call;
  OpPtr forward; ///< of a gradient check
};

interp::CaseResult checkOneGradient(const Task &task, const interp::RunOptions &run) {
  auto start = std::chrono::steady_clock::now();
  interp::GradientOptions options;
  options.run = run;
  interp::GradientResult gradient =
      interp::checkGradient(*task.tests->op, *task.forward, *task.call, options);
  interp::CaseResult result;
  result.name = task.call->name;
  result.failures = std::move(gradient.failures);
  result.skipped = std::move(gradient.skipped);
  result.outcomes = gradient.compared > 0;
  result.status = !result.failures.empty() ? interp::CaseResult::Failed
                  : result.outcomes == 0   ? interp::CaseResult::Skipped
                                           : interp::CaseResult::Passed;
  if (result.status == interp::CaseResult::Skipped && result.skipped.empty())
    result.skipped = "there is no derivative to compare";
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::vector<Task> makeTasks(const Options &o, const std::vector<std::unique_ptr<OpTests>> &tests,
                            const Globals &globals, DiagnosticSink &sink) {
  std::vector<Task> tasks;
  for (const auto &one : tests) {
    for (const sem::TestCall &call : one->calls)
      if (!o.referenceOnly || (call.testCase && !call.testCase->expects.empty()))
        tasks.push_back({one.get(), &call, nullptr});
    if (o.referenceOnly || !interp::isGradient(*one->op))
      continue;
    OpPtr forward = loadForward(*one->op, globals, sink);
    if (forward && interp::checkGradientNames(*one->op, *forward, sink))
      for (const sem::TestCall &call : one->calls)
        tasks.push_back({one.get(), &call, forward});
  }
  return tasks;
}

bool kernelsExist(const std::vector<std::string> &kernels, const std::vector<OpPtr> &ops) {
  for (const std::string &name : kernels) {
    bool known = false;
    for (const OpPtr &op : ops)
      for (const sem::KernelModel &kernel : op->kernels)
        known |= kernel.name == name;
    if (!known) {
      complain("--kernel: no op has a kernel '%s'", name.c_str());
      return false;
    }
  }
  return true;
}

/// Whether each op's kernels, and gradients, were checked on some case; else says whose were not. A choice of cases may leave out the
/// gradients, and what is simulated is what can be compiled.
bool somethingRan(const std::vector<CaseLine> &lines, bool allCases) {
  bool good = true;
  for (size_t i = 0; i < lines.size(); ++i) {
    auto same = [&](const CaseLine &line) {
      return line.op == lines[i].op && line.backend == lines[i].backend;
    };
    const bool first = std::none_of(lines.begin(), lines.begin() + std::ptrdiff_t(i), same);
    const bool ran = std::any_of(lines.begin(), lines.end(), [&](const CaseLine &line) {
      return same(line) && line.result.status != interp::CaseResult::Skipped;
    });
    const bool matters = lines[i].backend == "interpreter" || (allCases && lines[i].backend == "gradient");
    if (!first || ran || !matters)
      continue;
    complain("every case of %s was skipped, %s: %s", lines[i].op.c_str(), lines[i].backend.c_str(),
             lines[i].result.skipped.c_str());
    good = false;
  }
  return good;
}

int run(const Options &o, const Globals &globals) {
  DiagnosticSink sink;
  std::vector<OpPtr> ops = loadOps(o.specs, globals, sink);
  if (!sink.hasErrors() && !kernelsExist(o.kernels, ops))
    return InputWrong;
  std::vector<std::unique_ptr<OpTests>> tests;
  if (!o.staticOnly)
    for (const OpPtr &op : ops)
      tests.push_back(collectTests(op, o.patterns, sink, o.exactly));
  std::vector<Task> tasks = makeTasks(o, tests, globals, sink);
  if (tasks.empty() && !o.staticOnly && !sink.hasErrors()) {
    complain("no test case matches what -k or --case say");
    return InputWrong;
  }
  SimRun sim(o.sim);
  if (o.simulate && !sink.hasErrors() && !tasks.empty())
    if (int code = sim.open(tests, o.jobs); code != Ok)
      return code;
  if (o.simulate && !sim.lacking().empty()) {
    complain("--sim: %s", sim.lacking().c_str());
    return EnvironmentLacks;
  }
  std::vector<std::vector<CaseLine>> byTask(tasks.size());
  unsigned workers = unsigned(std::min<size_t>(threadsFor(o.jobs), std::max<size_t>(1, tasks.size())));
  runTasks(tasks.size(), o.jobs, "check", [&]() -> std::function<void(size_t)> {
    return [&](size_t i) {
      const Task &task = tasks[i];
      const sem::OpModel &op = *task.tests->op;
      interp::InterpreterBackend::Options options;
      options.run.threads = std::max(1u, threadsFor(0) / workers);
      options.pointsPerKernel = o.points;
      options.onlyKernels = o.kernels;
      if (o.referenceOnly) {
        interp::CaseRunner runner(op, task.tests->model, options.run);
        byTask[i] = {{op.name, "reference", runner.runReferenceAlone(*task.call)}};
        return;
      }
      if (task.forward) {
        byTask[i] = {{op.name, "gradient", checkOneGradient(task, options.run)}};
        return;
      }
      interp::InterpreterBackend backend(op, options);
      interp::CaseRunner runner(op, task.tests->model, options.run);
      byTask[i] = {{op.name, backend.name(), runner.run(*task.call, backend)}};
      if (o.simulate)
        sim.run(op, *task.call, runner, byTask[i]);
    };
  });
  if (o.staticOnly && !globals.json) {
    report(sink, globals);
    std::printf("%zu spec%s checked\n", ops.size(), ops.size() == 1 ? "" : "s");
    return sink.hasErrors() ? InputWrong : Ok;
  }
  std::vector<CaseLine> lines;
  for (size_t i = 0; i < tasks.size(); ++i)
    for (CaseLine &line : byTask[i])
      line.rerun = "tilegymc check " + shellWord(tasks[i].tests->op->spec->file->name()) +
                   (o.simulate ? " --sim" : "") + " --case " + shellWord(line.result.name);
  for (std::vector<CaseLine> &some : byTask)
    std::move(some.begin(), some.end(), std::back_inserter(lines));
  if (o.patterns.empty() && o.exactly.empty() && o.kernels.empty() && !o.staticOnly && !o.referenceOnly &&
      !sink.hasErrors())
    warnOfIdleKernels(ops, lines, sink);
  int code = reportCases(lines, sink, globals, o.quiet);
  return code == Ok && !somethingRan(lines, o.patterns.empty() && o.exactly.empty()) ? CheckFailed : code;
}

} // namespace

void addCheckCommand(CLI::App &app, Globals &globals) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "check", "Check specs, and run their kernels in the interpreter against the reference");
  command->add_option("OP", options->specs, "Specs: paths or names (default: all)");
  command
      ->add_option("-k", options->patterns,
                   "Only cases whose \"OP CASE\" has this text; given several times, all of them")
      ->allow_extra_args(false);
  command->add_option("--case", options->exactly, "Only the cases of exactly this name");
  command->add_option("--kernel", options->kernels, "Only these kernels")->allow_extra_args(false);
  command->add_option("--points", options->points, "Points of each kernel's tune section to try")
      ->check(CLI::PositiveNumber);
  command->add_option("-j,--jobs", options->jobs, "Threads (default: one a core)");
  command->add_flag(
      "--sim", options->simulate,
      "Compile the kernels, and run the code in the GPU simulator, too: with sanitizers for races, "
      "missing barriers and fences, deadlocks");
  addSimOptions(*command, options->sim);
  command->add_flag("--static", options->staticOnly, "Check only what needs no run");
  command->add_flag("--reference", options->referenceOnly,
                    "Judge the references alone, by the literal values that cases expect");
  command->add_flag("-q,--quiet", options->quiet, "No line for a case that passed");
  command->footer(
      "Examples:\n  tilegymc check softmax\n  tilegymc check softmax -k T=bf16 -k N=63 --kernel streaming\n"
      "  tilegymc check my_op.tile --json\n  tilegymc check my_op.tile --sim --arch sm_80");
  command->callback([options, &globals] { globals.exitCode = run(*options, globals); });
}

} // namespace tilegym::cli
