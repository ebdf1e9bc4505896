// SPDX-License-Identifier: MIT
// A package's small expressions as straight-line code over a row of values, for calls that follow one another. What cannot change between a thread's calls that are
// alike (Call::isAgain) is worked out once for them; what the rows and the scalars decide is all that is left for each call.
#pragma once
#include "Postfix.h"
#include <vector>

namespace tilegym::runtime {

class Terms {
public:
  /// What may differ between calls that are alike: bit a dim, bit a scalar.
  struct Varying {
    uint64_t dims = 0, scalars = 0;
  };
  explicit Terms(Varying varying) : varying(varying) {}

  using Code = std::span<const format::Inst>;
  /// Takes an expression; gives its number.
  size_t add(Code code);

  static constexpr size_t kMaxValues = 320, kMaxTerms = 160;
  /// What a thread has worked out for its last call. Only what the op uses is ever written.
  struct State {
    const Terms *of = nullptr; ///< whose constants are in place
    Cell values[kMaxValues];
    uint8_t done[kMaxTerms]; ///< of a term, what stays of it: whether it is there, or cannot be worked out
  };

  /// False where there is more than a state has room for.
  bool fit() const { return numValues < kMaxValues && terms.size() <= kMaxTerms; }
  bool varies(size_t term) const { return terms[term].varies; }
  /// For the next call. `alike`: it differs from the state's last one by what varies alone. False where it had to be taken for one that is not.
  bool begin(State &state, const Values &values, bool alike) const;
  /// Whether all that varies is one dim.
  bool varyByOneDim() const {
    return varyingInputs.size() == 1 && varyingInputs[0].inst.code == format::OpCode::PushDim;
  }
  /// Whether the term, which has been worked out, surely has one value while that dim is anything from `low` to `high`. No where it is hard to tell.
  bool stays(size_t number, const State &state, int64_t low, int64_t high) const;
  /// False where it cannot be worked out, nor what it is made of.
  bool value(size_t number, State &state, int64_t *result) const {
    const Term &term = terms[number];
    uint8_t done = state.done[number];
    if (done == kNotDone) [[unlikely]]
      done = state.done[number] = run(term.fixed, state) ? kDone : kFailed;
    bool works = done == kDone && run(term.varying, state);
    *result = state.values[term.place].i;
    return works;
  }

private:
  enum : uint8_t { kNotDone, kDone, kFailed };
  struct Step {
    format::OpCode code;
    uint16_t to, a, b, c; ///< places of values
    uint8_t shift;        ///< of a CDivI: b is 2 to this, a constant; 0 where it is none
  };
  /// The place of its value, the steps to what stays of it, and those behind them to what varies.
  struct Term {
    uint16_t place = 0;
    bool varies = false;
    std::vector<Step> fixed, varying;
  };
  struct Input {
    format::Inst inst;
    uint16_t place;
  };

  bool varies(const format::Inst &inst) const;
  uint16_t newPlace();
  uint16_t push(const format::Inst &inst);
  uint8_t shiftOf(uint16_t place) const;
  static void load(const std::vector<Input> &inputs, const Values &values, State &state);
  static bool run(const std::vector<Step> &steps, State &state) {
    bool works = true;
    for (const Step &step : steps)
      works &= run(step, state);
    return works;
  }
  static bool run(const Step &step, State &state);
  static bool runOther(const Step &step, State &state);

  Varying varying;
  size_t numValues = 0;
  std::vector<std::pair<uint16_t, int64_t>> constants;
  std::vector<Input> fixedInputs, varyingInputs;
  std::vector<Term> terms;
};

/// Here, as it is most of what a call spends on a guard. False where the value cannot be worked out.
inline bool Terms::run(const Step &step, State &state) {
  int64_t a = state.values[step.a].i, b = state.values[step.b].i, &r = state.values[step.to].i;
  switch (step.code) { // the most frequent ones
  case format::OpCode::AddI:
    return !__builtin_add_overflow(a, b, &r);
  case format::OpCode::MulI:
    return !__builtin_mul_overflow(a, b, &r);
  case format::OpCode::LtI:
    r = a < b;
    return true;
  case format::OpCode::LeI:
    r = a <= b;
    return true;
  case format::OpCode::GtI:
    r = a > b;
    return true;
  case format::OpCode::CDivI:
    if (step.shift && uint64_t(a) < uint64_t(1) << 62) { // a division takes as long as all else here
      r = (a + b - 1) >> step.shift;
      return true;
    }
    return runOther(step, state);
  default:
    return runOther(step, state);
  }
}

} // namespace tilegym::runtime
