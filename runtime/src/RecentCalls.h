// SPDX-License-Identifier: MIT
// What a thread keeps of its last calls, an op each: the call as it was bound, and the variant that it took.
#pragma once
#include "RepeatedLaunch.h"
#include <optional>

namespace tilegym::runtime {

/// The arguments it points to are gone; only what Call::isAgain reads still holds.
class RecentCall {
public:
  static constexpr size_t kSlots = 64;
  /// This thread's last call of an op of the package with this number; empty for the first one. Allocates at most once for each of `kSlots` a thread, which
  /// ops beyond those share.
  static RecentCall &of(uint64_t package, const Table &table, const format::Op &op);

  /// Binds to the arguments, from the last call's where they are like those.
  TilegymStatus bind(const void *const *args);
  /// The call's variant, from the last one's where they are alike.
  TilegymStatus choose(ChoiceCache &choices, const Device &device, Choice *choice);
  /// What to launch it with, where it and the one before it were like the last one and took its variant; else null.
  RepeatedLaunch *repeated() { return repeats > 1 ? &launch : nullptr; }

  Call &call() { return *bound; }

private:
  static RecentCall &take(size_t slot);

  uint64_t package = 0;
  const format::Op *op = nullptr;
  std::optional<Call> bound;
  MadeChoice made;
  uint32_t repeats = 0; ///< calls in a row that took the variant of the one before them
  RepeatedLaunch launch;
  bool isAgain = false;
};

} // namespace tilegym::runtime
