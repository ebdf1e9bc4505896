// SPDX-License-Identifier: MIT
// What a thread keeps of its last calls, an op each: the call as it was bound, and the variant that it took.
#pragma once
#include "Driver.h"
#include "VariantChoice.h"
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
  /// The variant of the last call, where that must be this one's, too.
  bool chosen(const Device &device, Choice *choice) const;
  void keep(const Device &device, const Choice &choice);

  Call &call() { return *bound; }

private:
  static RecentCall &take(size_t slot);
  uint64_t factsNow() const;
  uint64_t guardsNow(const Choice &of) const;

  uint64_t package = 0;
  const format::Op *op = nullptr;
  std::optional<Call> bound;
  const Device *device = nullptr; ///< on which `choice` was made; null: there is none to keep
  uint64_t facts = 0, guards = 0;
  Choice choice;
  bool isAgain = false;
};

} // namespace tilegym::runtime
