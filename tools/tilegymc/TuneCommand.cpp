// SPDX-License-Identifier: MIT
// `tilegymc tune`: builds, measures and finishes tuned tables, each step where it can be done.
#include "Tune.h"
#include "TuneResults.h"
#include <algorithm>

namespace tilegym::cli {

std::vector<const TuneOp *> partsOf(const TunePlan &plan, const std::vector<OpPtr> &ops) {
  std::vector<const TuneOp *> parts;
  for (const OpPtr &op : ops) {
    auto found = std::find_if(plan.ops.begin(), plan.ops.end(),
                              [&](const TuneOp &part) { return part.op == op->name; });
    if (found == plan.ops.end()) {
      complain("the plan has no op '%s': build it with `tilegymc tune %s --build`", op->name.c_str(),
               op->name.c_str());
      return {};
    }
    parts.push_back(&*found);
  }
  return parts;
}

std::string resultsOf(const TuneOptions &o, const std::string &folder) {
  return o.results.empty() ? resultsPath(folder) : o.results;
}

namespace {

int run(TuneOptions &o, const Globals &globals) {
  if (o.build.empty() && o.measure.empty() && o.finish.empty()) {
    complain("nothing to do: give --build FOLDER where LLVM is, --measure FOLDER where the GPU is, --finish "
             "FOLDER for the table");
    return InputWrong;
  }
  std::string planned = o.measure.empty() ? o.finish : o.measure;
  if (o.specs.empty() && o.build.empty()) { // all of the plan's
    std::optional<TunePlan> plan = readPlan(planned);
    if (!plan)
      return InputWrong;
    for (const TuneOp &op : plan->ops)
      o.specs.push_back(op.op);
  }
  DiagnosticSink sink;
  std::vector<OpPtr> ops = loadOps(o.specs, globals, sink);
  if (sink.hasErrors()) {
    report(sink, globals);
    return InputWrong;
  }
  if (o.worker)
    return tuneWorker(o, ops);
  int code = o.build.empty() ? Ok : tuneBuild(o, ops, globals);
  if (code == Ok && !o.measure.empty())
    code = tuneMeasure(o, ops, globals);
  if (code == Ok && !o.finish.empty())
    code = tuneFinish(o, ops, globals);
  return code;
}

} // namespace

void addTuneCommand(CLI::App &app, Globals &globals) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App *command = app.add_subcommand(
      "tune", "Find the fastest point of each variant by measuring, and write it to a tuned table");
  command->add_option("OP", options->specs, "Specs: paths or names (default: the plan's)");
  command->add_option("--build", options->build,
                      "Compile every point worth measuring into this folder (needs LLVM)");
  command->add_option(
      "--measure", options->measure,
      "Check and time what was built into this folder (needs the GPU); goes on where it was stopped");
  command->add_option("--finish", options->finish, "Write the tables of what was measured in this folder");
  command->add_option("--arch", options->arch, "The target, such as sm_90a")->capture_default_str();
  command
      ->add_option("--shape", options->shapes,
                   "Values of dims to tune for, such as R=4096,N=1024 (may be given several times; default: "
                   "those of the spec's bench)")
      ->allow_extra_args(false);
  command->add_option("--dtypes", options->dtypes,
                      "Tune only calls of these dtypes, such as bf16,f16 (default: all of the spec's bench)");
  command->add_option("--results", options->results,
                      "File for what is measured (default: results.jsonl in the folder)");
  command->add_option("-o,--output", options->output,
                      "Folder of tuned tables (default: kernels/tuned beside the spec's folder)");
  command->add_option("-j,--jobs", options->jobs, "Threads of --build (default: one a core)");
  command
      ->add_option("--limit", options->limit,
                   "Seconds that a launch of --measure may take before it is killed and its point left out")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      ->add_option(
          "--ptxas-limit", options->assembleSeconds,
          "Seconds that --build lets ptxas take for a point before it is killed and the point left out")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_flag("--worker", options->worker)->group(""); // for --measure, which starts itself
  command->add_flag("--dry-run", options->dryRun, "Say what would be done, and write nothing");
  command->footer(
      "Measured results are of one card. Points within 1 % of the best count as equal: of them, the one that "
      "the "
      "cost model ranks first is taken.\n\n"
      "Examples:\n  tilegymc tune softmax --build tuning --shape R=65536,N=1024 --shape R=8192,N=8192\n"
      "  tilegymc tune --measure tuning\n  tilegymc tune --finish tuning");
  command->callback([options, &globals] { globals.exitCode = run(*options, globals); });
}

} // namespace tilegym::cli
