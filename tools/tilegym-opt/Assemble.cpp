// SPDX-License-Identifier: MIT
// `tilegym-opt assemble FILE [arch=sm_90a] [emit=llvm|ptx|cubin|object] [out=FILE]`: threads' programs, written by hand as llvm.func with ops of the ptx
// dialect, by the way that compiled kernels take. Kernels say what a launch must know:
//
//   llvm.func @k(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %out: !llvm.ptr<1>)
//     attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.cluster_dim = array<i32: 2, 1, 1>}
//
// Text goes to standard output, a cubin or an object (for the simulator) to `out`. What ptxas warns of is an error: a serialized wgmma, an ignored setmaxnreg.
#include "Assemble.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/Registration.h"
#include "compiler/emit/Package.h"
#include "compiler/emit/Ptx.h"
#ifdef TILEGYM_HAS_SIMULATOR
#include "compiler/simulator/jit/HostObject.h"
#endif
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilegym;

namespace {

int fail(const llvm::Twine &text) {
  llvm::errs() << text << "\n";
  return 1;
}

/// False where there is no such file.
bool writeFile(llvm::StringRef path, llvm::StringRef bytes) {
  if (path.empty())
    return true;
  std::error_code ec;
  llvm::raw_fd_ostream file(path, ec);
  if (ec)
    return fail(path + ": " + ec.message()) == 0;
  file << bytes;
  return true;
}

int writeObject([[maybe_unused]] mlir::ModuleOp module, [[maybe_unused]] unsigned number,
                [[maybe_unused]] llvm::StringRef out) {
#ifdef TILEGYM_HAS_SIMULATOR
  llvm::LLVMContext context;
  auto translated = sim::translateForHost(module, context);
  if (!translated)
    return fail(llvm::toString(translated.takeError()));
  llvm::Expected<std::string> object = sim::compileForHost(**translated, number);
  if (!object)
    return fail(llvm::toString(object.takeError()));
  return writeFile(out, *object) ? 0 : 1;
#else
  return fail("this tilegym-opt was built without the simulator, which needs Boost.Context");
#endif
}

int writeCubin(mlir::ModuleOp module, llvm::StringRef ptx, llvm::StringRef chip, llvm::StringRef out) {
  llvm::SmallVector<llvm::StringRef> kernels;
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>())
    if (function->hasAttr(mlir::NVVM::NVVMDialect::getKernelFuncAttrName()))
      kernels.push_back(function.getSymName());
  if (kernels.empty())
    return fail("the file has no kernel: expected an llvm.func with the attribute nvvm.kernel");
  llvm::Expected<emit::Cubin> cubin = emit::assemble(ptx, kernels.front(), chip);
  if (!cubin)
    return fail(llvm::toString(cubin.takeError()));
  for (const auto *texts : {&cubin->warnings, &cubin->slow})
    for (const std::string &text : *texts)
      llvm::errs() << text << "\n";
  if (!cubin->warnings.empty() || !cubin->slow.empty())
    return 1;
  if (!writeFile(out, cubin->image))
    return 1;
  llvm::outs() << llvm::join(kernels, " ") << ": assembled for " << chip;
  // The report is of one kernel.
  if (kernels.size() == 1)
    llvm::outs() << ", " << cubin->resources.registers << " registers, " << cubin->resources.spillStores
                 << " bytes spilled";
  llvm::outs() << "\n";
  return 0;
}

} // namespace

int tilegym::assembleMain(llvm::ArrayRef<const char *> args) {
  if (args.empty())
    return fail("usage: tilegym-opt assemble FILE [arch=ARCH] [emit=llvm|ptx|cubin|object] [out=FILE]");
  std::string archText = "sm_90a", out;
  driver::Stage stage = driver::Stage::Cubin;
  for (llvm::StringRef arg : args.drop_front()) {
    auto [name, value] = arg.split('=');
    auto wanted = name == "emit" ? driver::parseStage(value) : std::nullopt;
    if (name == "arch")
      archText = value.str();
    else if (name == "out")
      out = value.str();
    else if (wanted && *wanted >= driver::Stage::Llvm)
      stage = *wanted;
    else
      return fail("'" + arg + "' is no option: expected arch=ARCH, emit=llvm|ptx|cubin|object or out=FILE");
  }
  llvm::Expected<emit::Arch> arch = emit::parseArch(archText);
  if (!arch)
    return fail(llvm::toString(arch.takeError()));

  mlir::DialectRegistry registry;
  driver::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(args[0]);
  if (!buffer)
    return fail(args[0] + llvm::Twine(": ") + buffer.getError().message());
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  mlir::PassManager passes(&context);
  driver::PipelineOptions options;
  if (stage == driver::Stage::Object)
    options.platform = driver::Platform::Simulator;
  driver::addStagePasses(passes, driver::Stage::Llvm, options);
  if (!module || failed(passes.run(*module)))
    return 1;
  if (stage == driver::Stage::Llvm) {
    module->print(llvm::outs());
    return 0;
  }
  if (stage == driver::Stage::Object)
    return writeObject(*module, arch->number, out);

  llvm::LLVMContext llvmContext;
  emit::PtxOptions ptxOptions;
  ptxOptions.chip = arch->chip;
  auto llvmModule = emit::translateToLLVM(*module, llvmContext, ptxOptions);
  if (!llvmModule)
    return fail(llvm::toString(llvmModule.takeError()));
  llvm::Expected<std::string> ptx = emit::emitPtx(**llvmModule, ptxOptions);
  if (!ptx)
    return fail(llvm::toString(ptx.takeError()));
  if (stage == driver::Stage::Ptx) {
    llvm::outs() << *ptx;
    return 0;
  }
  return writeCubin(*module, *ptx, arch->chip, out);
}
