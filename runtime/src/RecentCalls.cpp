// SPDX-License-Identifier: MIT
// A thread's last calls. A plain table of pointers is found by one addition; what frees it when the thread ends is touched only when it grows.
#include "RecentCalls.h"
#include <cstring>
#include <utility>

namespace tilegym::runtime {

static constinit thread_local RecentCall *slots[RecentCall::kSlots] = {};

RecentCall &RecentCall::take(size_t slot) {
  static thread_local struct Owner {
    ~Owner() {
      for (RecentCall *&recent : slots)
        delete std::exchange(recent, nullptr);
    }
  } owner;
  (void)owner;
  return *(slots[slot] = new RecentCall);
}

RecentCall &RecentCall::of(uint64_t package, const Table &table, const format::Op &op) {
  size_t slot = (size_t(&op - table.ops().data()) + package * 31) % kSlots;
  RecentCall &recent = slots[slot] ? *slots[slot] : take(slot);
  if (recent.package != package || recent.op != &op) {
    recent.bound.emplace(table, op);
    recent.package = package;
    recent.op = &op;
    recent.device = nullptr;
  }
  return recent;
}

TilegymStatus RecentCall::bind(const void *const *args) {
  isAgain = bound->isAgain(args);
  if (isAgain)
    return bound->bindAgain(args);
  bound.emplace(bound->table, bound->op);
  return bound->bind(args, /*forShape=*/false);
}

/// Facts of the first eight tensors; ops with more choose anew.
uint64_t RecentCall::factsNow() const {
  uint64_t now = 0;
  std::memcpy(&now, bound->facts, sizeof now);
  return now;
}

bool RecentCall::chosen(const Device &current, Choice *answer) const {
  if (!isAgain || device != &current || !bound->fastBase || facts != factsNow())
    return false;
  *answer = choice;
  return true;
}

void RecentCall::keep(const Device &current, const Choice &made) {
  // Offsets that no longer fit are a fact of the rows: only calls where they do are kept.
  bool lasts = bound->fastBase && !bound->plan.choiceVaries && bound->factWords() == 1;
  device = lasts ? &current : nullptr;
  facts = factsNow();
  choice = made;
}

} // namespace tilegym::runtime
