// SPDX-License-Identifier: MIT
// Lazy reading and linking of only what is needed: the library is half a megabyte, and a kernel calls a function or two.
#include "compiler/emit/Libdevice.h"
#include "compiler/emit/Toolchain.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace llvm;

namespace tilegym::emit {

Error linkLibdevice(Module &module) {
  bool needed =
      any_of(module, [](const Function &f) { return f.isDeclaration() && f.getName().starts_with("__nv_"); });
  if (!needed)
    return Error::success();
  Expected<Tool> libdevice = findLibdevice();
  if (!libdevice)
    return libdevice.takeError();
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> library = getLazyIRFileModule(libdevice->path, diagnostic, module.getContext());
  if (!library)
    return createStringError("cannot read libdevice at '%s': %s", libdevice->path.c_str(),
                             diagnostic.getMessage().str().c_str());
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  if (Linker(module).linkInModule(std::move(library), Linker::LinkOnlyNeeded,
                                  [](Module &m, const StringSet<> &names) {
                                    internalizeModule(m, [&](const GlobalValue &value) {
                                      return !value.hasName() || !names.contains(value.getName());
                                    });
                                  }))
    return createStringError("libdevice at '%s' does not link", libdevice->path.c_str());
  for (const Function &f : module)
    if (f.isDeclaration() && f.getName().starts_with("__nv_"))
      return createStringError("libdevice at '%s' has no function '%s'", libdevice->path.c_str(),
                               f.getName().str().c_str());
  return Error::success();
}

} // namespace tilegym::emit
