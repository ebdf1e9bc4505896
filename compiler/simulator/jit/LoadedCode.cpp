// SPDX-License-Identifier: MIT
// One ORC session for the process; each object is a library of its own in it, so that names do not meet.
#include "compiler/simulator/jit/LoadedCode.h"
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/jit/HostSymbols.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include <atomic>
#include <cstring>

using namespace llvm;
using namespace llvm::orc;

namespace tilegym::sim {
namespace {

/// What all objects link against: the instructions, the compiler's own library, and libm.
Expected<std::unique_ptr<LLJIT>> makeSession() {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  // The kernels need no constructors and no exit handlers, so no platform.
  auto jit = LLJITBuilder().setPlatformSetUp(setUpInactivePlatform).create();
  if (!jit)
    return jit.takeError();
  SymbolMap symbols;
  auto add = [&](const std::string &name, void *address) {
    symbols[(*jit)->mangleAndIntern(name)] = {ExecutorAddr::fromPtr(address),
                                              JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  };
  for (const Row &row : instructions())
    add("tgsim_" + std::string(row.mnemonic), reinterpret_cast<void *>(row.run));
  for (const HostSymbol &symbol : hostSymbols())
    add(std::string(symbol.name), symbol.address);
  JITDylib &machine = (*jit)->getMainJITDylib();
  if (Error error = machine.define(absoluteSymbols(std::move(symbols))))
    return error;
  auto process = DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix(),
      [](const SymbolStringPtr &name) { return !(*name).starts_with("tgsim_"); });
  if (!process)
    return process.takeError();
  machine.addGenerator(std::move(*process));
  return jit;
}

Expected<LLJIT *> session() {
  // Never destroyed: reports may outlive main, and the order of exit is not ours.
  static Expected<std::unique_ptr<LLJIT>> *jit = new Expected(makeSession());
  if (!*jit)
    return createStringError("the simulator's JIT does not start: %s", toString(jit->takeError()).c_str());
  return jit->get().get();
}

} // namespace

struct LoadedCode::Impl {
  LLJIT *jit = nullptr;
  JITDylib *library = nullptr;
};

LoadedCode::~LoadedCode() {
  if (impl && impl->library)
    consumeError(impl->jit->getExecutionSession().removeJITDylib(*impl->library));
}

size_t LoadedCode::sizeOfObject(const void *image) {
  ELF::Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  uint16_t machine = Triple(LLVM_HOST_TRIPLE).getArch() == Triple::aarch64 ? ELF::EM_AARCH64 : ELF::EM_X86_64;
  if (!header.checkMagic() || header.e_type != ELF::ET_REL || header.e_machine != machine)
    return 0;
  return header.e_shoff + size_t(header.e_shnum) * header.e_shentsize; // the table of sections is last
}

Expected<std::unique_ptr<LoadedCode>> LoadedCode::load(StringRef object) {
  auto jit = session();
  if (!jit)
    return jit.takeError();
  static std::atomic<unsigned> serial{0};
  std::unique_ptr<LoadedCode> code(new LoadedCode);
  code->impl = std::make_unique<Impl>();
  code->impl->jit = *jit;
  auto library = (*jit)->createJITDylib("kernel" + std::to_string(serial++));
  if (!library)
    return library.takeError();
  code->impl->library = &*library;
  library->addToLinkOrder((*jit)->getMainJITDylib());
  if (Error error = (*jit)->addObjectFile(*library, MemoryBuffer::getMemBufferCopy(object, "kernel")))
    return error;
  return code;
}

Expected<LoadedCode::Kernel> LoadedCode::kernel(const std::string &name) const {
  auto entry = impl->jit->lookup(*impl->library, name);
  if (!entry)
    return entry.takeError();
  auto facts = impl->jit->lookup(*impl->library, name + ".facts");
  if (!facts)
    return facts.takeError();
  return Kernel{entry->toPtr<void (*)(const void *const *)>(), facts->toPtr<const KernelFacts *>()};
}

} // namespace tilegym::sim
