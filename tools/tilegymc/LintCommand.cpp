// SPDX-License-Identifier: MIT
// `tilegymc lint`: what is legal in a spec and still likely a slip.
#include "SimRun.h"
#include "compiler/semantics/Lint.h"
#ifdef TILEGYM_HAS_COMPILER
#include "compiler/driver/CompileOp.h"
#endif
#include <cstdio>

namespace tilegym::cli {
namespace {

struct Options {
  std::vector<std::string> specs;
  bool measure = false, rules = false;
  SimOptions sim;
  unsigned jobs = 0;
};

#ifdef TILEGYM_HAS_COMPILER

/// A point makes one variant a set of facts, of which there are three where there are dense ones.
constexpr size_t kMaxVariants = 300;

/// True: the rule was looked for.
bool lintVariants(const sem::OpModel &op, std::vector<sem::LintFinding> &findings) {
  for (unsigned arch : {80, 90}) {
    const targets::TargetFacts *target = targets::findTarget(arch);
    std::string chip = arch == 90 ? "sm_90a" : "sm_" + std::to_string(arch);
    DiagnosticSink own; // what keeps a kernel from being compiled is for `compile` to say
    size_t count = driver::enumerateVariants(op, chip, *target, {}, own).size();
    if (count <= kMaxVariants)
      continue;
    findings.push_back({"too-many-variants", op.spec->op->name.range,
                        "op `" + op.name + "` has " + std::to_string(count) + " variants for " + chip +
                            ", more than " + std::to_string(kMaxVariants),
                        "tie optional tensors or consts together in `where`, or bound what is derived"});
    break; // the other target's count is nearly the same
  }
  return true;
}

#else

bool lintVariants(const sem::OpModel &, std::vector<sem::LintFinding> &) { return false; }

#endif

/// The largest errors of the cases of at most `--limit` elements, in the interpreter and, where there is one, the simulator.
int measure(const Options &o, const OpPtr &op, DiagnosticSink &sink, std::vector<sem::SeenError> &seen) {
  std::vector<std::unique_ptr<OpTests>> all;
  OpTests *tests = all.emplace_back(collectTests(op, {}, sink)).get();
  std::erase_if(tests->calls, [&](const sem::TestCall &call) { return sem::elementsOf(call) > o.sim.limit; });
  SimRun sim(o.sim);
  if (int code = sim.open(all, o.jobs); code != Ok)
    return code;
  std::vector<std::vector<CaseLine>> lines(tests->calls.size());
  runTasks(lines.size(), o.jobs, "lint " + op->name, [&]() -> std::function<void(size_t)> {
    return [&](size_t i) {
      interp::InterpreterBackend backend(*op, {});
      interp::CaseRunner runner(*op, tests->model, {});
      lines[i].push_back({op->name, backend.name(), runner.run(tests->calls[i], backend)});
      if (sim.lacking().empty())
        sim.run(*op, tests->calls[i], runner, lines[i]);
    };
  });
  for (const std::vector<CaseLine> &some : lines)
    for (const CaseLine &line : some)
      sem::mergeErrors(seen, line.result.errors);
  if (!sim.lacking().empty())
    std::fprintf(stderr, "note: errors were measured in the interpreter alone: %s\n", sim.lacking().c_str());
  return Ok;
}

int run(const Options &o, const Globals &globals) {
  DiagnosticSink sink;
  if (o.rules) {
    for (const sem::LintRule &rule : sem::lintRules())
      std::printf("%-18s %s\n", rule.name, rule.doc);
    return Ok;
  }
  std::vector<OpPtr> ops = loadOps(o.specs, globals, sink);
  bool wrong = sink.hasErrors();
  size_t before = sink.all().size();
  for (const OpPtr &op : ops) {
    std::vector<std::string> rules = {"unused-name", "unread-knob", "missing-doc", "no-literal-case"};
    std::vector<sem::LintFinding> findings = sem::lintSpec(*op);
    if (lintVariants(*op, findings))
      rules.push_back("too-many-variants");
    if (o.measure && sem::hasApproximateMath(*op)) {
      std::fprintf(stderr, "note: the tolerances of %s are not judged: %s\n", op->name.c_str(),
                   sem::kApproximateMath);
    } else if (o.measure) {
      std::vector<sem::SeenError> seen;
      if (int code = measure(o, op, sink, seen); code != Ok)
        return code;
      sem::lintTolerance(*op, sem::readTest(*op, *op->spec->test, sink), seen, findings);
      rules.push_back("loose-tolerance");
    }
    sem::reportLint(*op, findings, rules, sink);
  }
  size_t found = sink.all().size() - before;
  report(sink, globals);
  if (!globals.json)
    std::printf("%zu finding%s in %zu spec%s\n", found, found == 1 ? "" : "s", ops.size(),
                ops.size() == 1 ? "" : "s");
  return wrong ? InputWrong : found ? CheckFailed : Ok;
}

} // namespace

void addLintCommand(CLI::App &app, Globals &globals) {
  auto options = std::make_shared<Options>();
  options->sim.limit = 4096;
  options->sim.others = false;
  CLI::App *command = app.add_subcommand("lint", "Find what is legal in specs and still likely a slip");
  command->add_option("OP", options->specs, "Specs: paths or names (default: all)");
  command->add_flag("--measure", options->measure,
                    "Run the cases, too, and hold each tolerance to the errors that they have");
  addSimOptions(*command, options->sim);
  command->add_option("-j,--jobs", options->jobs, "Threads (default: one a core)");
  command->add_flag("--rules", options->rules, "List the rules");
  command->footer(
      "A spec allows a rule with a line of its own: `# lint: allow RULE: WHY`. Any finding is exit "
      "code 2.\n\nExamples:\n  tilegymc lint\n  tilegymc lint softmax --measure\n  tilegymc lint "
      "draft.tile --json");
  command->callback([options, &globals] { globals.exitCode = run(*options, globals); });
}

} // namespace tilegym::cli
