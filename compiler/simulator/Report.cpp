// SPDX-License-Identifier: MIT
// Reports as text.
#include "compiler/simulator/Report.h"

namespace tilegym::sim {

std::string_view name(FindingKind kind) {
  switch (kind) {
  case FindingKind::Trap:
    return "trap";
  case FindingKind::OutOfBounds:
    return "out of bounds";
  case FindingKind::Misaligned:
    return "misaligned access";
  case FindingKind::Uninitialised:
    return "uninitialised read";
  case FindingKind::Race:
    return "race";
  case FindingKind::ProxyFence:
    return "missing proxy fence";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::Livelock:
    return "livelock";
  case FindingKind::Divergence:
    return "divergence";
  case FindingKind::BarrierMisuse:
    return "barrier misuse";
  case FindingKind::MbarrierMisuse:
    return "mbarrier misuse";
  case FindingKind::WgmmaMisuse:
    return "wgmma misuse";
  case FindingKind::PendingAtExit:
    return "pending at exit";
  case FindingKind::Unsupported:
    return "not simulated";
  case FindingKind::BadOperand:
    return "bad operand";
  }
  return "";
}

std::string place(const Site *site) {
  if (!site)
    return "unknown place";
  if (!site->file || !*site->file)
    return site->mnemonic;
  return std::string(site->file) + ":" + std::to_string(site->line);
}

std::string Report::text() const {
  std::string text;
  for (const Finding &finding : findings) {
    text += std::string(name(finding.kind)) + ": " + finding.text;
    if (finding.count > 1)
      text += " [" + std::to_string(finding.count) + " times]";
    text += "\n";
  }
  for (const Traffic &one : traffic)
    text += place(one.site) + ": " + (one.isShared ? "shared " : "global ") +
            (one.isWrite ? "write" : "read") + ", " + std::to_string(one.requests) + " requests, " +
            std::to_string(one.done) + (one.isShared ? " wavefronts" : " sectors") + ", ideal " +
            std::to_string(one.ideal) + "\n";
  text += completed ? "completed" : "not completed";
  return text + " (seed " + std::to_string(seed) + ", " + std::to_string(blocks) + " blocks, " +
         std::to_string(accesses) + " accesses)\n";
}

} // namespace tilegym::sim
