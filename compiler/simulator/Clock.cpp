// SPDX-License-Identifier: MIT
// Joins of vector clocks.
#include "compiler/simulator/Clock.h"
#include "compiler/simulator/Thread.h"
#include <algorithm>

namespace tilegym::sim {
namespace {

using Counts = std::vector<uint32_t>;

bool covers(const Counts &a, const Counts &b) {
  for (size_t i = 0; i < b.size(); ++i)
    if (b[i] > (i < a.size() ? a[i] : 0))
      return false;
  return true;
}

std::shared_ptr<const Counts> join(const std::shared_ptr<const Counts> &a,
                                   const std::shared_ptr<const Counts> &b) {
  if (a == b || covers(*a, *b))
    return a;
  if (covers(*b, *a))
    return b;
  auto joined = std::make_shared<Counts>(std::max(a->size(), b->size()));
  std::copy(a->begin(), a->end(), joined->begin());
  for (size_t i = 0; i < b->size(); ++i)
    (*joined)[i] = std::max((*joined)[i], (*b)[i]);
  return joined;
}

auto findPart(const std::vector<Snapshot::Part> &parts, uint32_t block) {
  return std::lower_bound(parts.begin(), parts.end(), block,
                          [](const Snapshot::Part &part, uint32_t wanted) { return part.block < wanted; });
}

} // namespace

bool Snapshot::covers(Epoch epoch) const {
  auto part = findPart(parts, epoch.block());
  return part != parts.end() && part->block == epoch.block() && epoch.index() < part->counts->size() &&
         (*part->counts)[epoch.index()] >= epoch.count();
}

bool Snapshot::covers(const Snapshot &other) const {
  for (const Part &theirs : other.parts) {
    auto mine = findPart(parts, theirs.block);
    if (mine == parts.end() || mine->block != theirs.block)
      return false;
    if (mine->counts != theirs.counts && !sim::covers(*mine->counts, *theirs.counts))
      return false;
  }
  return true;
}

Known join(const Known &a, const Known &b) {
  if (!b || a == b || (a && a->covers(*b)))
    return a;
  if (!a || b->covers(*a))
    return b;
  auto joined = std::make_shared<Snapshot>();
  auto x = a->parts.begin(), y = b->parts.begin();
  while (x != a->parts.end() || y != b->parts.end()) {
    if (y == b->parts.end() || (x != a->parts.end() && x->block < y->block)) {
      joined->parts.push_back(*x++);
    } else if (x == a->parts.end() || y->block < x->block) {
      joined->parts.push_back(*y++);
    } else {
      joined->parts.push_back({x->block, join(x->counts, y->counts)});
      ++x, ++y;
    }
  }
  return joined;
}

void Clock::acquire(const Known &more) { others = join(others, more); }

constexpr size_t maxFresh = 4096;

void Released::add(const Clock &clock) {
  add(clock.known());
  if (clock.epoch().count()) {
    fresh.push_back(clock.epoch());
    handedTo.reset();
    if (fresh.size() == maxFresh) // a word that many release into and nobody acquires
      settle();
  }
}

void Released::add(const Known &more) {
  base = join(base, more);
  handedTo.reset();
}

const Known &Released::settle() {
  std::erase_if(fresh, [&](Epoch epoch) { return base && base->covers(epoch); });
  if (fresh.empty())
    return base;
  auto byAgent = [](Epoch a, Epoch b) { return a.agent() < b.agent(); };
  if (!std::is_sorted(fresh.begin(), fresh.end(), byAgent))
    std::sort(fresh.begin(), fresh.end(), byAgent);
  auto added = std::make_shared<Snapshot>();
  for (size_t i = 0; i < fresh.size();) {
    uint32_t block = fresh[i].block();
    size_t end = i;
    while (end < fresh.size() && fresh[end].block() == block)
      ++end;
    auto counts = std::make_shared<Counts>();
    if (base)
      if (auto part = findPart(base->parts, block); part != base->parts.end() && part->block == block)
        *counts = *part->counts;
    counts->resize(std::max<size_t>(counts->size(), fresh[end - 1].index() + 1));
    for (; i < end; ++i)
      (*counts)[fresh[i].index()] = std::max((*counts)[fresh[i].index()], fresh[i].count());
    added->parts.push_back({block, std::move(counts)});
  }
  fresh.clear();
  base = join(base, added);
  return base;
}

void Released::handTo(Clock &clock) {
  settle();
  if (!handedTo || handedFrom != clock.known()) {
    handedFrom = clock.known();
    handedTo = join(handedFrom, base);
  }
  clock.setKnown(handedTo);
}

void Released::clear() {
  handedFrom.reset();
  handedTo.reset();
  base.reset();
  fresh.clear();
}

void SyncClock::release(Agent &agent) {
  order.add(agent.clock);
  for (size_t space = 0; space < 2; ++space)
    visible[space].add(agent.visible[space]);
  agent.clock.tick();
}

void SyncClock::acquire(Agent &agent) {
  order.handTo(agent.clock);
  for (size_t space = 0; space < 2; ++space)
    visible[space].handTo(agent.visible[space]);
}

void SyncClock::merge(SyncClock &other) {
  order.add(other.order.settle());
  for (size_t space = 0; space < 2; ++space)
    visible[space].add(other.visible[space].settle());
}

void SyncClock::clear() {
  order.clear();
  for (Released &released : visible)
    released.clear();
}

void fenceProxyAsync(Agent &agent, bool shared, bool global) {
  for (ProxyMemory space : {ProxyMemory::Shared, ProxyMemory::Global}) {
    if (!(space == ProxyMemory::Shared ? shared : global))
      continue;
    Clock &visible = agent.visible[size_t(space)];
    visible.acquire(agent.clock.known());
    visible.setOwn(agent.clock.epoch());
  }
  agent.clock.tick();
}

} // namespace tilegym::sim
