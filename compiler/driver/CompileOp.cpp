// SPDX-License-Identifier: MIT
// One job a kernel, fact set and arch. Jobs run on a pool of threads, each with an MLIR context of its own; results keep the order of the list, so that
// the package does not depend on timing.
#include "compiler/driver/CompileOp.h"
#include "compiler/driver/Cache.h"
#include "compiler/driver/CostModel.h"
#include "compiler/driver/TunedTable.h"
#include "compiler/emit/Toolchain.h"
#include "compiler/lowering/Lowering.h"
#include "compiler/semantics/CheckedDump.h"
#include "tilegym/format/Checksum.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

using namespace llvm;

namespace tilegym::driver {
namespace {

struct Job {
  VariantSlot slot;
  emit::Arch arch;
  const targets::TargetFacts *target = nullptr;
  bool toMeasure =
      false; ///< one point of several to measure: left out where it spills or does not fit, or with a word where it does not compile
};

/// So many points are compiled for a variant at most: where they spill, and where they do not fit in shared memory.
constexpr size_t kMaxSpillTries = 8, kMaxSharedTries = 16;
/// So many points of a variant are worth measuring: what the cost model ranks behind them has no hope.
constexpr size_t kMaxTunePoints = 24;

/// The compiler itself as part of the key: the bytes of this program. A new build with the same version number compiles anew.
const std::string &compilerIdentity() {
  static const std::string identity = [] {
    std::string self = sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&toolVersions));
    auto bytes = MemoryBuffer::getFile(self, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    return bytes ? utohexstr(format::checksum64((*bytes)->getBufferStart(), (*bytes)->getBufferSize()))
                 : std::string();
  }();
  return identity;
}

/// Everything the result depends on.
std::string cacheKey(const sem::OpModel &op, const sem::Specialization &spec, const tile::FactSet &facts,
                     const Job &job, const CompileOpOptions &options, const std::string &versions) {
  std::string text = versions + " " + compilerIdentity() + "\n" + job.arch.chip + "\n" +
                     entryName(op, spec, facts) + "\n" + (options.pipeline.checks ? "checks\n" : "\n") +
                     (options.pipeline.platform == Platform::Simulator ? "simulator\n" : "\n") +
                     op.spec->file->name() + "\n" + std::string(op.spec->file->text()) + "\n";
  for (const auto &library : op.libraries)
    text += library->file->name() + "\n" + std::string(library->file->text()) + "\n";
  for (bool present : spec.present)
    text += present ? '1' : '0';
  for (const sem::TensorParam &tensor : op.tensors)
    text += char('0' + int(tensor.role)); // of launches it follows from the plan
  for (const sem::KernelModel &kernel : op.kernels)
    text += kernel.guard ? " " + std::to_string(kernel.guard->range.begin) : "";
  return hashText(text);
}

/// What all jobs share.
struct Shop {
  const sem::OpModel &op;
  const CompileOpOptions &options;
  Stage stopAfter = Stage::Cubin;
  Cache cache = {};
  std::string versions = {};
  std::mutex outside = {}; ///< held where options' functions are called
  std::atomic<size_t> hits{0};
};

/// Compiles one point, or takes it from the cache.
std::optional<emit::PackageVariant> compilePoint(Shop &shop, const Job &job, const sem::OpModel &op,
                                                 const sem::Specialization &spec, const tile::FactSet &facts,
                                                 DiagnosticSink &sink, bool *unfit) {
  std::string key = cacheKey(op, spec, facts, job, shop.options, shop.versions);
  if (std::optional<emit::PackageVariant> found = shop.cache.find(key)) {
    std::shared_ptr<const sem::Kernel> kernel = sem::instantiateKernel(op, spec, sink);
    if (!kernel)
      return std::nullopt;
    found->spec = spec;
    found->grid = kernel->grid;
    found->arch = job.arch;
    ++shop.hits;
    return found;
  }
  CompileOptions one;
  one.arch = job.arch;
  one.stopAfter = shop.stopAfter;
  one.pipeline = shop.options.pipeline;
  one.maxSharedBytes = job.target->maxSharedBytes;
  one.assembleSeconds = shop.options.assembleSeconds;
  one.pointIsUnfit = unfit;
  if (shop.options.dump)
    one.sink = [&](Stage stage, StringRef text) {
      std::lock_guard lock(shop.outside);
      shop.options.dump(entryName(op, spec, facts), stage, text);
    };
  std::optional<emit::PackageVariant> variant = compileVariant(op, spec, facts, one, sink);
  if (variant && variant->sharedBytes <= one.maxSharedBytes)
    shop.cache.store(key, *variant);
  return variant;
}

/// The knob to turn where tiles are too large.
std::string helpForShared(const sem::KernelModel &kernel, const sem::Specialization &point,
                          bool usesProducts) {
  std::string section =
      "`tune " + (kernel.tune ? kernel.tune->kernel.name : kernel.name) + "`"; // maybe a plan's
  if (knob(point, "hold", 0))
    return "list more `ctas`, or `hold = registers`, in " + section;
  std::string tuned;
  for (size_t i = 0; i < kernel.tileParams.size(); ++i)
    if (!kernel.derived[i])
      tuned += (tuned.empty() ? "`" : ", `") + kernel.tileParams[i] + "`";
  if (usesProducts)
    tuned += tuned.empty() ? "`stages`" : " or `stages`";
  if (!tuned.empty())
    return "list smaller values of " + tuned + " in " + section;
  return kernel.tileParams.empty() ? "make its tiles smaller"
                                   : "let its guard take smaller sizes only, and another kernel the others";
}

/// None of the points fits in a block's shared memory: an error, or a warning where a later kernel takes the calls.
void reportTooLarge(const sem::OpModel &op, const Job &job, const emit::PackageVariant &least,
                    DiagnosticSink &sink) {
  const sem::KernelModel &kernel = op.kernels[size_t(least.spec.kernel)];
  DiagnosticSink unsaid; // it was instantiated before
  std::shared_ptr<const sem::Kernel> body = sem::instantiateKernel(op, least.spec, unsaid);
  std::string help = helpForShared(kernel, least.spec, body && sizeOf(*body).result > 0);
  std::string text = "kernel '" + kernel.name + "' needs " + std::to_string(least.sharedBytes) +
                     " bytes of shared memory a block at " + emit::knobText(least.spec) + ", but " +
                     job.arch.chip + " has " + std::to_string(job.target->maxSharedBytes);
  if (job.slot.spare)
    sink.warning(kernel.decl->name.range, text + "; a later kernel takes its calls", help);
  else
    sink.error(kernel.decl->name.range, text, help);
}

/// Diagnostics of many variants of one kernel repeat themselves; each is said once.
void mergeDiagnostics(ArrayRef<DiagnosticSink> sinks, DiagnosticSink &into) {
  std::set<std::tuple<std::string, uint32_t, uint32_t>> said;
  for (const DiagnosticSink &sink : sinks)
    for (const Diagnostic &d : sink.all()) {
      if (!said.emplace(d.message, d.range.begin, d.range.end).second)
        continue;
      Diagnostic &copy = d.severity == Severity::Error ? into.error(d.range, d.message, d.help)
                                                       : into.warning(d.range, d.message, d.help);
      copy.notes = d.notes;
    }
}

/// Fills a slot with the first of its candidates that the target can hold and that does not spill, the least spilling where all do. Runs on any thread.
std::optional<emit::PackageVariant> runJob(Shop &shop, const Job &job, DiagnosticSink &sink) {
  std::optional<emit::PackageVariant> best, least;
  size_t spilled = 0, tooLarge = 0;
  DiagnosticSink whyUnfit;
  for (const sem::Specialization &spec : job.slot.candidates) {
    bool unfit = false;
    DiagnosticSink own;
    std::optional<emit::PackageVariant> variant =
        compilePoint(shop, job, shop.op, spec, job.slot.facts, own, &unfit);
    mergeDiagnostics(own, unfit ? whyUnfit : sink);
    if (unfit)
      continue;
    if (!variant)
      return std::nullopt;
    if (variant->sharedBytes > job.target->maxSharedBytes) {
      if (!least || variant->sharedBytes < least->sharedBytes)
        least = std::move(variant);
      if (++tooLarge == kMaxSharedTries)
        break;
      continue;
    }
    if (!best || variant->resources.spills() < best->resources.spills())
      best = std::move(variant);
    if (best->resources.spills() == 0 || ++spilled == kMaxSpillTries)
      break;
  }
  if (best && best->resources.spills() && job.slot.spare)
    return std::nullopt; // the later kernel does not spill, or says so
  if (job.toMeasure) {
    for (const Diagnostic &d : whyUnfit.all())
      sink.warning(d.range, "left out: " + d.message, d.help);
    return best;
  }
  if (!best && !least && !job.slot.spare)
    mergeDiagnostics(whyUnfit, sink);
  if (!best && least)
    reportTooLarge(shop.op, job, *least, sink);
  else if (least)
    sink.warning(shop.op.kernels[size_t(best->spec.kernel)].tune->kernel.range,
                 "some points of this `tune` need more than the " +
                     std::to_string(job.target->maxSharedBytes) +
                     " bytes of shared memory that a block has on " + job.arch.chip + "; they were left out");
  return best;
}

/// A launch of a plan, on its way to variants.
struct LaunchJob {
  std::shared_ptr<const sem::Kernel> kernel;
  bool multiplies = false;
  std::vector<tile::FactSet> dense; ///< what it is compiled for besides all facts and none
};

/// What only moves elements is compiled for rows of the op's tensors that begin anywhere, too, and for columns of an input that do.
std::vector<tile::FactSet> denseSets(const sem::OpModel &op, const sem::Kernel &kernel, size_t numOwn) {
  if (!lowering::asksForVectors(op, kernel))
    return {};
  std::vector<tile::FactSet> sets = {tile::FactKind::Dense};
  for (size_t i = 0; i < numOwn; ++i) {
    const std::vector<sem::DimUse> &dims = op.tensors[i].dims;
    if (op.tensors[i].isTouched && op.tensors[i].role == sem::Role::Input && dims.size() >= 2 &&
        !dims.end()[-1].isGroup && !dims.end()[-2].isGroup)
      sets.emplace_back(tile::FactKind::Dense, uint64_t(1) << i);
  }
  return sets;
}

/// Nothing where one of them does not check.
std::vector<LaunchJob> launchJobs(const sem::PlanSteps &steps, const Job &job, DiagnosticSink &sink) {
  std::vector<LaunchJob> jobs;
  for (const sem::PlanLaunch &launch : steps.launches) {
    LaunchJob &made = jobs.emplace_back();
    made.kernel = sem::instantiateKernel(*launch.model, launch.spec, sink);
    if (!made.kernel)
      return {};
    made.multiplies = sizeOf(*made.kernel).result > 0;
    if (job.target->clusters && !made.multiplies)
      made.dense =
          denseSets(*launch.model, *made.kernel, launch.model->tensors.size() - launch.tensors.size());
  }
  return jobs;
}

/// A launch of a plan at one point for one fact set, appended to its op's variants. Where a plan multiplies, all knobs but `warps` are for the launches that do.
bool addLaunch(Shop &shop, const Job &job, const sem::Specialization &point, const tile::FactSet &facts,
               bool keepsKnobs, emit::PackagePlan &plan, size_t number, DiagnosticSink &sink, bool *unfit) {
  const sem::PlanLaunch &launch = plan.steps.launches[number];
  sem::Specialization spec = launch.spec;
  spec.knobs = point.knobs;
  if (!keepsKnobs)
    std::erase_if(spec.knobs, [](const sem::NamedInt &knob) { return knob.name != "warps"; });
  std::optional<emit::PackageVariant> variant =
      compilePoint(shop, job, *launch.model, spec, facts, sink, unfit);
  if (!variant)
    return false;
  if (variant->sharedBytes > job.target->maxSharedBytes) {
    *unfit = true;
    reportTooLarge(*launch.model, job, *variant, sink);
    return false;
  }
  plan.launched[number].variants.push_back(std::move(*variant));
  return true;
}

/// All of them.
bool addLaunches(Shop &shop, const Job &job, const sem::Specialization &point, tile::FactKind kind,
                 ArrayRef<LaunchJob> launches, emit::PackagePlan &plan, DiagnosticSink &sink, bool *unfit) {
  bool anyMultiplies = any_of(launches, [](const LaunchJob &one) { return one.multiplies; });
  for (auto [i, launch] : enumerate(launches)) {
    std::vector<tile::FactSet> sets = {kind};
    if (kind == tile::FactKind::Dense)
      sets = launch.dense;
    for (const tile::FactSet &facts : sets)
      if (!addLaunch(shop, job, point, facts, launch.multiplies || !anyMultiplies, plan, i, sink, unfit))
        return false;
  }
  return true;
}

int64_t spillsOf(const emit::PackagePlan &plan) {
  int64_t spills = 0;
  for (const emit::PackageOp &op : plan.launched)
    for (const emit::PackageVariant &variant : op.variants)
      spills += variant.resources.spills();
  return spills;
}

/// The plan's launches at one point, first with all facts, then with none. Nothing where they do not compile, or where one does not fit.
std::optional<emit::PackagePlan> compilePlan(Shop &shop, const Job &job, const sem::Specialization &point,
                                             DiagnosticSink &sink, bool *unfit) {
  std::shared_ptr<const sem::Plan> body = sem::instantiatePlan(shop.op, point, sink);
  std::optional<sem::PlanSteps> steps = body ? sem::stepsOf(shop.op, *body, sink) : std::nullopt;
  if (!steps)
    return std::nullopt;
  std::vector<LaunchJob> launches = launchJobs(*steps, job, sink);
  if (launches.empty())
    return std::nullopt;
  emit::PackagePlan plan{std::move(*steps), {}};
  for (const sem::PlanLaunch &launch : plan.steps.launches)
    plan.launched.push_back({launch.model, {}});
  if (!addLaunches(shop, job, point, tile::FactKind::Fast, launches, plan, sink, unfit))
    return std::nullopt;
  if (job.toMeasure)
    return plan;
  if (!addLaunches(shop, job, point, tile::FactKind::Dense, launches, plan, sink, unfit))
    return std::nullopt;
  for (const sem::Specialization &general : job.slot.generalOrder) {
    if (general.params != point.params)
      continue;
    bool doesNotFit = false;
    DiagnosticSink own;
    emit::PackagePlan both = plan;
    if (addLaunches(shop, job, general, tile::FactKind::General, launches, both, own, &doesNotFit))
      return both;
    if (!doesNotFit) {
      mergeDiagnostics(own, sink);
      return std::nullopt;
    }
  }
  *unfit = true;
  sink.error(shop.op.kernels[size_t(point.kernel)].decl->name.range,
             "no knobs let the launches of '" + shop.op.kernels[size_t(point.kernel)].name +
                 "' run for any strides at " + emit::knobText(point) + " on " + job.arch.chip,
             "list smaller values in its `tune`");
  return std::nullopt;
}

/// As `runJob`, of a plan: a point does where it does for all of its launches.
std::optional<emit::PackageVariant> runPlanJob(Shop &shop, const Job &job, DiagnosticSink &sink) {
  std::optional<emit::PackageVariant> best;
  int64_t leastSpills = 0;
  size_t spilled = 0, unfitPoints = 0;
  DiagnosticSink whyUnfit;
  for (const sem::Specialization &point : job.slot.candidates) {
    bool unfit = false;
    DiagnosticSink own;
    std::optional<emit::PackagePlan> plan = compilePlan(shop, job, point, own, &unfit);
    mergeDiagnostics(own, unfit ? whyUnfit : sink);
    if (unfit && ++unfitPoints < kMaxSharedTries)
      continue;
    if (!plan)
      break;
    int64_t spills = spillsOf(*plan);
    if (!best || spills < leastSpills) {
      best.emplace();
      best->spec = point;
      best->arch = job.arch;
      best->abi.entry = entryName(shop.op, point, std::nullopt);
      best->plan = std::make_shared<emit::PackagePlan>(std::move(*plan));
      leastSpills = spills;
    }
    if (spills == 0 || ++spilled == kMaxSpillTries)
      break;
  }
  if (!best && !sink.hasErrors() && !job.slot.spare)
    mergeDiagnostics(whyUnfit, sink);
  return best;
}

/// What a variant adds to the report, and what there is to say of its registers.
void sum(const sem::OpModel &op, const emit::PackageVariant &variant, const Job &job, CompileReport &report,
         DiagnosticSink &sink) {
  if (variant.plan) {
    for (const emit::PackageOp &launched : variant.plan->launched)
      for (const emit::PackageVariant &one : launched.variants)
        sum(*launched.model, one, job, report, sink);
    return;
  }
  if (variant.resources.spills())
    sink.warning(op.kernels[size_t(variant.spec.kernel)].decl->name.range,
                 "variant '" + variant.abi.entry + "' for " + job.arch.chip +
                     " spills registers to memory: " + std::to_string(variant.resources.spillStores) +
                     " bytes of stores and " + std::to_string(variant.resources.spillLoads) + " of loads",
                 "tune with smaller tiles or more warps");
  tile::FactKind kind = variant.abi.kind();
  ++(kind == tile::FactKind::Fast    ? report.fast
     : kind == tile::FactKind::Dense ? report.dense
                                     : report.general);
}

/// The work for one arch: each variant at the point that its tuned table says, or else the cost model; or, for tuning, at each point to measure.
void addJobs(const sem::OpModel &op, const CompileOpOptions &options, const emit::Arch &arch,
             std::vector<Job> &jobs, CompileReport &report, DiagnosticSink &sink) {
  const targets::TargetFacts *target = targets::findTarget(arch.number);
  std::vector<VariantSlot> slots = enumerateVariants(op, arch.chip, *target, options.filter, sink);
  if (options.wanted)
    llvm::erase_if(slots, [&](const VariantSlot &slot) {
      return !options.wanted(slot.candidates.front(), slot.facts.transposed != 0);
    });
  if (options.tune) {
    for (const VariantSlot &slot : slots)
      if (slot.facts == tile::FactSet(tile::FactKind::Fast) && options.tune(slot.candidates.front()))
        for (size_t i = 0; i < std::min(slot.candidates.size(), kMaxTunePoints); ++i)
          jobs.push_back(
              {{slot.facts, {slot.candidates[i]}, /*spare=*/true, slot.generalOrder}, arch, target, true});
    return;
  }
  std::string folder = options.tunedFolder.value_or(standardTunedFolder(op));
  std::string path = tunedTablePath(folder, arch.chip, op.name);
  TunedTable table;
  if (!folder.empty())
    table = TunedTable::read(path, op, arch.chip, sink);
  if (table.source())
    report.tables.push_back(table.source());
  for (VariantSlot &slot : slots) {
    if (slot.facts.isFast() && table.apply(op, slot, sink)) {
      ++report.tuned;
      slot.spare = false; // it was measured: it stays, also where it spills
    }
    jobs.push_back({std::move(slot), arch, target});
  }
}

} // namespace

