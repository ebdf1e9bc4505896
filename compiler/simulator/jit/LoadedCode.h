// SPDX-License-Identifier: MIT
// An object file of compileForHost, linked into this process by ORC.
#pragma once
#include "compiler/simulator/jit/HostObject.h"
#include <memory>
#include <string>

namespace tilegym::sim {

class LoadedCode {
public:
  /// Links the object against the simulator's table of instructions. The error says which instruction the simulator lacks.
  static llvm::Expected<std::unique_ptr<LoadedCode>> load(llvm::StringRef object);
  /// Unloads it: no site or text of it may be in use.
  ~LoadedCode();

  struct Kernel {
    void (*entry)(const void *const *parameters) = nullptr;
    const KernelFacts *facts = nullptr;
  };
  llvm::Expected<Kernel> kernel(const std::string &name) const;
  /// Size of the object file that starts here; 0 where none of this machine does.
  static size_t sizeOfObject(const void *image);

private:
  LoadedCode() = default;
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tilegym::sim
