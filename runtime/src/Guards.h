// SPDX-License-Identifier: MIT
// The guards of an op's kernels, taken apart: most are several conditions joined by `&`, and kernels share many of them. Each condition is worked out once
// a call at most, and a guard's only up to the first that is false.
#pragma once
#include "Postfix.h"
#include <vector>

namespace tilegym::runtime {

class Guards {
public:
  /// Takes the next kernel's guard; no code always holds. The code must outlive this.
  void add(std::span<const format::Inst> guard);
  /// What one call has found so far.
  struct Found {
    uint64_t known = 0, holding = 0; ///< bit a condition; later conditions than the 64th are worked out anew
  };
  /// As evaluating the whole guard: a condition that cannot be worked out is false.
  bool hold(size_t kernel, const Values &values, Found &found) const;
  /// Distinct conditions, for tests.
  size_t size() const { return conditions.size(); }

private:
  std::vector<std::span<const format::Inst>> conditions;
  std::vector<std::vector<uint32_t>> ofKernel; ///< numbers of conditions, in the guard's order
};

} // namespace tilegym::runtime
