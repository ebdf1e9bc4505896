// SPDX-License-Identifier: MIT
// PTX to cubin by the ptxas program, with its resource report.
#pragma once
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tilegym::emit {

/// What ptxas says of one kernel. Bytes are per thread, except `staticShared` (per block).
struct Resources {
  unsigned registers = 0, staticShared = 0, stack = 0, spillStores = 0, spillLoads = 0, barriers = 0,
           constantBytes = 0;
  /// Bytes of code's accesses to spilled registers.
  unsigned spills() const { return spillStores + spillLoads; }
};

struct Cubin {
  std::string image;
  Resources resources; ///< of the module's one kernel
  std::vector<std::string> warnings;
  std::vector<std::string>
      slow; ///< why code is right, but far from the speed it was made for: serialized wgmma, ignored setmaxnreg
};

/// Assembles `ptx`, which holds one kernel named `kernel`. Kills ptxas after `timeoutSeconds` (0: never), which is an error of std::errc::timed_out.
llvm::Expected<Cubin> assemble(llvm::StringRef ptx, llvm::StringRef kernel, llvm::StringRef chip,
                               unsigned timeoutSeconds = 300);

/// The report of `ptxas -v` for one kernel; exposed for tests.
llvm::Expected<Resources> parseResources(llvm::StringRef report, llvm::StringRef kernel);

} // namespace tilegym::emit
