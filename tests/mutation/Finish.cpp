// SPDX-License-Identifier: MIT
// Passes as the driver runs them.
#include "Finish.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/emit/Ptx.h"
#include "compiler/simulator/jit/HostObject.h"
#include "compiler/targets/nvidia/Passes.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace tilegym::mutation {

static OwningOpRef<ModuleOp> copyOf(ModuleOp module) { return module.clone(); }

static bool runStage(ModuleOp module, driver::Platform platform) {
  PassManager passes(module.getContext());
  driver::PipelineOptions options;
  options.platform = platform;
  driver::addStagePasses(passes, driver::Stage::Llvm, options);
  return succeeded(passes.run(module));
}

llvm::Expected<std::string> compileForSimulator(ModuleOp threads, const emit::Arch &arch) {
  OwningOpRef<ModuleOp> module = copyOf(threads);
  if (!runStage(*module, driver::Platform::Simulator))
    return llvm::createStringError("to-sim failed");
  llvm::LLVMContext context;
  auto translated = sim::translateForHost(*module, context);
  return translated ? sim::compileForHost(**translated, arch.number) : translated.takeError();
}

llvm::Expected<std::string> compileToPtx(ModuleOp threads, const emit::Arch &arch) {
  OwningOpRef<ModuleOp> module = copyOf(threads);
  // Lines are not part of the meaning.
  PassManager strip(module->getContext());
  strip.addPass(createStripDebugInfoPass());
  if (failed(strip.run(*module)) || !runStage(*module, driver::Platform::Gpu))
    return llvm::createStringError("to-ptx failed");
  llvm::LLVMContext context;
  emit::PtxOptions options;
  options.chip = arch.chip;
  auto translated = emit::translateToLLVM(*module, context, options);
  return translated ? emit::emitPtx(**translated, options) : translated.takeError();
}

std::string canonicalText(ModuleOp threads) {
  OwningOpRef<ModuleOp> module = copyOf(threads);
  PassManager passes(module->getContext());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  std::string text;
  llvm::raw_string_ostream os(text);
  if (succeeded(passes.run(*module)))
    module->print(os);
  return text;
}

std::string checkStatically(ModuleOp threads) {
  std::string said;
  ScopedDiagnosticHandler handler(threads.getContext(), [&](mlir::Diagnostic &diagnostic) {
    said = said.empty() ? diagnostic.str() : said;
    return success();
  });
  if (failed(verify(threads)))
    return "verifier: " + said;
  OwningOpRef<ModuleOp> module = copyOf(threads);
  PassManager passes(module->getContext());
  passes.addPass(nvidia::createCheckWgmma());
  return failed(passes.run(*module)) ? "check-wgmma: " + said : "";
}

} // namespace tilegym::mutation
