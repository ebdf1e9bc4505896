// SPDX-License-Identifier: MIT
// Judges in processes of their own: a crash, a failed assertion or a run without end becomes a verdict, and several seeds are judged at once.
#pragma once
#include "tests/fuzz/kernels/compiled/KernelJudge.h"
#include <functional>

namespace tilegym::fuzz {

struct SeedRange {
  uint64_t first = 1, count = UINT64_MAX;
  double seconds = 1e9; ///< no seed is begun after this
  unsigned jobs = 2;
  uint64_t chunk = 25;        ///< seeds of a process
  unsigned secondsOfOne = 60; ///< then a seed counts as hanging
};

/// Calls `judge` for every seed of the range, `jobs` at once, each in a forked process that takes several; `done` gets the verdicts, in this process.
void judgeSeeds(const SeedRange &range, const std::function<Verdict(uint64_t)> &judge,
                const std::function<void(uint64_t, const Verdict &)> &done);

/// One text, in a process of its own.
Verdict judgeForked(const std::function<Verdict()> &judge);

} // namespace tilegym::fuzz
