// SPDX-License-Identifier: MIT
// Finds ptxas and libdevice, and says where they came from (`tilegymc doctor`, errors). Order: the
// environment variables TILEGYM_PTXAS and TILEGYM_LIBDEVICE, CUDA_HOME, the tools that tools/setup put into
// .cache/cuda, PATH, /usr/local/cuda.
#pragma once
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tilegym::emit {

struct Tool {
  std::string path;
  std::string origin; ///< "TILEGYM_PTXAS", "CUDA_HOME", "PATH" ...
};

/// ptxas, with its version as it states it ("13.0.88").
struct Ptxas : Tool {
  std::string version;
  unsigned major = 0, minor = 0;
};

/// Oldest ptxas that takes the PTX this compiler writes (PTX ISA 9.0 came with CUDA 13.0).
constexpr unsigned kPtxasMajor = 13, kPtxasMinor = 0;

/// The ptxas to use, found and asked for its version once a process. The error names each place looked at,
/// the version needed, and TILEGYM_PTXAS as the override. An empty TILEGYM_PTXAS means "pretend there is
/// none".
llvm::Expected<Ptxas> findPtxas();
llvm::Expected<Tool> findLibdevice();

} // namespace tilegym::emit
