// SPDX-License-Identifier: MIT
// The last steps before ptxas. Choices that matter, and why:
//  - no FP contraction unless an instruction carries `contract`: the language says an fma is written
//  (numerics contract);
//  - no loop unrolling or vectorisation here: tiles are unrolled already, and an 8-fold unrolled row loop
//  only costs registers;
//  - inline assembly with side effects is made convergent after translation, since MLIR cannot say it.
#include "compiler/emit/Ptx.h"
#include "compiler/emit/Libdevice.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace llvm;

namespace tilegym::emit {
namespace {

Expected<std::unique_ptr<TargetMachine>> makeTargetMachine(const PtxOptions &options) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    CrashRecoveryContext::Enable();
  });
  Triple triple("nvptx64-nvidia-cuda");
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError("LLVM has no NVPTX target: %s", message.c_str());
  TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = FPOpFusion::Standard;
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(triple, options.chip, options.feature,
                                                                    targetOptions, std::nullopt, std::nullopt,
                                                                    CodeGenOptLevel::Aggressive));
}

void markAssemblyConvergent(Module &module) {
  for (Function &f : module)
    for (Instruction &i : instructions(f))
      if (auto *call = dyn_cast<CallInst>(&i);
          call && call->isInlineAsm() && cast<InlineAsm>(call->getCalledOperand())->hasSideEffects())
        call->setConvergent();
}

void optimize(Module &module, TargetMachine &machine) {
  PipelineTuningOptions tuning;
  tuning.LoopUnrolling = tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = false;
  LoopAnalysisManager lam;
  FunctionAnalysisManager fam;
  CGSCCAnalysisManager cgam;
  ModuleAnalysisManager mam;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2).run(module, mam);
}

/// The upper bf16 of a word as f32 is the word without its lower half: one instruction, where the backend takes the half out and shifts it back. After all
/// optimizations, which know conversions but not this.
void widenUpperHalves(Module &module) {
  SmallVector<std::pair<FPExtInst *, Value *>> found;
  for (Function &f : module)
    for (Instruction &i : instructions(f)) {
      auto *widened = dyn_cast<FPExtInst>(&i);
      auto *half = widened ? dyn_cast<ExtractElementInst>(widened->getOperand(0)) : nullptr;
      auto *pair = half ? dyn_cast<BitCastInst>(half->getVectorOperand()) : nullptr;
      auto *index = half ? dyn_cast<ConstantInt>(half->getIndexOperand()) : nullptr;
      if (pair && index && index->isOne() && widened->getType()->isFloatTy() &&
          half->getType()->isBFloatTy() && pair->getOperand(0)->getType()->isIntegerTy(32))
        found.push_back({widened, pair->getOperand(0)});
    }
  for (auto [widened, word] : found) {
    IRBuilder<> b(widened);
    widened->replaceAllUsesWith(b.CreateBitCast(b.CreateAnd(word, 0xffff0000), widened->getType()));
    widened->eraseFromParent();
  }
}

/// Whether a kernel's threads use all registers that they can have: what is computed anew in a loop costs less than what is kept for it.
bool isShortOfRegisters(const Module &module) {
  return any_of(module, [](const Function &f) { return f.hasFnAttribute("nvvm.minctasm"); });
}

/// The backend's passes; without loop-invariant code motion if so asked, which is a flag of the whole process while they are put together.
bool addBackend(legacy::PassManager &passes, TargetMachine &machine, raw_pwrite_stream &stream,
                bool keepsInLoops) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  auto *flag = static_cast<cl::opt<bool> *>(cl::getRegisteredOptions().lookup("disable-machine-licm"));
  if (flag)
    flag->setValue(keepsInLoops);
  return machine.addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::AssemblyFile);
}

/// Backend errors reach the context's handler; without one, LLVM would exit the process.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(LLVMContext &context) : context(context) {
    context.setDiagnosticHandlerCallBack(&handle, this);
  }
  ~DiagnosticCollector() { context.setDiagnosticHandlerCallBack(nullptr); }
  std::string text;

private:
  static void handle(const DiagnosticInfo *info, void *self) {
    if (info->getSeverity() != DS_Error)
      return;
    raw_string_ostream os(static_cast<DiagnosticCollector *>(self)->text);
    DiagnosticPrinterRawOStream printer(os);
    info->print(printer);
    os << '\n';
  }
  LLVMContext &context;
};

} // namespace

Expected<std::unique_ptr<Module>> translateFor(const TargetMachine &machine, mlir::ModuleOp op,
                                               LLVMContext &context) {
  std::unique_ptr<Module> module = mlir::translateModuleToLLVMIR(op, context, "kernel");
  if (!module)
    return createStringError("internal error: the lowered module does not translate to LLVM IR");
  module->setTargetTriple(machine.getTargetTriple());
  module->setDataLayout(machine.createDataLayout());
  return module;
}

Expected<std::unique_ptr<Module>> translateToLLVM(mlir::ModuleOp op, LLVMContext &context,
                                                  const PtxOptions &options) {
  auto machine = makeTargetMachine(options);
  if (!machine)
    return machine.takeError();
  return translateFor(**machine, op, context);
}

Expected<std::string> emitPtx(Module &module, const PtxOptions &options) {
  auto machine = makeTargetMachine(options);
  if (!machine)
    return machine.takeError();
  if (Error error = linkLibdevice(module))
    return error;
  // Per-kernel ftz is done by choosing instructions, so libdevice always takes its subnormal-keeping paths.
  module.addModuleFlag(Module::Override, "nvvm-reflect-ftz", uint32_t(0));
  markAssemblyConvergent(module);

  DiagnosticCollector diagnostics(module.getContext());
  SmallString<0> buffer;
  raw_svector_ostream stream(buffer);
  bool unsupported = false;
  CrashRecoveryContext recovery;
  bool finished = recovery.RunSafely([&] {
    optimize(module, **machine);
    widenUpperHalves(module);
    legacy::PassManager passes;
    unsupported = addBackend(passes, **machine, stream, isShortOfRegisters(module));
    if (!unsupported)
      passes.run(module);
  });
  if (!finished || unsupported || !diagnostics.text.empty())
    return createStringError("internal error: LLVM's NVPTX backend failed for %s%s%s", options.chip.c_str(),
                             diagnostics.text.empty() ? "" : ": ", diagnostics.text.c_str());
  return std::string(buffer);
}

} // namespace tilegym::emit
