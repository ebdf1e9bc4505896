// SPDX-License-Identifier: MIT
// A plan on the GPU: its scratch buffers, and its launches one after the other on the caller's stream.
#pragma once
#include "CallMaps.h"
#include "KernelLaunch.h"

namespace tilegym::runtime {

/// Scratch buffers of one call, one after the other in one piece of memory.
struct ScratchSpace {
  static constexpr size_t kAlignment = 256;
  int64_t extents[format::kMaxScratch][kMaxRank];
  size_t offsets[format::kMaxScratch];
  size_t bytes = 0;
};
/// For a call that takes the plan.
TilegymStatus measureScratch(const Call &call, const format::Variant &plan, ScratchSpace *space);

/// Memory that the caller gives for one call; null: the driver's pool has some.
struct Workspace {
  void *data = nullptr;
  size_t bytes = 0;
};

/// Where a plan runs.
struct PlanPlace {
  const Driver &driver;
  const Device &device;
  uint64_t context; ///< its number, 0 if that is not known
  Loader &loader;
  const MapTemplates *maps; ///< may be null
  CUstream stream;
};
/// Loads what the call launches.
TilegymStatus loadPlan(const PlanPlace &place, const Call &call, const format::Variant &plan);
/// Launches it. Nothing is launched where one of the kernels cannot be.
TilegymStatus launchPlan(const PlanPlace &place, const Call &call, const format::Variant &plan,
                         const Workspace &workspace);

/// The variant that a launch takes, and its grid; for those who ask, without a device where `arch` is kAnyArch.
struct PlannedLaunch {
  uint32_t op = 0; ///< Table::numberOf
  Choice choice;
  Grid grid;
};
TilegymStatus planLaunches(const Call &call, const format::Variant &plan, int arch,
                           PlannedLaunch launches[format::kMaxLaunches], ScratchSpace *space);

} // namespace tilegym::runtime
