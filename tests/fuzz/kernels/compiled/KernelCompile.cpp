// SPDX-License-Identifier: MIT
// Compiles a kernel's variants in this thread.
#include "tests/fuzz/kernels/compiled/KernelCompile.h"
#ifdef TILEGYM_HAS_COMPILER
#include "compiler/driver/CompileOp.h"
#endif

namespace tilegym::fuzz {

bool hasCompiler() {
#ifdef TILEGYM_HAS_COMPILER
  return true;
#else
  return false;
#endif
}

bool hasSimulator() {
#ifdef TILEGYM_HAS_SIMULATOR
  return true;
#else
  return false;
#endif
}

#ifdef TILEGYM_HAS_COMPILER

static Compiled compilePtx(const KernelCase &kernel, const std::string &arch, bool checks) {
  Compiled result;
  DiagnosticSink sink;
  for (const sem::Specialization &spec : specializationsOf(kernel, sink))
    for (tile::FactKind facts : {tile::FactKind::Fast, tile::FactKind::Dense, tile::FactKind::General}) {
      driver::CompileOptions options;
      options.arch = llvm::cantFail(emit::parseArch(arch));
      options.stopAfter = driver::Stage::Ptx;
      options.pipeline.checks = checks;
      if (!driver::compileVariant(*kernel.op, spec, facts, options, sink) || sink.hasErrors()) {
        result.error = arch + ", " + driver::entryName(*kernel.op, spec, facts) + "\n" + renderAll(sink);
        return result;
      }
      ++result.variants;
    }
  if (sink.hasErrors())
    result.error = renderAll(sink);
  return result;
}

static Compiled compilePackage(const std::vector<const KernelCase *> &kernels, const std::string &arch,
                               driver::Platform platform, bool checks) {
  Compiled result;
  driver::CompileOpOptions options;
  options.archs = {llvm::cantFail(emit::parseArch(arch))};
  options.jobs = 1;
  options.cache = false;
  options.requirePtxas = platform == driver::Platform::Gpu;
  options.pipeline.platform = platform;
  options.pipeline.checks = checks;
  emit::Package package;
  package.name = "fuzz";
  package.producer = driver::toolVersions();
  package.embedPtx = false;
  for (const KernelCase *kernel : kernels) {
    DiagnosticSink sink;
    driver::CompileReport report;
    std::optional<emit::PackageOp> op = driver::compileOp(kernel->op, options, report, sink);
    if (!op) {
      result.error = arch + ", " + kernel->op->name + "\n" + renderAll(sink);
      return result;
    }
    result.variants += report.variants();
    package.ops.push_back(std::move(*op));
  }
  llvm::Expected<std::string> table = emit::writeTable(package);
  if (table)
    result.package = std::move(*table);
  else
    result.error = llvm::toString(table.takeError());
  return result;
}

Compiled compileKernel(const KernelCase &kernel, Target target, const std::string &arch, bool checks) {
  return target == Target::Ptx ? compilePtx(kernel, arch, checks)
                               : compilePackage({&kernel}, arch, driver::Platform::Simulator, checks);
}

Compiled compileForGpu(const std::vector<const KernelCase *> &kernels, const std::string &arch) {
  return compilePackage(kernels, arch, driver::Platform::Gpu, false);
}

#else

Compiled compileKernel(const KernelCase &, Target, const std::string &, bool) { return {}; }
Compiled compileForGpu(const std::vector<const KernelCase *> &, const std::string &) { return {}; }

#endif

} // namespace tilegym::fuzz
