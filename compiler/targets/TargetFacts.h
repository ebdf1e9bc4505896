// SPDX-License-Identifier: MIT
// What shared code must know of a GPU architecture. Each folder compiler/targets/sm_* has the facts of one, and they stand nowhere else.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tilegym::targets {

struct TargetFacts {
  std::vector<unsigned>
      archs; ///< compute capabilities (89 for 8.9) that these facts hold for; the first names them
  int64_t maxSharedBytes = 0;  ///< shared memory that one block can have
  bool float8Products = false; ///< tensor cores multiply 8-bit floats, and f32 become such by one instruction
  bool warpgroupProducts =
      false; ///< four warps' products that run by themselves (wgmma), in code for this arch alone (sm_90a)
  bool clusters = false;   ///< blocks launched together that read each other's shared memory
  bool bulkCopies = false; ///< a copy engine that fills shared memory, and barriers that count its bytes
  bool dependentLaunches = false; ///< grids that start before the one that they depend on has ended
};

/// The facts of a compute capability; null where nothing is known of it.
const TargetFacts *findTarget(unsigned arch);
/// "sm_80, sm_86 ...": all that findTarget knows, in order.
std::string knownTargets();

} // namespace tilegym::targets
