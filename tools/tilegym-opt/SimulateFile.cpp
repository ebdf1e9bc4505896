// SPDX-License-Identifier: MIT
// `tilegym-opt simulate FILE [kernel=NAME] [grid=N] [seed=N] [seeds=COUNT] [arch=sm_90a] [traffic] [hex] ARGUMENT...`: runs a kernel of the form that
// `assemble` takes in the simulator, and prints what is in its buffers afterwards. What the simulator finds goes to standard output, too, and makes the
// exit code 1. `seeds`: so many schedules, until one finds something; buffers are those of the last. Arguments: SimulatedArguments.h.
#include "SimulateFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilegym;

static int fail(const llvm::Twine &text) {
  llvm::errs() << text << "\n";
  return 2;
}

#ifdef TILEGYM_HAS_SIMULATOR
#include "SimulatedArguments.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/Registration.h"
#include "compiler/emit/Package.h"
#include "compiler/simulator/Machine.h"
#include "compiler/simulator/jit/LoadedCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

namespace {

struct Options {
  std::string kernel, arch = "sm_90a";
  uint32_t grid = 1;
  uint64_t seed = 0, seeds = 1;
  bool traffic = false, hex = false;
};

/// Fills in the kernel's name where none was given.
llvm::Expected<std::string> compileFile(const char *path, Options &options) {
  auto arch = emit::parseArch(options.arch);
  if (!arch)
    return arch.takeError();
  mlir::DialectRegistry registry;
  driver::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return llvm::createStringError("%s: %s", path, buffer.getError().message().c_str());
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return llvm::createStringError("%s: not a module", path);
  for (auto function : module->getOps<mlir::LLVM::LLVMFuncOp>())
    if (options.kernel.empty() && function->hasAttr("nvvm.kernel"))
      options.kernel = function.getSymName().str();
  if (options.kernel.empty())
    return llvm::createStringError(
        "the file has no kernel: expected an llvm.func with the attribute nvvm.kernel");
  mlir::PassManager passes(&context);
  driver::PipelineOptions pipeline;
  pipeline.platform = driver::Platform::Simulator;
  driver::addStagePasses(passes, driver::Stage::Llvm, pipeline);
  if (failed(passes.run(*module)))
    return llvm::createStringError("%s: to-sim failed", path);
  llvm::LLVMContext llvmContext;
  auto translated = sim::translateForHost(*module, llvmContext);
  return translated ? sim::compileForHost(**translated, arch->number) : translated.takeError();
}

/// The last launch's report; `printed` gets the buffers.
llvm::Expected<sim::Report> launch(const sim::LoadedCode::Kernel &kernel, const Options &options,
                                   uint64_t seed, llvm::ArrayRef<llvm::StringRef> texts,
                                   std::string &printed) {
  sim::Memory memory;
  SimulatedArguments arguments(memory);
  for (llvm::StringRef text : texts)
    if (auto added = arguments.add(text); !added)
      return added.takeError();
    else if (!*added)
      return llvm::createStringError("'%s' is neither an option nor an argument", text.str().c_str());
  sim::LaunchConfig config;
  config.grid.x = options.grid;
  config.block.x = kernel.facts->threads;
  config.cluster.x = kernel.facts->cluster;
  config.sharedBytes = kernel.facts->sharedBytes;
  config.kernel = kernel.entry;
  config.parameters = arguments.parameters();
  for (uint32_t i = 0; i < kernel.facts->numByValue; ++i) {
    const sim::KernelFacts::ByValue &value = kernel.facts->byValue[i];
    if (value.parameter >= arguments.count())
      return llvm::createStringError("parameter %u has no argument", value.parameter);
    config.parameterSpace.push_back({arguments.addressOf(value.parameter), value.bytes});
  }
  config.seed = seed;
  config.name = options.kernel;
  config.countTraffic = options.traffic;
  sim::Machine machine;
  sim::Report report = machine.launch(config, memory);
  printed = arguments.text(options.hex);
  return report;
}

} // namespace

int tilegym::simulateMain(llvm::ArrayRef<const char *> args) {
  if (args.empty())
    return fail("usage: tilegym-opt simulate FILE [kernel=NAME] [grid=N] [seed=N] [seeds=COUNT] [arch=ARCH] "
                "[traffic] "
                "[hex] ARGUMENT...");
  Options options;
  llvm::SmallVector<llvm::StringRef> arguments;
  for (llvm::StringRef arg : args.drop_front()) {
    auto [name, value] = arg.split('=');
    bool bad = false;
    if (name == "kernel")
      options.kernel = value.str();
    else if (name == "arch")
      options.arch = value.str();
    else if (name == "grid")
      bad = !llvm::to_integer(value, options.grid);
    else if (name == "seed")
      bad = !llvm::to_integer(value, options.seed);
    else if (name == "seeds")
      bad = !llvm::to_integer(value, options.seeds);
    else if (arg == "traffic")
      options.traffic = true;
    else if (arg == "hex")
      options.hex = true;
    else
      arguments.push_back(arg);
    if (bad)
      return fail("'" + arg + "': expected a number");
  }
  llvm::Expected<std::string> object = compileFile(args[0], options);
  if (!object)
    return fail(llvm::toString(object.takeError()));
  auto code = sim::LoadedCode::load(*object);
  if (!code)
    return fail(llvm::toString(code.takeError()));
  auto kernel = (*code)->kernel(options.kernel);
  if (!kernel)
    return fail(llvm::toString(kernel.takeError()));
  for (uint64_t i = 0; i < std::max<uint64_t>(options.seeds, 1); ++i) {
    std::string buffers;
    auto report = launch(*kernel, options, options.seed + i, arguments, buffers);
    if (!report)
      return fail(llvm::toString(report.takeError()));
    bool last = i + 1 >= options.seeds;
    if (report->clean() && !last)
      continue;
    llvm::outs() << report->output << buffers;
    if (!report->clean() || options.traffic)
      llvm::outs() << report->text();
    return report->clean() ? 0 : 1;
  }
  return 0;
}

#else

int tilegym::simulateMain(llvm::ArrayRef<const char *>) {
  return fail("this tilegym-opt was built without the simulator, which needs Boost.Context");
}

#endif
