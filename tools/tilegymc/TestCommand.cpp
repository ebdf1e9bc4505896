// SPDX-License-Identifier: MIT
// `tilegymc test`: the spec's own cases on every backend there is.
#include "CaseReport.h"
#include "GpuBackend.h"
#include "SaveCases.h"
#include "SimRun.h"
#include <cstdio>
#include <filesystem>

namespace tilegym::cli {
namespace {

struct Options {
  std::vector<std::string> specs, patterns;
  std::string backend = "all", package, save, exactly;
  SimOptions sim;
  unsigned jobs = 0;
  bool quiet = false;
};

struct Task {
  const OpTests *tests;
  const sem::TestCall *call;
  std::string folder; ///< where it is saved; empty: nowhere
};

const std::pair<interp::Spread, const char *> kSpreads[] = {
    {interp::Spread::Dense, "gpu"},
    {interp::Spread::Padded, "gpu, padded rows, odd base"},
    {interp::Spread::Strided, "gpu, every second element"},
    {interp::Spread::Transposed, "gpu, transposed"}};

/// Transposing needs two axes; without them the case is the dense one again.
bool spreadMeansSomething(const sem::TestCall &call, interp::Spread spread) {
  size_t most = 0;
  for (const auto &list : call.shape.tensors)
    for (const sem::ArrayShape &array : list)
      most = std::max(most, array.extents.size());
  return most >= (spread == interp::Spread::Transposed ? 2 : spread == interp::Spread::Dense ? 0 : 1);
}

/// The GPU and its package, or why there is none.
struct GpuSide {
  std::optional<Gpu> gpu;
  std::shared_ptr<PackageFile> package;
  GpuHealth health;
  std::string lacking;
};

/// An exit code other than Ok where an error was said.
int openGpu(const Options &o, const std::vector<OpPtr> &ops, GpuSide &side) {
  // A package is opened even without a GPU, so that a bad one is refused everywhere.
  side.gpu = findGpu(side.lacking);
  if (!side.gpu && o.package.empty())
    return Ok;
  PackageChoice choice = choosePackage(o.package, ops, side.gpu ? side.gpu->device->arch : 0);
  side.package = choice.file;
  if (side.gpu && !choice.file)
    side.lacking = choice.lacking;
  if (choice.file)
    for (const OpPtr &op : ops)
      if (std::optional<size_t> number = choice.file->findOp(op->name);
          number && !choice.file->isOf(*number, *op)) {
        complain("%s holds %s compiled from another text than %s; compile it again",
                 choice.file->source().c_str(), op->name.c_str(), op->spec->file->name().c_str());
        return InputWrong;
      }
  return choice.code;
}

/// Which backends a command line asks for. The simulator only by name: a case takes it as long as a thousand take a GPU.
struct Backends {
  explicit Backends(const std::string &name)
      : interpreter(name == "interpreter" || name == "all"), gpu(name == "gpu" || name == "all"),
        sim(name == "sim") {}
  bool interpreter, gpu, sim;
};

/// Numbered within its op, as names of cases are no names of files.
std::string folderOf(const std::string &base, const sem::OpModel &op, const std::vector<sem::TestCall> &calls,
                     const sem::TestCall &call) {
  std::string number = std::to_string(&call - calls.data());
  return base + "/" + op.name + "/" + std::string(5 - std::min<size_t>(5, number.size()), '0') + number;
}

void runCase(const Task &task, const Backends &on, GpuSide &side, const SimRun &sim, unsigned threads,
             CaseSaver *saver, std::vector<CaseLine> &lines) {
  const sem::OpModel &op = *task.tests->op;
  interp::InterpreterBackend::Options options;
  options.run.threads = threads;
  interp::CaseRunner runner(op, task.tests->model, options.run);
  if (saver)
    runner.setObserver(saver);
  if (on.interpreter) {
    interp::InterpreterBackend backend(op, options);
    lines.push_back({op.name, backend.name(), runner.run(*task.call, backend)});
  }
  if (on.sim)
    sim.run(op, *task.call, runner, lines);
  if (!on.gpu)
    return;
  if (!side.lacking.empty()) {
    lines.push_back(skippedLine(op, *task.call, "gpu", side.lacking));
    return;
  }
  GpuBackend backend(*side.gpu, *side.package, op, side.health);
  for (const auto &[spread, called] : kSpreads) {
    if (!spreadMeansSomething(*task.call, spread))
      continue;
    backend.setSpread(spread);
    backend.setOthers(true);
    lines.push_back({op.name, called, runner.run(*task.call, backend, spread)});
  }
  backend.setSpread(interp::Spread::Dense);
  for (const TransposedInputs &inputs : transposedInputs(*side.package, op)) {
    backend.setTransposed(inputs.tensors);
    lines.push_back({op.name, "gpu" + inputs.text, runner.run(*task.call, backend)});
  }
  backend.setTransposed(0);
  if (mayRunInPlace(op)) {
    backend.setInPlace(true);
    lines.push_back({op.name, "gpu, in place", runner.run(*task.call, backend, interp::Spread::Dense)});
  }
}

/// With what it needs of this command's options.
std::string rerunOf(const Options &o, const Globals &globals, const sem::OpModel &op, const CaseLine &line) {
  std::string backend = line.backend.substr(0, line.backend.find_first_of(" ,"));
  std::string text = "tilegymc test " + shellWord(op.spec->file->name()) + " --backend " + backend;
  if (backend == "sim") {
    size_t end = std::min(line.backend.find(','), line.backend.size());
    text += " --arch " + line.backend.substr(4, end - 4) +
            (o.sim.seed ? " --seed " + std::to_string(o.sim.seed) : "") + " --limit " +
            std::to_string(o.sim.limit);
  }
  if (backend == "gpu" && !o.package.empty())
    text += " --package " + shellWord(o.package);
  for (const std::string &folder : globals.specDirs)
    text += " --spec-dir " + shellWord(folder);
  return text + " --case " + shellWord(line.result.name);
}

int run(const Options &o, const Globals &globals) {
  Backends on(o.backend);
  DiagnosticSink sink;
  std::vector<OpPtr> ops = loadOps(o.specs, globals, sink);
  std::vector<std::unique_ptr<OpTests>> tests;
  std::vector<Task> tasks;
  for (const OpPtr &op : ops) {
    tests.push_back(collectTests(op, o.patterns, sink, o.exactly));
    for (const sem::TestCall &call : tests.back()->calls)
      tasks.push_back({tests.back().get(), &call,
                       o.save.empty() ? "" : folderOf(o.save, *op, tests.back()->calls, call)});
  }
  if (tasks.empty() && !sink.hasErrors()) {
    complain("no test case matches what -k or --case say");
    return InputWrong;
  }
  GpuSide side;
  if (on.gpu && !sink.hasErrors())
    if (int code = openGpu(o, ops, side); code != Ok)
      return code;
  SimRun sim(o.sim);
  if (on.sim && !sink.hasErrors())
    if (int code = sim.open(tests, o.jobs); code != Ok)
      return code;
  std::error_code ec;
  if (!o.save.empty() && std::filesystem::exists(o.save, ec) && !std::filesystem::is_empty(o.save, ec)) {
    complain("--save: '%s' is there already and not empty", o.save.c_str());
    return InputWrong;
  }
  std::vector<std::vector<CaseLine>> byTask(tasks.size());
  std::vector<std::string> unsaved(tasks.size());
  unsigned workers = unsigned(std::min<size_t>(threadsFor(o.jobs), std::max<size_t>(1, tasks.size())));
  unsigned threads = std::max(1u, threadsFor(0) / workers);
  runTasks(tasks.size(), o.jobs, "test", [&]() -> std::function<void(size_t)> {
    return [&](size_t i) {
      const Task &task = tasks[i];
      CaseSaver saver(*task.tests->op, task.tests->model, task.folder);
      runCase(task, on, side, sim, threads, task.folder.empty() ? nullptr : &saver, byTask[i]);
      for (CaseLine &line : byTask[i])
        line.rerun = rerunOf(o, globals, *task.tests->op, line);
      unsaved[i] = saver.finish();
    };
  });
  std::vector<CaseLine> lines;
  bool anyOnGpu = false, any = false;
  for (std::vector<CaseLine> &some : byTask)
    for (CaseLine &line : some) {
      any |= line.result.status != interp::CaseResult::Skipped;
      anyOnGpu |= line.backend.starts_with("gpu") && line.result.status != interp::CaseResult::Skipped;
      lines.push_back(std::move(line));
    }
  if (on.interpreter && o.patterns.empty() && o.exactly.empty() && !sink.hasErrors())
    warnOfIdleKernels(ops, lines, sink);
  int code = reportCases(lines, sink, globals, o.quiet);
  for (const std::string &why : unsaved)
    if (!why.empty()) {
      complain("--save: %s", why.c_str());
      return EnvironmentLacks;
    }
  if (on.gpu && !anyOnGpu && !lines.empty())
    std::fprintf(stderr, "note: nothing ran on a GPU: %s\n",
                 side.lacking.empty() ? "see the reasons of the skipped cases" : side.lacking.c_str());
  bool lacks = (o.backend == "gpu" && !anyOnGpu) || (on.sim && !any && !sim.lacking().empty());
  if (code != Ok || any || lines.empty())
    return code == Ok && lacks ? EnvironmentLacks : code;
  complain("nothing ran: every case was skipped");
  return lacks ? EnvironmentLacks : CheckFailed;
}

} // namespace

void addTestCommand(CLI::App &app, Globals &globals) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand("test", "Run the specs' own test cases on every backend there is");
  command->add_option("OP", options->specs, "Specs: paths or names (default: all)");
  command
      ->add_option("--backend", options->backend,
                   "interpreter, gpu, sim (the simulator), or all: the first two")
      ->check(CLI::IsMember({"interpreter", "gpu", "sim", "all"}));
  addSimOptions(*command, options->sim);
  command
      ->add_option("-k", options->patterns,
                   "Only cases whose \"OP CASE\" has this text; given several times, all of them")
      ->allow_extra_args(false);
  command->add_option("--case", options->exactly, "Only the cases of exactly this name");
  command->add_option("--package", options->package, "A package (.tgk) to test, instead of compiling here");
  command->add_option("--save", options->save,
                      "Folder for each case's inputs, reference and results, which tools/oracle.py judges");
  command->add_option("-j,--jobs", options->jobs, "Threads (default: one a core)");
  command->add_flag("-q,--quiet", options->quiet, "Only the lines of cases that failed");
  command->footer(
      "On the GPU each case runs twice on the variant that the runtime chooses, once on every "
      "other that could take it,\n"
      "with poisoned outputs between guards, in dense, padded, strided and transposed memory; "
      "what comes out is\n"
      "compared with the reference by the spec's tolerance. In the simulator the same code runs in two "
      "schedules, and\n"
      "what its sanitizers find fails the case.\n\n"
      "Examples:\n  tilegymc test softmax\n  tilegymc test --backend gpu --package norms.tgk "
      "softmax rms_norm -q\n"
      "  tilegymc test softmax -k T=bf16 --json\n"
      "  tilegymc test softmax --backend sim --arch sm_90a --limit 2000");
  command->callback([options, &globals] { globals.exitCode = run(*options, globals); });
}

} // namespace tilegym::cli
