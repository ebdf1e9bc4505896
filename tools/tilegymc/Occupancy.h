// SPDX-License-Identifier: MIT
// How many blocks of a kernel a multiprocessor holds at once, and what keeps it from more.
#pragma once
#include <cstdint>
#include <string>

namespace tilegym::cli {

struct Occupancy {
  int64_t blocks = 0;    ///< of one multiprocessor
  int64_t warps = 0;     ///< of these blocks
  int64_t maxWarps = 0;  ///< that the multiprocessor can have; 0: it is not known here
  std::string limitedBy; ///< "registers", "shared memory", "warps", "blocks"
};
/// For a compute capability (90 for 9.0). `registers` is 0 where they are not known, and then not counted.
Occupancy occupancyOf(int arch, int64_t threads, int64_t registers, int64_t sharedBytes);

} // namespace tilegym::cli
