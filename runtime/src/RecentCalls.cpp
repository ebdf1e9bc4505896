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

/// Which kernels' guards hold, up to the one that was chosen; none where they do not vary.
uint64_t RecentCall::guardsNow(const Choice &of) const {
  uint64_t holding = 0;
  if (!bound->plan.onlyGuardsVary)
    return holding;
  std::span<const format::Kernel> kernels = bound->table.get<format::Kernel>(bound->op.kernels);
  Values values = bound->values();
  for (uint32_t k = 0; k <= of.variant->kernel; ++k)
    holding |= uint64_t(guardHolds(*bound, kernels[k], values)) << k;
  return holding;
}

bool RecentCall::chosen(const Device &current, Choice *answer) const {
  if (!isAgain || device != &current || !bound->fastBase || facts != factsNow() ||
      guards != guardsNow(choice))
    return false;
  *answer = choice;
  return true;
}

void RecentCall::keep(const Device &current, const Choice &made) {
  // Offsets that no longer fit are a fact of the rows: only calls where they do are kept.
  const OpPlan &plan = bound->plan;
  bool lasts = bound->fastBase && (!plan.choiceVaries || plan.onlyGuardsVary) && bound->factWords() == 1 &&
               made.variant->kernel < 64;
  device = lasts ? &current : nullptr;
  facts = factsNow();
  choice = made;
  guards = lasts ? guardsNow(made) : 0;
}

} // namespace tilegym::runtime