std::optional<emit::PackageOp> compileOp(std::shared_ptr<const sem::OpModel> op,
                                         const CompileOpOptions &options, CompileReport &report,
                                         DiagnosticSink &sink) {
  SourceRange opRange = op->spec->op->name.range;
  bool simulate = options.pipeline.platform == Platform::Simulator;
  Expected<emit::Ptxas> ptxas =
      simulate ? Expected<emit::Ptxas>(emit::Ptxas()) : emit::findPtxas(); // the simulator needs none
  if (!ptxas) {
    report.ptxOnly = true;
    report.ptxOnlyReason = toString(ptxas.takeError());
    if (options.requirePtxas) {
      sink.error(opRange, report.ptxOnlyReason);
      return std::nullopt;
    }
  }
  std::vector<Job> jobs;
  for (const emit::Arch &arch : options.archs)
    addJobs(*op, options, arch, jobs, report, sink);
  if (sink.hasErrors())
    return std::nullopt;
  if (jobs.empty()) {
    sink.error(opRange, "op '" + op->name + "' has nothing to compile for this selection",
               "check --dtypes and --const");
    return std::nullopt;
  }

  Shop shop{.op = *op, .options = options};
  if (options.cache && !options.dump)
    shop.cache = Cache::standard();
  if (!shop.cache.problem.empty())
    sink.warning(opRange, shop.cache.problem);
  shop.versions = toolVersions() + (report.ptxOnly ? "" : " " + ptxas->version);
  shop.stopAfter = simulate ? Stage::Object : report.ptxOnly ? Stage::Ptx : Stage::Cubin;

  std::vector<DiagnosticSink> sinks(jobs.size());
  std::vector<std::optional<emit::PackageVariant>> results(jobs.size());
  std::atomic<size_t> next{0}, done{0};
  auto work = [&] {
    for (size_t i; (i = next++) < jobs.size();) {
      results[i] =
          jobs[i].slot.isPlan() ? runPlanJob(shop, jobs[i], sinks[i]) : runJob(shop, jobs[i], sinks[i]);
      std::lock_guard lock(shop.outside);
      ++done;
      if (options.progress)
        options.progress(done, jobs.size());
    }
  };
  unsigned threads = options.jobs ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> pool;
  for (unsigned t = 1; t < std::min<size_t>(threads, jobs.size()); ++t)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();

  mergeDiagnostics(sinks, sink);
  report.cached += shop.hits;
  emit::PackageOp package{op, {}};
  for (auto [job, result] : zip(jobs, results)) {
    if (!result) {
      if (!sink.hasErrors() && !job.slot.spare)
        sink.error(opRange, "internal error: variant '" +
                                entryName(*op, job.slot.candidates.front(), job.slot.facts) +
                                "' was not compiled");
      continue;
    }
    sum(*op, *result, job, report, sink);
    package.variants.push_back(std::move(*result));
  }
  return sink.hasErrors() ? std::nullopt : std::optional(std::move(package));
}

std::string toolVersions() { return "tilegymc " TILEGYM_VERSION ", LLVM " LLVM_VERSION_STRING; }

} // namespace tilegym::driver
