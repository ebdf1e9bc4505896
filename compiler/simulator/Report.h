// SPDX-License-Identifier: MIT
// What a launch found.
#pragma once
#include "compiler/simulator/Site.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilegym::sim {

enum class FindingKind : uint8_t {
  Trap,           ///< the kernel's own
  OutOfBounds,    ///< in any space; use after free too
  Misaligned,     ///<
  Uninitialised,  ///< a read of memory that nobody wrote
  Race,           ///< shared or global
  ProxyFence,     ///< the async proxy touches what generic writes did not hand over
  Deadlock,       ///< nothing can run any more
  Livelock,       ///< everything runs and nothing changes, or the step limit
  Divergence,     ///< lanes meet at different instructions, or a lane that must take part has exited
  BarrierMisuse,  ///< named barriers
  MbarrierMisuse, ///<
  WgmmaMisuse,    ///<
  PendingAtExit,  ///< asynchronous operations, or cluster peers, outlive a thread that they need
  Unsupported,    ///< the simulator does not model this
  BadOperand,     ///< an operand that the instruction does not allow
};
std::string_view name(FindingKind kind);

/// One fault. Equal faults (kind, site, other site) of a launch are one finding with a count.
struct Finding {
  FindingKind kind = FindingKind::Trap;
  std::string text;               ///< says who, where and what: "block 3 thread 65 reads ... (a.tile:12)"
  const Site *site = nullptr;     ///< where it was seen
  const Site *other = nullptr;    ///< the other party of a race, else null
  uint32_t block = 0, thread = 0; ///< linear numbers
  uint64_t count = 1;
};

/// How well one access of the kernel uses the memory system, over all warps. Shared: wavefronts; global: 32-byte sectors.
struct Traffic {
  const Site *site = nullptr;
  bool isShared = false, isWrite = false;
  uint64_t requests = 0; ///< of a warp
  uint64_t done = 0;     ///< wavefronts or sectors that were needed
  uint64_t ideal = 0;    ///< as many would do for the same bytes
};

struct Report {
  uint64_t seed = 0;
  bool completed = false; ///< every thread came to its end
  std::vector<Finding> findings;
  std::vector<Traffic> traffic; ///< by line; empty unless it was asked for
  std::string output;           ///< what the kernel printed
  uint64_t accesses = 0, switches = 0, blocks = 0;

  bool clean() const { return completed && findings.empty(); }
  /// All of it, a finding a paragraph, with the seed.
  std::string text() const;
};

/// "file:line", or the mnemonic where no line is known.
std::string place(const Site *site);

} // namespace tilegym::sim
