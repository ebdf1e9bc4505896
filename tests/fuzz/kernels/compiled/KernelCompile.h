// SPDX-License-Identifier: MIT
// The compiler's side of a kernel, where it is built in: packages for GPUs and for the simulator, or PTX alone.
#pragma once
#include "tests/fuzz/kernels/KernelCase.h"

namespace tilegym::fuzz {

enum class Target : uint8_t { Ptx, Simulator };

struct Compiled {
  std::string error;
  uint64_t variants = 0;
  std::string package; ///< of Simulator: the block that the runtime reads
};
/// Every variant, fast and general, for one arch ("sm_90a"), in this thread; with `checks`, asserts stay in.
Compiled compileKernel(const KernelCase &kernel, Target target, const std::string &arch, bool checks);

/// A package for GPUs of many kernels, without PTX. The error names the kernel.
Compiled compileForGpu(const std::vector<const KernelCase *> &kernels, const std::string &arch);

bool hasCompiler();
bool hasSimulator();

} // namespace tilegym::fuzz
