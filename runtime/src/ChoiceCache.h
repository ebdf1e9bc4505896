// SPDX-License-Identifier: MIT
// Answers of `choose`, kept with the package by a key that is bounded by what was compiled and not by what is called: dtypes, which optional tensors
// are there, which compiled value each const, const dim and derived parameter has, which sets of facts hold. Never a run-time dim or a pointer.
#pragma once
#include "Driver.h"
#include "Guards.h"
#include "VariantChoice.h"
#include <array>
#include <atomic>
#include <vector>

namespace tilegym::runtime {

/// What may differ between calls of an op that are alike.
Terms::Varying varyingOf(const Table &table, const format::Op &op);

/// What a thread keeps of its last call's choice.
struct MadeChoice {
  static constexpr size_t kMaxDerived = 8;
  Choice choice;            ///< no variant: there is none to take again
  int device = -1;          ///< of which `guards` are; -1: of none
  bool isTaken = false;     ///< this call has taken it again
  int64_t rows = 0;         ///< of the last call whose guards were looked at
  int64_t from = 1, to = 0; ///< how many rows calls that are alike may have that surely take the choice, too
  uint64_t facts = 0;       ///< of the first eight tensors; calls of ops with more are chosen for anew
  uint64_t holding = 0;     ///< bit a kernel up to the chosen one: its guard holds
  int64_t derived[kMaxDerived];
  Guards::State guards;
};

/// Of one op. Readers take no lock: an entry never changes once it is published, and none goes away before the package. A full cache
/// only means that the answer is worked out again.
class ChoiceCache {
public:
  ChoiceCache(const Table &table, const format::Op &op);
  ~ChoiceCache();
  /// As `choose`, in a fraction of its time once it has seen the like.
  TilegymStatus choose(const Call &call, int arch, const char *deviceName, Choice *choice);
  /// The same for a thread's next call. `alike`: it was bound from its last one (Call::isAgain). What made the last choice is looked at first; where that is as it
  /// was, so is the choice.
  TilegymStatus choose(const Call &call, const Device &device, bool alike, MadeChoice &last, Choice *choice);
  /// Entries held, for tests.
  size_t size() const;
  static constexpr size_t kSlots = 256;

private:
  static constexpr size_t kKeyWords = 16, kProbes = 8;
  struct Key {
    uint64_t words[kKeyWords];
  };
  struct Entry {
    Key key;
    Choice choice; ///< no variant: the kernel has none for this key
  };
  /// A number that variants fix, and the values that they fix it to.
  struct Fixed {
    uint32_t id;
    std::vector<int64_t> values;
    uint8_t indexOf(int64_t value) const;
  };
  bool isTheLast(MadeChoice &last) const;
  void widen(int64_t rows, MadeChoice &last) const;
  bool noteDerived(size_t kernel, const int64_t *derived, MadeChoice &last, size_t *count) const;
  TilegymStatus chooseNow(const Call &call, int arch, const char *deviceName, MadeChoice &last,
                          Choice *choice);
  bool commonKey(const Call &call, int arch, Key &key) const;
  Choice cached(const Call &call, uint32_t kernel, const int64_t *derived, int arch, const Key &key,
                size_t words);
  Choice found(const Call &call, uint32_t kernel, const int64_t *derived, int arch, const Key &key,
               size_t first);

  Guards guards;
  std::vector<Fixed> consts, constDims;
  std::vector<std::vector<Fixed>> derivedOf; ///< by kernel
  std::vector<uint64_t> factSets; ///< what each asks of the tensors: as many words as Call::facts has
  size_t numFactSets = 0, commonWords = 0;
  bool usable = true; ///< false: the op has more of something than a key has room for
  bool lasts =
      true; ///< whether a choice follows from nothing but facts, guards and derived parameters while calls are alike
  std::array<std::atomic<const Entry *>, kSlots> slots{};
};

} // namespace tilegym::runtime
