// SPDX-License-Identifier: MIT
// The simulator as a backend of the case runner. Two schedules take the place of a GPU's two runs; what the simulator finds fails the case, at the
// line of the spec.
#include "SimRun.h"
#include "GpuBackend.h"
#ifdef TILEGYM_HAS_SIMULATOR
#include "compiler/simulator/Machine.h"
#include "tools/simdriver/SimDriver.h"
#endif
#include <algorithm>
#include <array>
#include <map>

namespace tilegym::cli {

void addSimOptions(CLI::App &command, SimOptions &options) {
  command.add_option("--arch", options.archs, "Targets to simulate (default: sm_80,sm_90a)")->delimiter(',');
  command.add_option("--limit", options.limit, "Largest case to simulate, in elements of all its tensors")
      ->check(CLI::PositiveNumber);
  command.add_option("--seed", options.seed, "Of the simulator's schedules");
}

#ifdef TILEGYM_HAS_SIMULATOR

namespace {

/// A site's place in the op's spec or one of its libraries.
SourceRange rangeOf(const sem::OpModel &op, const sim::Site *site) {
  std::vector<const ast::Spec *> specs = {op.spec.get()};
  for (const auto &library : op.libraries)
    specs.push_back(library.get());
  for (const ast::Spec *spec : specs)
    if (site && site->line > 0 && spec->file->name() == site->file) {
      const SourceFile &file = *spec->file;
      uint32_t begin =
          uint32_t(file.line(site->line).data() - file.text().data()) + std::max(1u, site->column) - 1;
      return {&file, begin, begin + 1};
    }
  return {};
}

class SimBackend final : public GpuBackend {
public:
  SimBackend(const Gpu &gpu, const PackageFile &package, const sem::OpModel &op, GpuHealth &health,
             simdriver::Session &session, const std::string &chip, uint64_t seed)
      : GpuBackend(gpu, package, op, health), session(session), chip(chip), seed(seed) {}
  std::string name() const override { return "sim " + chip; }

private:
  bool attach(std::string &) const override { return true; } // the session has done it
  void beforeLaunch(unsigned round) override {
    session.settings().seed = seed + round;
    session.takeReports();
  }
  void addFailure(interp::Outcome &outcome, const std::string &message) const override {
    bool any = false;
    for (const sim::Report &report : session.takeReports())
      for (const sim::Finding &finding : report.findings) {
        interp::Fault fault;
        fault.range = rangeOf(op, finding.site);
        fault.message = std::string(sim::name(finding.kind)) + ": " + finding.text;
        if (finding.count > 1)
          fault.message += " (" + std::to_string(finding.count) + " times)";
        if (!any)
          fault.help = "the schedule's seed is " + std::to_string(report.seed);
        outcome.faults.push_back(std::move(fault));
        any = true;
      }
    if (!any)
      GpuBackend::addFailure(outcome, message);
  }

