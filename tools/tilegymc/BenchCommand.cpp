// SPDX-License-Identifier: MIT
// `tilegymc bench`: the benchmarks of a spec on the GPU, each checked before it is timed.
#include "BenchCalls.h"
#include "CaseReport.h"
#include "GpuBackend.h"
#include "Timing.h"
#include <cstdio>

namespace tilegym::cli {
namespace {

using json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> specs, patterns;
  std::string package;
  TimingOptions timing;
  int64_t checkElements = int64_t(1) << 22;
};

struct Row {
  std::string op, name, checked, variant, failure;
  bool wrong = false; ///< the result was wrong, and nothing was timed
  bool skipped = false;
  int64_t bytes = 0, flops = 0;
  Timing timing;
};

Row benchOne(const Options &o, const Gpu &gpu, const PackageFile &package, const OpPtr &op,
             const sem::TestModel &tests, const sem::BenchModel &bench, const sem::TestCall &call,
             GpuHealth &health) {
  Row row{op->name,
          call.name,
          "",
          "",
          "",
          false,
          false,
          hostInteger(bench.bytes, call),
          hostInteger(bench.flops, call),
          {}};
  sem::TestCall checked = smallEnough(*op, call, o.checkElements);
  row.checked = checked.name;
  std::vector<interp::Fault> faults;
  std::optional<interp::Arguments> inputs = interp::makeInputs(*op, checked, interp::Spread::Dense, faults);
  if (!inputs) {
    row.wrong = true;
    row.failure = faults.empty() ? "no inputs" : faults[0].message;
    return row;
  }
  interp::RunOptions runOptions;
  runOptions.threads = threadsFor(0);
  runOptions.sanitize = false;
  interp::CaseRunner runner(*op, tests, runOptions);
  GpuBackend backend(gpu, package, *op, health);
  interp::CaseResult result = runner.run(checked, backend);
  if (result.status != interp::CaseResult::Passed) {
    row.skipped = result.status == interp::CaseResult::Skipped;
    row.wrong = !row.skipped;
    row.failure = row.skipped ? result.skipped : result.failures[0];
    return row;
  }
  size_t number = *package.findOp(op->name);
  row.timing = timeCall(gpu, package, number, *op, call, *inputs, row.bytes, o.timing);
  row.failure = row.timing.error;
  row.wrong = !row.failure.empty();
  return row;
}

double rate(int64_t amount, double seconds) { return seconds > 0 ? double(amount) / seconds : 0; }

json rowJson(const Row &row, const Options &o) {
  json j = {{"op", row.op}, {"case", row.name}, {"checked", row.checked}};
  if (!row.failure.empty()) {
    j[row.skipped ? "skipped" : "error"] = row.failure;
    return j;
  }
  j["median_us"] = row.timing.run.median * 1e6;
  j["min_us"] = row.timing.run.least * 1e6;
  j["max_us"] = row.timing.run.most * 1e6;
  j["iterations"] = o.timing.iterations;
  if (row.bytes) {
    j["bytes"] = row.bytes;
    j["GBps"] = rate(row.bytes, row.timing.run.median) * 1e-9;
    j["copy_median_us"] = row.timing.copy.median * 1e6;
    j["copy_GBps"] = rate(row.bytes, row.timing.copy.median) * 1e-9;
    j["of_copy"] = row.timing.copy.median / row.timing.run.median;
  }
  if (row.flops) {
    j["flops"] = row.flops;
    j["TFLOPS"] = rate(row.flops, row.timing.run.median) * 1e-12;
  }
  return j;
}

void print(const std::vector<Row> &rows, const Gpu &gpu, const Options &o, const Globals &globals) {
  if (globals.json) {
    json j = {{"device", gpu.device->name}, {"rows", json::array()}};
    for (const Row &row : rows)
      j["rows"].push_back(rowJson(row, o));
    std::puts(j.dump(2, ' ', false, json::error_handler_t::replace).c_str());
    return;
  }
  size_t width = 4;
  for (const Row &row : rows)
    width = std::max(width, row.op.size() + 1 + row.name.size());
  std::printf("%s\n%-*s  %10s  %10s  %9s  %7s\n", gpu.device->name, int(width), "case", "median us", "GB/s",
              "copy GB/s", "of copy");
  for (const Row &row : rows) {
    std::string name = row.op + " " + row.name;
    const Times &run = row.timing.run, &copy = row.timing.copy;
    if (!row.failure.empty())
      std::printf("%-*s  %s: %s\n", int(width), name.c_str(), row.skipped ? "skipped" : "failed",
                  row.failure.c_str());
    else if (row.bytes)
      std::printf("%-*s  %10.2f  %10.1f  %9.1f  %7.3f\n", int(width), name.c_str(), run.median * 1e6,
                  rate(row.bytes, run.median) * 1e-9, rate(row.bytes, copy.median) * 1e-9,
                  copy.median / run.median);
    else
      std::printf("%-*s  %10.2f  %10.2f TFLOPS\n", int(width), name.c_str(), run.median * 1e6,
                  rate(row.flops, run.median) * 1e-12);
  }
}

int run(const Options &o, const Globals &globals) {
  DiagnosticSink sink;
  std::vector<OpPtr> ops = loadOps(o.specs, globals, sink);
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
  std::vector<Row> rows;
  GpuHealth health;
  for (const OpPtr &op : ops) {
    if (!op->spec->bench || op->spec->bench->none)
      continue;
    if (std::optional<size_t> number = choice.file->findOp(op->name);
        number && !choice.file->isOf(*number, *op)) {
      complain("%s holds %s compiled from another text; compile it again", choice.file->source().c_str(),
               op->name.c_str());
      return InputWrong;
    }
    sem::TestModel tests = sem::readTest(*op, *op->spec->test, sink);
    sem::BenchModel bench = sem::readBench(*op, *op->spec->bench, sink);
    for (const sem::TestCall &call : sem::benchCalls(*op, bench, sink)) {
      std::string name = op->name + " " + call.name;
      if (!matchesAll(name, o.patterns))
        continue;
      progress("bench " + name);
      rows.push_back(benchOne(o, *gpu, *choice.file, op, tests, bench, call, health));
    }
  }
  progress("");
  if (rows.empty()) {
    complain("no benchmark of these ops matches");
    return InputWrong;
  }
  print(rows, *gpu, o, globals);
  bool wrong = false, timed = false;
  for (const Row &row : rows) {
    wrong |= row.wrong;
    timed |= row.failure.empty();
  }
  return wrong ? CheckFailed : timed ? Ok : EnvironmentLacks;
}

} // namespace

void addBenchCommand(CLI::App &app, Globals &globals) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "bench", "Check and time the specs' benchmarks on the GPU, beside a device copy of the same bytes");
  command->add_option("OP", options->specs, "Specs: paths or names (default: all)");
  command
      ->add_option("-k", options->patterns,
                   "Only benchmarks whose \"OP CASE\" has this text; given several times, all of them")
      ->allow_extra_args(false);
  command->add_option("--package", options->package, "A package (.tgk) to time, instead of compiling here");
  command->add_option("--iterations", options->timing.iterations, "Timed runs, of which the median is taken")
      ->check(CLI::PositiveNumber);
  command
      ->add_option(
          "--check-elements", options->checkElements,
          "Above this many elements a tensor, the result is checked on fewer rows before the whole is timed")
      ->check(CLI::PositiveNumber);
  command->footer("The L2 cache is flushed before each run; runs and copies take turns.\n\n"
                  "Examples:\n  tilegymc bench softmax\n  tilegymc bench --package norms.tgk softmax "
                  "rms_norm -k T=bf16 --json");
  command->callback([options, &globals] { globals.exitCode = run(*options, globals); });
}

} // namespace tilegym::cli
