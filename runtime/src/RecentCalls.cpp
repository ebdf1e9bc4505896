// SPDX-License-Identifier: MIT
// A thread's last calls. A plain table of pointers is found by one addition; what frees it when the thread ends is touched only when it grows.
#include "RecentCalls.h"
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
    recent.made.device = -1;
    recent.made.guards.terms.of = nullptr;
  }
  return recent;
}

TilegymStatus RecentCall::bind(const void *const *args) {
  isAgain = bound->isAgain(args);
  if (isAgain)
    return bound->bindAgain(args);
  made.device = -1; // whether or not this call is ever chosen for
  bound.emplace(bound->table, bound->op);
  return bound->bind(args, /*forShape=*/false);
}

TilegymStatus RecentCall::choose(ChoiceCache &choices, const Device &device, Choice *choice) {
  TilegymStatus status = choices.choose(*bound, device, isAgain, made, choice);
  if (status != TILEGYM_OK || !made.isTaken) {
    repeats = 0;
    launch.drop();
  } else if (repeats < 2) {
    ++repeats;
  }
  return status;
}

} // namespace tilegym::runtime
