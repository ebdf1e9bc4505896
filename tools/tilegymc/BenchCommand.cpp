// SPDX-License-Identifier: MIT
// `tilegymc bench`: the benchmarks of specs on the GPU, each checked before it is timed, beside their peers.
#include "BenchCalls.h"
#include "BenchMeasure.h"
#include "BenchRecord.h"
#include "BenchReport.h"
#include "WorkProgress.h"
#include <algorithm>
#include <cstdio>
#include <ctime>

namespace tilegym::cli {
namespace {

const std::string kRecorded = "recorded"; ///< a baseline that is no file

struct Options {
  std::vector<std::string> specs, patterns, shapes;
  std::string package, output, baseline, from;
  MeasureOptions measure;
  double neutral = 3; ///< percent
  bool all = false, noPeers = false, record = false;
};

/// One row to measure.
struct Task {
  OpPtr op;
  sem::TestCall call;
  size_t section; ///< of the op's test and bench
};

/// The tests and benchmarks of an op; its calls point into them.
struct Section {
  sem::TestModel tests;
  sem::BenchModel bench;
};

/// What is asked for of these ops, and its rows, which say nothing yet but names.
std::vector<Task> tasksOf(const Options &o, const std::vector<OpPtr> &ops, const std::vector<Shape> &shapes,
                          std::vector<std::unique_ptr<Section>> &sections, BenchRun &run,
                          DiagnosticSink &sink) {
  std::vector<Task> tasks;
  for (const OpPtr &op : ops) {
    if (!op->spec->bench || op->spec->bench->none)
      continue;
    sections.push_back(std::make_unique<Section>());
    Section &section = *sections.back();
    section.tests = sem::readTest(*op, *op->spec->test, sink);
    section.bench = sem::readBench(*op, *op->spec->bench, sink);
    std::vector<sem::TestCall> calls = shapes.empty() ? sem::benchCalls(*op, section.bench, sink)
                                                      : shapedCalls(*op, section.bench, shapes, sink);
    std::vector<BenchRow> rows(calls.size());
    assignPlots(*op, calls, rows);
    for (size_t i = 0; i < calls.size(); ++i) {
      if (!matchesAll(op->name + " " + calls[i].name, o.patterns))
        continue;
      rows[i].op = op->name;
      rows[i].name = calls[i].name;
      run.rows.push_back(std::move(rows[i]));
      tasks.push_back({op, std::move(calls[i]), sections.size() - 1});
    }
  }
  return tasks;
}

std::string now() {
  char text[32];
  std::time_t time = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
  return text;
}

/// Fills the run; an exit code other than Ok where an error was said.
int measure(const Options &o, const Globals &globals, BenchRun &run, std::vector<OpPtr> &ops) {
  std::optional<std::vector<Shape>> shapes = parseShapes(o.shapes);
  if (!shapes)
    return InputWrong;
  DiagnosticSink sink;
  ops = loadOps(o.specs, globals, sink);
  std::vector<std::unique_ptr<Section>> sections;
  std::vector<Task> tasks;
  if (!sink.hasErrors())
    tasks = tasksOf(o, ops, *shapes, sections, run, sink);
  if (sink.hasErrors()) {
    report(sink, globals);
    return InputWrong;
  }
  std::string why;
  std::optional<Gpu> gpu = findGpu(why);
  PackageChoice choice;
  if (gpu || !o.package.empty())
    choice = choosePackage(o.package, ops, gpu ? gpu->device->arch : 0);
  if (choice.code != Ok)
    return choice.code;
  if (!gpu || !choice.file) {
    complain("bench times on a GPU: %s", gpu ? choice.lacking.c_str() : why.c_str());
    return EnvironmentLacks;
  }
  for (const OpPtr &op : ops)
    if (std::optional<size_t> number = choice.file->findOp(op->name);
        number && !choice.file->isOf(*number, *op)) {
      complain("%s holds %s compiled from another text; compile it again", choice.file->source().c_str(),
               op->name.c_str());
      return InputWrong;
    }
  if (tasks.empty()) {
    complain("no benchmark of these ops matches");
    return InputWrong;
  }
  PeerProcess peers;
  if (!o.noPeers)
    peers.start(findPeers());
  BenchMeasure measuring(*gpu, *choice.file, peers, o.measure);
  run.device = gpu->device->name;
  run.driver = gpu->version();
  run.date = now();
  run.peers = o.noPeers ? "not asked for" : peers.about();
  run.iterations = o.measure.iterations;
  run.peakBytes = measuring.limits().bytesPerSecond;
  WorkProgress clock(tasks.size(), "benchmarks");
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Task &task = tasks[i];
    clock.say("bench " + run.rows[i].op + " " + run.rows[i].name);
    measuring.measure(task.op, sections[task.section]->tests, sections[task.section]->bench, task.call,
                      run.rows[i]);
    clock.next(true);
  }
  progress("");
  return Ok;
}

/// The run of an earlier day, and the specs that it is of where something is recorded or compared with what is.
int readRun(const Options &o, const Globals &globals, BenchRun &run, std::vector<OpPtr> &ops) {
  std::optional<BenchRun> saved = readBenchRun(o.from);
  if (!saved)
    return InputWrong;
  run = std::move(*saved);
  if (!o.record && o.baseline != kRecorded)
    return Ok;
  DiagnosticSink sink;
  ops = loadOps(run.ops(), globals, sink);
  if (!sink.hasErrors())
    return Ok;
  report(sink, globals);
  return InputWrong;
}

/// Nothing after complaining.
std::optional<Comparison> compare(const Options &o, const BenchRun &run, const std::vector<OpPtr> &ops) {
  double neutral = o.neutral / 100;
  if (o.baseline != kRecorded) {
    std::optional<BenchRun> before = readBenchRun(o.baseline);
    std::optional<Comparison> comparison = before ? compareRuns(run, *before, neutral) : std::nullopt;
    bool anyTimed =
        std::any_of(run.rows.begin(), run.rows.end(), [](const BenchRow &row) { return row.isTimed(); });
    if (comparison && comparison->changes.empty() && anyTimed) {
      complain("--baseline has none of the benchmarks that were timed now");
      return std::nullopt;
    }
    return comparison;
  }
  std::vector<OpPtr> missing;
  std::optional<BenchRun> before = readRecords(ops, run.device, missing);
  if (!before)
    return std::nullopt;
  std::optional<Comparison> comparison = compareRuns(run, *before, neutral);
  for (const OpPtr &op : missing)
    comparison->unrecorded.emplace_back(op->name, recordPath(*op, run.device));
  return comparison;
}

int run(const Options &o, const Globals &globals) {
  if (o.all && !o.specs.empty()) {
    complain("--all is for all ops: name some, or give --all");
    return InputWrong;
  }
  if (o.record && (!o.patterns.empty() || !o.shapes.empty())) {
    complain("--record is of the spec's whole benchmark: leave out -k and --shape");
    return InputWrong;
  }
  if (!o.baseline.empty() && o.baseline != kRecorded && !readBenchRun(o.baseline))
    return InputWrong; // before hours of measuring
  BenchRun run;
  std::vector<OpPtr> ops;
  if (int code = o.from.empty() ? measure(o, globals, run, ops) : readRun(o, globals, run, ops); code != Ok)
    return code;
  std::optional<Comparison> comparison;
  if (!o.baseline.empty() && !(comparison = compare(o, run, ops)))
    return InputWrong;
  const Comparison *compared = comparison ? &*comparison : nullptr;
  if (globals.json) {
    Json j = run.json();
    if (compared)
      j["baseline"] = compared->json();
    std::puts(j.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    printTable(run, compared);
  }
  if (!o.output.empty() && !writeReport(run, compared, o.output))
    return EnvironmentLacks;
  if (o.record && !recordRun(run, ops, globals.json))
    return CheckFailed;
  bool wrong = compared && compared->count(Comparison::Change::Slower) > 0, timed = false;
  for (const BenchRow &row : run.rows) {
    wrong |= !row.isTimed() && !row.skipped;
    timed |= row.isTimed();
  }
  return wrong ? CheckFailed : timed ? Ok : EnvironmentLacks;
}

} // namespace

void addBenchCommand(CLI::App &app, Globals &globals) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "bench", "Check and time the specs' benchmarks on the GPU, beside a device copy and the specs' peers");
  command->add_option("OP", options->specs, "Specs: paths or names (default: all)");
  command->add_flag("--all", options->all, "All specs, as without OP");
  command
      ->add_option("-k", options->patterns,
                   "Only benchmarks whose \"OP CASE\" has this text; given several times, all of them")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--shape", options->shapes,
          "Values of dims, such as R=4096,N=1024, in place of the spec's (may be given several times)")
      ->allow_extra_args(false);
  command->add_option("--package", options->package, "A package (.tgk) to time, instead of compiling here");
  command->add_option("-o,--output", options->output,
                      "Folder for bench.json, bench.csv, plots (by gnuplot or matplotlib) and index.html");
  command->add_option(
      "--baseline", options->baseline,
      "The bench.json of an earlier run to compare with, or `recorded`; what is slower fails");
  command->add_flag("--record", options->record,
                    "Keep the times as the ones that later runs are held to: kernels/measured/CARD/OP.json "
                    "beside the folder of the specs");
  command
      ->add_option(
          "--neutral", options->neutral,
          "Percent by which a time beside the copy's may differ from the baseline's and count as the same")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--from", options->from, "Show the bench.json of an earlier run, and measure nothing");
  command->add_flag("--no-peers", options->noPeers, "Without the specs' `peer` lines, which need Python");
  command->add_option("--iterations", options->measure.iterations, "Timed runs, of which the median is taken")
      ->check(CLI::PositiveNumber);
  command
      ->add_option(
          "--check-elements", options->measure.checkElements,
          "Above this many elements a tensor, the result is checked on fewer rows before the whole is timed")
      ->check(CLI::PositiveNumber);
  command->footer(
      "The L2 cache is flushed before each run; ours and its peers take turns. Peers are a device copy of "
      "the same "
      "bytes, cuBLASLt\nfor products (TILEGYM_CUBLASLT names one), and what the spec's `peer` lines say, by "
      "tools/peers.py in\nPython (TILEGYM_PYTHON). Calls of less than 15 us run in CUDA graphs, on copies of "
      "their inputs in turn.\n\n"
      "Examples:\n  tilegymc bench softmax\n  tilegymc bench --all --package kernels.tgk -o results\n"
      "  tilegymc bench rms_norm -k T=bf16 --shape R=8192,N=8192 --json\n"
      "  tilegymc bench --all -o now --baseline results/bench.json --neutral 2\n"
      "  tilegymc bench gelu --record && tilegymc bench gelu --baseline recorded");
  command->callback([options, &globals] { globals.exitCode = run(*options, globals); });
}

} // namespace tilegym::cli
