// SPDX-License-Identifier: MIT
// Translation, meaning, and code generation that is quick rather than good: a variant runs for milliseconds, and is compiled for each test.
#include "compiler/simulator/jit/HostObject.h"
#include "compiler/emit/Libdevice.h"
#include "compiler/emit/Ptx.h"
#include "compiler/simulator/jit/Semantics.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <mutex>

using namespace llvm;

namespace tilegym::sim {
namespace {

/// Of the host's vector extensions, one level for all machines that have it: so that an object fits where its cache goes. Beyond it lie conversions
/// that flush subnormals.
std::string processor(const Triple &triple) {
  StringMap<bool> features = sys::getHostCPUFeatures();
  bool modern =
      features.lookup("avx2") && features.lookup("fma") && features.lookup("f16c") && features.lookup("bmi2");
  return triple.getArch() != Triple::x86_64 ? "generic" : modern ? "x86-64-v3" : "x86-64";
}

Expected<std::unique_ptr<TargetMachine>> makeHostMachine() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
  Triple triple(sys::getProcessTriple());
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError("LLVM has no target for this machine: %s", message.c_str());
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, processor(triple), "", options, Reloc::PIC_, CodeModel::Small, CodeGenOptLevel::None));
}

/// What makes less code to generate, for less time than the generation it saves.
void simplify(Module &module, TargetMachine &machine) {
  LoopAnalysisManager lam;
  FunctionAnalysisManager fam;
  CGSCCAnalysisManager cgam;
  ModuleAnalysisManager mam;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass());
  passes.addPass(SimplifyCFGPass());
  passes.addPass(DCEPass());
  ModulePassManager all;
  all.addPass(createModuleToFunctionPassAdaptor(std::move(passes)));
  all.run(module, mam);
}

uint32_t numberOf(const Function &f, StringRef attribute, uint32_t otherwise) {
  uint32_t value = otherwise;
  if (f.hasFnAttribute(attribute))
    f.getFnAttribute(attribute).getValueAsString().getAsInteger(10, value);
  return value;
}

/// An object file keeps no attributes of functions: KernelFacts as data.
void addFacts(Module &module) {
  LLVMContext &context = module.getContext();
  for (Function &f : module) {
    if (!f.hasFnAttribute("tilegym-kernel"))
      continue;
    SmallVector<uint32_t> words = {numberOf(f, "tilegym-threads", 0), numberOf(f, "tilegym-cluster", 1),
                                   numberOf(f, "tilegym-shared-bytes", 0), 0};
    SmallVector<StringRef> pairs;
    f.getFnAttribute("tilegym-by-value").getValueAsString().split(pairs, ',', -1, /*KeepEmpty=*/false);
    for (StringRef pair : pairs) {
      auto [parameter, bytes] = pair.split(':');
      for (StringRef text : {parameter, bytes})
        text.getAsInteger(10, words.emplace_back());
      ++words[3];
    }
    Constant *data = ConstantDataArray::get(context, words);
    new GlobalVariable(module, data->getType(), /*isConstant=*/true, GlobalValue::ExternalLinkage, data,
                       f.getName() + ".facts");
  }
}

} // namespace

Expected<std::unique_ptr<Module>> translateForHost(mlir::ModuleOp op, LLVMContext &context) {
  auto machine = makeHostMachine();
  if (!machine)
    return machine.takeError();
  return emit::translateFor(**machine, op, context);
}

Expected<std::string> compileForHost(Module &module, unsigned number) {
  auto machine = makeHostMachine();
  if (!machine)
    return machine.takeError();
  if (Error error = emit::linkLibdevice(module))
    return error;
  resolveReflect(module, number);
  simplify(module, **machine); // what `reflect` has ruled out is gone, before it must have a meaning
  if (Error error = replaceNvvmIntrinsics(module))
    return error;
  adaptArithmetic(module);
  addFacts(module);
  for (Function &f : module)
    if (!f.isDeclaration()) {
      f.addFnAttr(Attribute::NoUnwind);
      // A fiber's stack is small: a frame that does not fit must hit the guard page, and not what lies beyond.
      f.addFnAttr("probe-stack", "inline-asm");
    }

  SmallString<0> buffer;
  raw_svector_ostream stream(buffer);
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::ObjectFile))
    return createStringError("internal error: LLVM cannot write an object file for this machine");
  passes.run(module);
  return std::string(buffer);
}

} // namespace tilegym::sim
