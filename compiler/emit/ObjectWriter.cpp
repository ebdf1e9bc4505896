// SPDX-License-Identifier: MIT
// The object file that a program links: the block as read-only data, and a C function an op that packs its arguments and calls the runtime. Built as LLVM
// IR, so that no C compiler is needed; nothing runs before main.
#include "compiler/emit/Package.h"
#include "compiler/emit/Signature.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace tilegym::emit {
namespace {

class ObjectBuilder {
public:
  ObjectBuilder(const Package &package, Module &module)
      : package(package), module(module), b(module.getContext()) {}

  void run(StringRef table) {
    pointer = b.getPtrTy();
    auto *data = ConstantDataArray::getString(module.getContext(), table, /*AddNull=*/false);
    block = new GlobalVariable(module, data->getType(), /*isConstant=*/true, GlobalValue::InternalLinkage,
                               data, package.name + "_block");
    block->setAlignment(Align(64));
    slot = new GlobalVariable(module, pointer, /*isConstant=*/false, GlobalValue::InternalLinkage,
                              ConstantPointerNull::get(pointer), package.name + "_slot");
    size = table.size();
    embedded =
        module.getOrInsertFunction("tilegym_embedded", b.getInt32Ty(), pointer, b.getInt64Ty(), pointer);
    call =
        module.getOrInsertFunction("tilegym_call", b.getInt32Ty(), pointer, b.getInt64Ty(), pointer, pointer);
    writeOpener();
    for (auto [i, op] : enumerate(package.ops))
      writeEntry(i, *op.model);
  }

private:
  Function *define(const std::string &name, ArrayRef<Type *> parameters) {
    auto *type = FunctionType::get(b.getInt32Ty(), parameters, false);
    auto *function = Function::Create(type, GlobalValue::ExternalLinkage, name, module);
    b.SetInsertPoint(BasicBlock::Create(module.getContext(), "", function));
    return function;
  }

  /// Opens the block once; returns the status early where that fails.
  Value *openPackage(Function *function) {
    Value *status = b.CreateCall(embedded, {block, b.getInt64(size), slot});
    auto *failed = BasicBlock::Create(module.getContext(), "", function),
         *opened = BasicBlock::Create(module.getContext(), "", function);
    b.CreateCondBr(b.CreateICmpNE(status, b.getInt32(0)), failed, opened);
    b.SetInsertPoint(failed);
    b.CreateRet(status);
    b.SetInsertPoint(opened);
    return b.CreateLoad(pointer, slot);
  }

  void writeOpener() {
    Function *function = define(package.name + "_package", {pointer});
    b.CreateStore(openPackage(function), function->getArg(0));
    b.CreateRet(b.getInt32(0));
  }

  Type *typeOf(const CArgument &a) {
    switch (a.kind) {
    case CArgument::Tensor:
    case CArgument::List:
    case CArgument::Pointer:
      return pointer;
    case CArgument::Const:
      return b.getInt64Ty();
    case CArgument::Scalar:
      return a.dtype == DType::F64   ? b.getDoubleTy()
             : a.dtype == DType::F32 ? b.getFloatTy()
                                     : Type::getIntNTy(module.getContext(), sizeInBits(a.dtype));
    }
    llvm_unreachable("an argument of no kind");
  }

  void writeEntry(size_t number, const sem::OpModel &op) {
    std::vector<CArgument> arguments = signatureOf(op);
    SmallVector<Type *> types;
    for (const CArgument &a : arguments)
      types.push_back(typeOf(a));
    types.push_back(pointer); // the stream
    Function *function = define(package.name + "_" + op.name, types);
    auto *arrayType = ArrayType::get(pointer, arguments.size());
    Value *array = b.CreateAlloca(arrayType);
    for (auto [i, a] : enumerate(arguments)) {
      Value *value = function->getArg(unsigned(i));
      if (a.kind == CArgument::Scalar || a.kind == CArgument::Const) {
        Value *place = b.CreateAlloca(value->getType());
        b.CreateStore(value, place);
        value = place;
      }
      b.CreateStore(value, b.CreateConstInBoundsGEP2_64(arrayType, array, 0, i));
    }
    Value *opened = openPackage(function);
    b.CreateRet(b.CreateCall(
        call, {opened, b.getInt64(number), array, function->getArg(unsigned(arguments.size()))}));
  }

  const Package &package;
  Module &module;
  IRBuilder<> b;
  PointerType *pointer = nullptr;
  GlobalVariable *block = nullptr, *slot = nullptr;
  uint64_t size = 0;
  FunctionCallee embedded, call;
};

} // namespace

Expected<std::string> writeObject(const Package &package, StringRef table) {
  static const bool initialized = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  LLVMContext context;
  Module module(package.name, context);
  Triple triple(sys::getDefaultTargetTriple());
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError("LLVM cannot make object files for this machine (%s): %s", triple.str().c_str(),
                             message.c_str());
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, "", "", TargetOptions(), Reloc::PIC_, std::nullopt, CodeGenOptLevel::Default));
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  ObjectBuilder(package, module).run(table);
  SmallString<0> buffer;
  raw_svector_ostream stream(buffer);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::ObjectFile))
    return createStringError("LLVM cannot make object files for this machine (%s)", triple.str().c_str());
  passes.run(module);
  return std::string(buffer);
}

} // namespace tilegym::emit
