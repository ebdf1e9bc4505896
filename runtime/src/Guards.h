// SPDX-License-Identifier: MIT
// The guards and the derived parameters of an op's kernels. A guard is taken apart into the conditions that `&` joins, of which kernels share many: those that stay
// between calls that are alike are worked out once for them, each other one once a call at most, and none behind one that is false.
#pragma once
#include "Terms.h"

namespace tilegym::runtime {

class Guards {
public:
  explicit Guards(Terms::Varying varying) : terms(varying) {}
  /// Takes the next kernel: its guard, of which no code always holds, and its derived parameters, of which no code is a tuned one. The code must outlive this.
  void add(Terms::Code guard, const std::vector<Terms::Code> &derived = {});

  static constexpr size_t kMaxKernels = 64;
  /// What a thread has found for its last call.
  struct State {
    Terms::State terms;
    uint64_t known = 0, holding = 0; ///< bit a condition; those beyond the 64th are worked out anew
    bool hasOpen = false;            ///< `open` is there
    uint64_t stayed = 0;             ///< what `known` had of conditions that stay when it was found
    uint64_t open = 0;               ///< bit a kernel: nothing that is known to stay makes its guard false
  };

  /// False where the op has more than a state has room for.
  bool fit() const { return terms.fit() && kernels.size() <= kMaxKernels; }
  /// For the next call, as Terms::begin.
  void begin(State &state, const Values &values, bool alike) const;
  /// As evaluating the whole guard: what cannot be worked out is false.
  bool hold(size_t kernel, State &state) const;
  /// Bit a kernel, of those whose guards may hold; of a call that is like the state's last one.
  uint64_t open(State &state) const;
  /// The derived parameters, kRunTime for the tuned ones; false where one cannot be worked out.
  bool derive(size_t kernel, State &state, int64_t *derived) const;
  bool varyByOneDim() const { return terms.varyByOneDim(); }
  /// Whether all that has been worked out of guards for this call, and what the kernels of these bits derive, surely stays as it is while the dim that varies, and
  /// nothing else does, is anything from `low` to `high`.
  bool stay(const State &state, uint64_t deriving, int64_t low, int64_t high) const;
  /// Whether some parameter of the kernel follows from what varies.
  bool derivedVaries(size_t kernel) const { return kernels[kernel].derivedVaries; }
  /// Distinct conditions, for tests.
  size_t numConditions() const { return conditions.size(); }

private:
  struct Condition {
    Terms::Code source;
    size_t term;
  };
  void findOpen(State &state) const;
  static constexpr size_t kTuned = ~size_t(0);
  struct Kernel {
    std::vector<uint32_t> conditions; ///< numbers, in the guard's order
    uint64_t mask = 0;                ///< the same as bits
    std::vector<size_t> derived;      ///< terms, or kTuned
    bool derivedVaries = false;
  };

  Terms terms;
  std::vector<Condition> conditions;
  uint64_t staying = 0; ///< bit a condition that does not vary
  std::vector<Kernel> kernels;
};

inline bool Guards::hold(size_t number, State &state) const {
  const Kernel &kernel = kernels[number];
  if (kernel.mask & state.known & ~state.holding)
    return false;
  for (uint32_t condition : kernel.conditions) {
    uint64_t bit = condition < 64 ? uint64_t(1) << condition : 0;
    if (state.known & bit)
      continue;
    int64_t value = 0;
    bool holds = terms.value(conditions[condition].term, state.terms, &value) && value;
    state.known |= bit;
    state.holding |= holds ? bit : 0;
    if (!holds)
      return false;
  }
  return true;
}

inline uint64_t Guards::open(State &state) const {
  if (!state.hasOpen || state.stayed != (state.known & staying)) [[unlikely]]
    findOpen(state);
  return state.open;
}

} // namespace tilegym::runtime