  simdriver::Session &session;
  std::string chip;
  uint64_t seed;
};

const std::pair<interp::Spread, const char *> kSpreads[] = {
    {interp::Spread::Dense, ""},
    {interp::Spread::Padded, ", padded rows, odd base"},
    {interp::Spread::Strided, ", every second element"}};

/// Is the variant one of the kernel, interface and derived values that `needed` names? The tuned parameters and knobs are the variant's own.
bool isFor(const sem::OpModel &op, const sem::Specialization &variant, const sem::Specialization &needed) {
  for (size_t i = 0; i < op.scalars.size(); ++i)
    if (op.scalars[i].isConst && variant.consts[i] != needed.consts[i])
      return false;
  for (const sem::NamedInt &derived : needed.params)
    if (std::find(variant.params.begin(), variant.params.end(), derived) == variant.params.end())
      return false;
  return variant.kernel == needed.kernel && variant.dtypes == needed.dtypes &&
         variant.constDims == needed.constDims && variant.present == needed.present;
}

/// May a variant for transposed operands take the call, though its arrays lie in rows? Where an axis has one element, or none.
bool fitsTransposed(const sem::TestCall &call) {
  for (const auto &list : call.bound.shapes)
    for (const std::vector<int64_t> &extents : list)
      if (extents.size() >= 2 && (extents.end()[-1] <= 1 || extents.end()[-2] <= 1))
        return true;
  return false;
}

/// For each call and kernel that takes it, what a variant must be made for; each once.
std::vector<sem::Specialization> neededBy(const sem::OpModel &op,
                                          const std::vector<const sem::TestCall *> &calls) {
  std::vector<sem::Specialization> needed;
  for (const sem::TestCall *call : calls)
    for (size_t kernel = 0; kernel < op.kernels.size(); ++kernel) {
      if (op.kernels[kernel].launchedOnly ||
          !sem::guardHolds(op, int64_t(kernel), call->bound, sim::multiprocessors))
        continue;
      std::optional<sem::Specialization> one = sem::deriveFor(op, int64_t(kernel), call->bound);
      if (one && std::find(needed.begin(), needed.end(), *one) == needed.end())
        needed.push_back(std::move(*one));
    }
  return needed;
}

} // namespace

int SimRun::open(const std::vector<std::unique_ptr<OpTests>> &tests, unsigned jobs) {
  std::vector<OpPtr> ops;
  std::map<const sem::OpModel *, std::array<std::vector<sem::Specialization>, 2>> needed; // by `transposed`
  for (const std::unique_ptr<OpTests> &one : tests) {
    std::array<std::vector<const sem::TestCall *>, 2> calls;
    for (const sem::TestCall &call : one->calls)
      if (int64_t elements = sem::elementsOf(call); elements <= options.limit) {
        calls[0].push_back(&call);
        if (elements <= options.spreadLimit || fitsTransposed(call))
          calls[1].push_back(&call);
      }
    if (calls[0].empty())
      continue;
    ops.push_back(one->op);
    for (size_t transposed : {0, 1})
      needed[one->op.get()][transposed] = neededBy(*one->op, calls[transposed]);
  }
  auto wanted = [&](const sem::OpModel &op, const sem::Specialization &variant, bool transposed) {
    const std::vector<sem::Specialization> &all = needed[&op][transposed];
    return std::any_of(all.begin(), all.end(),
                       [&](const sem::Specialization &one) { return isFor(op, variant, one); });
  };
  if (options.archs.empty())
    options.archs = {"sm_80", "sm_90a"};
  for (const std::string &chip : options.archs) {
    int capability = chip.starts_with("sm_") ? std::atoi(chip.c_str() + 3) : 0;
    if (!simdriver::isSimulated(capability)) {
      complain("--arch: found '%s', but the simulator pretends to be sm_80 or sm_90a", chip.c_str());
      return InputWrong;
    }
    PackageChoice choice = ops.empty() ? PackageChoice() : compileForSimulator(ops, chip, jobs, wanted);
    if (choice.code != Ok)
      return choice.code;
    targets.push_back({chip, capability, choice.file});
  }
  return Ok;
}

void SimRun::run(const sem::OpModel &op, const sem::TestCall &call, interp::CaseRunner &runner,
                 std::vector<CaseLine> &lines) const {
  int64_t elements = sem::elementsOf(call);
  for (const Target &target : targets) {
    if (elements > options.limit) {
      lines.push_back(skippedLine(op, call, "sim " + target.chip,
                                  "it has " + std::to_string(elements) + " elements, more than --limit " +
                                      std::to_string(options.limit) + " for the simulator"));
      continue;
    }
    simdriver::Settings settings;
    settings.capability = target.capability;
    simdriver::Session session(settings);
    Gpu gpu;
    gpu.driver = &session.driver();
    gpu.guard = 0; // each allocation ends where the tensor does, and the simulator sees what lies beyond
    GpuHealth health;
    if (runtime::currentDevice(*gpu.driver, nullptr, &gpu.device) != TILEGYM_OK) {
      lines.push_back(skippedLine(op, call, "sim " + target.chip, tilegym_last_error()));
      continue;
    }
    SimBackend backend(gpu, *target.package, op, health, session, target.chip,
                       options.seed + interp::hashName(op.name + call.name));
    for (const auto &[spread, called] : kSpreads) {
      if (spread != interp::Spread::Dense && elements > options.spreadLimit)
        continue;
      backend.setSpread(spread);
      backend.setOthers(options.others);
      lines.push_back({op.name, backend.name() + called, runner.run(call, backend, spread)});
    }
    backend.setSpread(interp::Spread::Dense);
    for (const TransposedInputs &inputs : transposedInputs(*target.package, op)) {
      if (elements > options.spreadLimit)
        break;
      backend.setTransposed(inputs.tensors);
      lines.push_back({op.name, backend.name() + inputs.text, runner.run(call, backend)});
    }
    backend.setTransposed(0);
    if (mayRunInPlace(op) && elements <= options.spreadLimit) {
      backend.setInPlace(true);
      lines.push_back(
          {op.name, backend.name() + ", in place", runner.run(call, backend, interp::Spread::Dense)});
    }
  }
}

#else

int SimRun::open(const std::vector<std::unique_ptr<OpTests>> &, unsigned) {
#ifdef TILEGYM_HAS_COMPILER
  why = "this tilegymc was built without the simulator, which needs Boost.Context";
#else
  why = compileForSimulator({}, "sm_80", 1, {}).lacking;
#endif
  return Ok;
}

void SimRun::run(const sem::OpModel &op, const sem::TestCall &call, interp::CaseRunner &,
                 std::vector<CaseLine> &lines) const {
  lines.push_back(skippedLine(op, call, "sim", why));
}

#endif

} // namespace tilegym::cli
