// SPDX-License-Identifier: MIT
// One job a kernel, fact set and arch. Jobs run on a pool of threads, each with an MLIR context of its own; results keep the order of the list, so that
// the package does not depend on timing.
#include "compiler/driver/CompileOp.h"
#include "compiler/driver/Cache.h"
#include "compiler/emit/Toolchain.h"
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
  sem::Specialization spec;
  tile::Facts facts = tile::Facts::General;
  emit::Arch arch;
};

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
std::string cacheKey(const sem::OpModel &op, const Job &job, const CompileOpOptions &options,
                     const std::string &versions) {
  std::string text = versions + " " + compilerIdentity() + "\n" + job.arch.chip + "\n" +
                     entryName(op, job.spec, job.facts) + "\n" +
                     (options.pipeline.checks ? "checks\n" : "\n") +
                     (options.pipeline.platform == Platform::Simulator ? "simulator\n" : "\n") +
                     op.spec->file->name() + "\n" + std::string(op.spec->file->text()) + "\n";
  for (const auto &library : op.libraries)
    text += library->file->name() + "\n" + std::string(library->file->text()) + "\n";
  for (bool present : job.spec.present)
    text += present ? '1' : '0';
  return hashText(text);
}

/// Compiles, or takes from the cache. Runs on any thread.
std::optional<emit::PackageVariant> runJob(const sem::OpModel &op, const Job &job,
                                           const CompileOpOptions &options, Stage stopAfter,
                                           const Cache &cache, const std::string &versions,
                                           std::mutex &outside, std::atomic<size_t> &hits,
                                           DiagnosticSink &sink) {
  std::string key = cacheKey(op, job, options, versions);
  if (std::optional<emit::PackageVariant> found = cache.find(key)) {
    std::shared_ptr<const sem::Kernel> kernel = sem::instantiateKernel(op, job.spec, sink);
    if (!kernel)
      return std::nullopt;
    found->spec = job.spec;
    found->grid = kernel->grid;
    found->arch = job.arch;
    ++hits;
    return found;
  }
  CompileOptions one;
  one.arch = job.arch;
  one.stopAfter = stopAfter;
  one.pipeline = options.pipeline;
  if (options.dump)
    one.sink = [&](Stage stage, StringRef text) {
      std::lock_guard lock(outside);
      options.dump(entryName(op, job.spec, job.facts), stage, text);
    };
  std::optional<emit::PackageVariant> variant = compileVariant(op, job.spec, job.facts, one, sink);
  if (variant)
    cache.store(key, *variant);
  return variant;
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
  for (const emit::Arch &arch : options.archs) {
    std::vector<std::string> skipped;
    for (sem::Specialization &spec : enumerateVariants(*op, arch.chip, options.filter, skipped, sink))
      for (tile::Facts facts : {tile::Facts::Fast, tile::Facts::General})
        jobs.push_back({spec, facts, arch});
    report.skipped = skipped;
  }
  if (sink.hasErrors())
    return std::nullopt;
  if (jobs.empty()) {
    sink.error(opRange, "op '" + op->name + "' has nothing to compile for this selection",
               "check --dtypes and --const; plans cannot be compiled yet");
    return std::nullopt;
  }

  Cache cache;
  if (options.cache && !options.dump)
    cache = Cache::standard();
  if (!cache.problem.empty())
    sink.warning(opRange, cache.problem);
  std::string versions = toolVersions() + (report.ptxOnly ? "" : " " + ptxas->version);

  std::vector<DiagnosticSink> sinks(jobs.size());
  std::vector<std::optional<emit::PackageVariant>> results(jobs.size());
  std::atomic<size_t> next{0}, done{0}, hits{0};
  std::mutex outside;
  Stage stopAfter = simulate ? Stage::Object : report.ptxOnly ? Stage::Ptx : Stage::Cubin;
  auto work = [&] {
    for (size_t i; (i = next++) < jobs.size();) {
      results[i] = runJob(*op, jobs[i], options, stopAfter, cache, versions, outside, hits, sinks[i]);
      std::lock_guard lock(outside);
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
  report.variants += jobs.size();
  report.cached += hits;
  emit::PackageOp package{op, {}};
  for (auto [job, result] : zip(jobs, results)) {
    if (!result) {
      if (!sink.hasErrors())
        sink.error(opRange,
                   "internal error: variant '" + entryName(*op, job.spec, job.facts) + "' was not compiled");
      continue;
    }
    if (unsigned spilled = result->resources.spills())
      sink.warning(op->kernels[job.spec.kernel].decl->name.range,
                   "variant '" + result->abi.entry + "' for " + job.arch.chip +
                       " spills registers to memory (" + std::to_string(spilled) + " bytes of code)",
                   "tune with smaller tiles or more warps");
    package.variants.push_back(std::move(*result));
  }
  return sink.hasErrors() ? std::nullopt : std::optional(std::move(package));
}

std::string toolVersions() { return "tilegymc " TILEGYM_VERSION ", LLVM " LLVM_VERSION_STRING; }

} // namespace tilegym::driver
