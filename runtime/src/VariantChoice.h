// SPDX-License-Identifier: MIT
// Which variant a call takes: the first kernel whose guard holds and that has a variant for these dtypes, consts and facts; fast before general.
#pragma once
#include "Call.h"
#include <set>
#include <string>

namespace tilegym::runtime {

struct Choice {
  const format::Variant *variant = nullptr; ///< null: none
  const format::Image *image = nullptr;     ///< the code for the device; null for a plan
  const int64_t *params = nullptr;          ///< the kernel's, the tuned ones included
  uint32_t index = 0;
};
/// Instead of a compute capability: as if for the GPU that each variant was compiled for.
constexpr int kAnyArch = 0;
/// The code of a variant that a device runs best, and how well it fits; null and -1 where there is none.
const format::Image *bestImage(const Table &table, const format::Variant &variant, int arch, int *fit);
/// The same of any variant: a plan fits as its launch that fits worst.
int fitnessOf(const Table &table, const format::Variant &variant, int arch);
/// For a device of compute capability `arch` (90 for 9.0).
TilegymStatus choose(const Call &call, int arch, const char *deviceName, Choice *choice);

/// Whether some variant of the op has code for the device; fails where none has.
TilegymStatus hasCode(const Table &table, const format::Op &op, int arch, const char *deviceName);
/// The architectures that these variants have code for, each once: "sm_90a", "PTX for sm_80".
std::set<std::string> archNames(const Table &table, std::span<const format::Variant> variants);

/// Variant number `index`, whether or not it suits the call.
Choice choiceOf(const Call &call, uint32_t index, int arch);

/// The steps of `choose`, for the cache of its answers. A guard that cannot be evaluated is false.
bool guardHolds(const Call &call, const format::Kernel &kernel, const Values &values);
/// The derived parameters; kRunTime for tuned ones. False where one cannot be computed.
bool derive(const Call &call, const format::Kernel &kernel, const Values &values, int64_t *derived);
/// What a variant's facts are called: "fast", "dense" (fast, but for aligned vectors) or "general".
const char *factsName(const Table &table, const format::Variant &variant);
/// The facts that a variant relies on.
bool factsHold(const Call &call, const format::Variant &variant);
/// The best variant of kernel number `kernel` for these parameters. Sets `lacksImage` where one would do but has no code for the device.
Choice bestOf(const Call &call, uint32_t kernel, const int64_t *derived, int arch, bool *lacksImage);

} // namespace tilegym::runtime
