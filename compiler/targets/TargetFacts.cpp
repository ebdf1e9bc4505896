// SPDX-License-Identifier: MIT
// One line a target.
#include "compiler/targets/TargetFacts.h"
#include <algorithm>

namespace tilegym::targets {

extern const TargetFacts sm80, sm86, sm90, sm100, sm120;

static const TargetFacts *const targets[] = {&sm80, &sm86, &sm90, &sm100, &sm120};

const TargetFacts *findTarget(unsigned arch) {
  for (const TargetFacts *target : targets)
    if (std::find(target->archs.begin(), target->archs.end(), arch) != target->archs.end())
      return target;
  return nullptr;
}

std::string knownTargets() {
  std::vector<unsigned> archs;
  for (const TargetFacts *target : targets)
    archs.insert(archs.end(), target->archs.begin(), target->archs.end());
  std::sort(archs.begin(), archs.end());
  std::string text;
  for (unsigned arch : archs)
    text += (text.empty() ? "sm_" : ", sm_") + std::to_string(arch);
  return text;
}

} // namespace tilegym::targets
