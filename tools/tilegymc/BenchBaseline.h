// SPDX-License-Identifier: MIT
// A run of `bench` beside an earlier one of the same card.
#pragma once
#include "BenchResult.h"
#include <map>

namespace tilegym::cli {

struct Comparison {
  struct Change {
    double factor =
        0; ///< how many times as fast as before, beside the same run's copy where there is one: it has the same clocks
    enum Kind : uint8_t { Same, Faster, Slower } kind = Same;
  };
  std::string date;   ///< of the baseline
  double neutral = 0; ///< changes of less than this part count as none
  std::map<std::pair<std::string, std::string>, Change> changes; ///< by op and case
  std::vector<std::string> onlyBefore, onlyNow;                  ///< "OP CASE", of ops that are in both
  std::vector<std::pair<std::string, std::string>> unrecorded;   ///< ops without a recording, and its file

  const Change *find(const BenchRow &row) const;
  size_t count(Change::Kind kind) const;
  Json json() const;
};

/// Nothing after complaining: the baseline is of another card.
std::optional<Comparison> compareRuns(const BenchRun &now, const BenchRun &before, double neutral);

} // namespace tilegym::cli
