// SPDX-License-Identifier: MIT
// `tune --build`: for each op a package with every point that is worth measuring of the variants that its calls take, and the plan.
#include "Tune.h"
#ifdef TILEGYM_HAS_COMPILER
#include "compiler/driver/CompileOp.h"
#include "compiler/driver/TunedTable.h"
#include "llvm/Support/Error.h"
#endif
#include <algorithm>
#include <filesystem>

namespace tilegym::cli {

#ifdef TILEGYM_HAS_COMPILER

namespace {

constexpr int64_t kSmCount = 132; ///< an H200's, for guards that ask: the GPU is not here

/// The variant that the call takes, up to its point: of the first kernel whose guard holds.
std::optional<sem::Specialization> slotOf(const sem::OpModel &op, const sem::BoundCall &call) {
  for (size_t k = 0; k < op.kernels.size(); ++k) {
    const sem::KernelModel &kernel = op.kernels[k];
    if (!kernel.launchedOnly && sem::guardHolds(op, int64_t(k), call, kSmCount))
      return sem::deriveFor(op, int64_t(k), call);
  }
  return std::nullopt;
}

bool isPointOf(const sem::Specialization &slot, const sem::Specialization &point) {
  return slot.kernel == point.kernel && slot.dtypes == point.dtypes && slot.consts == point.consts &&
         slot.constDims == point.constDims && slot.present == point.present &&
         std::all_of(slot.params.begin(), slot.params.end(), [&](const sem::NamedInt &p) {
           return std::find(point.params.begin(), point.params.end(), p) != point.params.end();
         });
}

/// What a point runs: of a plan, all its launches.
std::string codeOf(const emit::PackageVariant &variant) {
  std::string code = variant.ptx;
  if (variant.plan)
    for (const emit::PackageOp &launched : variant.plan->launched)
      for (const emit::PackageVariant &one : launched.variants)
        code += one.ptx;
  return code;
}

/// One op's points and its package's bytes.
bool buildOp(const TuneOptions &o, const OpPtr &op, TuneOp &part, std::string &bytes, std::string &versions,
             DiagnosticSink &sink, const Globals &globals) {
  llvm::Expected<emit::Arch> arch = emit::parseArch(o.arch);
  if (!arch) {
    complain("--arch: %s", llvm::toString(arch.takeError()).c_str());
    return false;
  }
  std::vector<sem::Specialization> slots;
  sem::BenchModel bench = sem::readBench(*op, *op->spec->bench, sink);
  for (const sem::TestCall &call : plannedCalls(*op, bench, part, sink))
    if (std::optional<sem::Specialization> slot = slotOf(*op, call.bound);
        slot && std::find(slots.begin(), slots.end(), *slot) == slots.end())
      slots.push_back(std::move(*slot));
  if (sink.hasErrors())
    return false;
  driver::CompileOpOptions options;
  options.archs = {*arch};
  options.jobs = o.jobs;
  options.requirePtxas = true;
  options.assembleSeconds = o.assembleSeconds;
  options.tune = [&](const sem::Specialization &point) {
    return std::any_of(slots.begin(), slots.end(),
                       [&](const sem::Specialization &slot) { return isPointOf(slot, point); });
  };
  options.progress = [&](size_t done, size_t all) {
    progress("compiling " + op->name + ": " + std::to_string(done) + "/" + std::to_string(all) + " points");
  };
  emit::Package package;
  package.name = op->name;
  package.producer = versions = driver::toolVersions();
  driver::CompileReport summary;
  std::optional<emit::PackageOp> compiled = driver::compileOp(op, options, summary, sink);
  progress("");
  if (!compiled)
    return false;
  if (compiled->variants.empty()) {
    report(sink, globals);
    complain("no point of '%s' compiles, fits and does not spill", op->name.c_str());
    return false;
  }
  for (const emit::PackageVariant &v : compiled->variants)
    part.points.push_back(
        {v.abi.entry, checksumText(codeOf(v)), driver::keyJson(*op, v.spec), driver::pointJson(*op, v.spec)});
  package.ops.push_back(std::move(*compiled));
  llvm::Expected<std::string> table = emit::writeTable(package);
  if (!table) {
    complain("%s", llvm::toString(table.takeError()).c_str());
    return false;
  }
  bytes = std::move(*table);
  part.op = op->name;
  part.package = op->name + ".tgk";
  part.hash = checksumText(bytes);
  return true;
}

} // namespace

int tuneBuild(const TuneOptions &o, const std::vector<OpPtr> &ops, const Globals &globals) {
  std::optional<std::vector<Shape>> shapes = parseShapes(o.shapes);
  std::optional<std::vector<DType>> dtypes = parseDTypes(o.dtypes);
  if (!shapes || !dtypes)
    return InputWrong;
  TunePlan plan;
  if (readFile(planPath(o.build))) { // what was built before of other ops stays
    std::optional<TunePlan> old = readPlan(o.build);
    if (!old)
      return InputWrong;
    if (old->arch != o.arch) {
      complain("'%s' has a plan for %s, not %s: build into another folder", o.build.c_str(),
               old->arch.c_str(), o.arch.c_str());
      return InputWrong;
    }
    plan = std::move(*old);
    std::erase_if(plan.ops, [&](const TuneOp &part) {
      return std::any_of(ops.begin(), ops.end(), [&](const OpPtr &op) { return op->name == part.op; });
    });
  }
  plan.arch = o.arch;
  DiagnosticSink sink;
  std::error_code ec;
  Json said = {{"plan", planPath(o.build)}, {"ops", Json::array()}};
  if (!o.dryRun)
    std::filesystem::create_directories(o.build, ec);
  for (const OpPtr &op : ops) {
    if (!op->spec->bench || op->spec->bench->none) {
      sink.warning(op->spec->op->name.range,
                   "'" + op->name + "' has no benchmark, so there is nothing to tune by");
      continue;
    }
    TuneOp part;
    part.shapes = *shapes;
    part.dtypes = *dtypes;
    std::string bytes;
    if (!buildOp(o, op, part, bytes, plan.versions, sink, globals)) {
      report(sink, globals);
      return InputWrong;
    }
    if (!globals.json)
      std::fprintf(stderr, "%s: %zu points, %zu bytes\n", op->name.c_str(), part.points.size(), bytes.size());
    said["ops"].push_back({{"op", op->name}, {"points", part.points.size()}, {"bytes", bytes.size()}});
    if (o.dryRun)
      for (const TunePoint &point : part.points)
        std::printf("%s\n", point.entry.c_str());
    else if (!writeFile(o.build + "/" + part.package, bytes))
      return EnvironmentLacks;
    plan.ops.push_back(std::move(part));
  }
  report(sink, globals);
  if (!o.dryRun && !writeFile(planPath(o.build), plan.text()))
    return EnvironmentLacks;
  if (globals.json)
    std::puts(said.dump(2).c_str());
  return plan.ops.empty() ? InputWrong : Ok;
}

#else

int tuneBuild(const TuneOptions &, const std::vector<OpPtr> &, const Globals &) {
  complain("this tilegymc was built without LLVM, so it cannot build a plan: run `tune --build` where LLVM "
           "is, and take the folder along");
  return EnvironmentLacks;
}

#endif

} // namespace tilegym::cli
