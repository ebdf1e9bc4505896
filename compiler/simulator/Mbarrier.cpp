// SPDX-License-Identifier: MIT
// What mbarriers do, and how they are misused.
#include "compiler/simulator/Mbarrier.h"

#include "compiler/simulator/ExitChecks.h"
#include "compiler/simulator/Handover.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tilegym::sim {

namespace {

struct MbarrierTable {
  std::map<uint64_t, Mbarrier> barriers;
  uint64_t made = 0;
};
std::map<uint64_t, Mbarrier> &table(Block &block) { return block.family.get<MbarrierTable>().barriers; }

/// Names an mbarrier for good: another may be made at its address.
using Key = std::pair<uint64_t, uint64_t>;
Key keyOf(const Mbarrier &barrier) { return {barrier.address, barrier.generation}; }

/// What a thread knows of mbarriers by itself.
struct MbarrierMemory {
  std::map<Key, int64_t> seen;  ///< latest phase that it saw complete
  std::vector<Key> unpublished; ///< initialised, not fenced
};
MbarrierMemory &memoryOf(Thread &thread) { return thread.family.get<MbarrierMemory>(); }

constexpr uint64_t tag = 0x6D62617272696572; // what the 8 bytes hold while an mbarrier is there

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}
std::string at(uint64_t address) { return "mbarrier at " + hex(address); }

void misuse(Agent &agent, const Site *site, std::string text) {
  agent.machine->report(fault(FindingKind::MbarrierMisuse, agent, site, std::move(text)));
}
[[noreturn]] void fatal(Agent &agent, const Site *site, std::string text) {
  agent.machine->stop(fault(FindingKind::MbarrierMisuse, agent, site, std::move(text)));
}

void completePhase(Mbarrier &barrier) {
  ++barrier.phase;
  barrier.pending = barrier.expected;
  barrier.completed.clear();
  barrier.completed.merge(barrier.current);
  barrier.current.clear();
  Mbarrier::History &next = barrier.history[barrier.phase % Mbarrier::kept];
  next.arrivals.clear();
  next.witnesses.clear();
  barrier.waiting.wakeAll();
  barrier.block->machine->progress();
}

void completeIfDone(Mbarrier &barrier) {
  if (barrier.pending == 0 && barrier.transactions == 0)
    completePhase(barrier);
}

void noteArrival(Agent &agent, Mbarrier &barrier, const Site *site) {
  barrier.history[barrier.phase % Mbarrier::kept].arrivals.push_back(agent.clock.epoch());
  if (agent.block != barrier.block) {
    barrier.latestRemote = int64_t(barrier.phase);
    barrier.remoteSite = site;
  }
}

void countArrivals(Agent &agent, Mbarrier &barrier, uint32_t count, const Site *site) {
  if (count > barrier.pending)
    fatal(agent, site,
          "counts " + std::to_string(count) + " arrivals at the " + barrier.describe() +
              ", which expects only " + std::to_string(barrier.pending) + " more in this phase");
  barrier.pending -= count;
}

void addTransactions(Agent &agent, Mbarrier &barrier, int64_t bytes, const Site *site) {
  barrier.transactions += bytes;
  if (std::abs(barrier.transactions) > int64_t(Mbarrier::maxCount))
    fatal(agent, site,
          "takes the byte count of the " + at(barrier.address) + " to " +
              std::to_string(barrier.transactions) + "; it holds at most " +
              std::to_string(Mbarrier::maxCount));
}

/// Another block's arrival must come before this one ends only as far as somebody here waits for it, which the phases tell.
void checkUse(Thread &thread, const Mbarrier &barrier, const Site *site) {
  if (thread.block == barrier.block)
    return thread.machine->access(thread, barrier.address, 8, Touch::Update, 8, site);
  if (!thread.clock.covers(barrier.initialised))
    misuse(thread, site,
           "uses the " + at(barrier.address) + " of another block, whose initialisation (" +
               place(barrier.initSite) +
               ") nothing orders before: fence_mbarrier_init and the cluster's barrier must come between");
}

bool knows(Thread &thread, const Mbarrier &barrier, int64_t phase) {
  const Mbarrier::History &history = barrier.history[uint64_t(phase) % Mbarrier::kept];
  auto covered = [&](Epoch epoch) { return thread.clock.covers(epoch); };
  return std::any_of(history.witnesses.begin(), history.witnesses.end(), covered) ||
         (!history.arrivals.empty() &&
          std::all_of(history.arrivals.begin(), history.arrivals.end(), covered));
}

/// The latest phase that the thread knows to be complete, -1 for none. Phases that it cannot know of are not looked for further back than kept.
int64_t latestKnown(Thread &thread, const Mbarrier &barrier) {
  auto &seen = memoryOf(thread).seen;
  auto own = seen.find(keyOf(barrier));
  int64_t known = own == seen.end() ? -1 : own->second;
  auto current = int64_t(barrier.phase);
  for (int64_t phase = current - 1; phase > known && phase > current - int64_t(Mbarrier::kept); --phase)
    if (knows(thread, barrier, phase))
      return phase;
  return known;
}

void witness(Thread &thread, Mbarrier &barrier, int64_t phase) {
  auto [seen, isFirst] = memoryOf(thread).seen.try_emplace(keyOf(barrier), phase);
  if (!isFirst && seen->second >= phase)
    return;
  seen->second = phase;
  if (phase >= 0 && phase + int64_t(Mbarrier::kept) > int64_t(barrier.phase))
    barrier.history[uint64_t(phase) % Mbarrier::kept].witnesses.push_back(thread.clock.epoch());
  if (thread.block == barrier.block)
    barrier.seenByOwner = std::max(barrier.seenByOwner, phase);
}

std::string describeWait(const void *object, uint64_t phase) {
  return "phase " + std::to_string(phase) + " of the " + static_cast<const Mbarrier *>(object)->describe();
}

/// A wait names a phase by its parity only: with two more complete than the waiter thinks it would wait for, or find, another one.
void reportSlip(Thread &thread, const Mbarrier &barrier, int64_t phase, const Site *site) {
  misuse(thread, site,
         "waits for " + (phase < 0 ? "the phase before the first" : "phase " + std::to_string(phase)) +
             " of the " + barrier.describe() + ", but phase " + std::to_string(phase + 1) +
             " is already complete as well: nothing keeps the barrier from running ahead of this wait");
}

} // namespace

std::string Mbarrier::describe() const {
  std::string text = at(address) + " (phase " + std::to_string(phase) + ", parity " +
                     std::to_string(phase & 1) + ": " +
                     std::to_string(expected - std::min(pending, expected)) + " of " +
                     std::to_string(expected) + " arrivals";
  if (transactions)
    text += ", " + std::to_string(transactions) + " bytes to come";
  return text + ")";
}

Mbarrier &initMbarrier(Thread &thread, uint64_t address, uint32_t count, const Site *site) {
  if (count == 0 || count > Mbarrier::maxCount)
    fatal(thread, site,
          "initialises an mbarrier for " + std::to_string(count) + " arrivals; 1 to " +
              std::to_string(Mbarrier::maxCount) + " are allowed");
  thread.machine->access(thread, address, 8, Touch::Write, 8, site);
  Block *owner = thread.machine->windowOwner(address);
  if (!owner)
    fatal(thread, site, "initialises an mbarrier at " + hex(address) + ", which is no shared memory");
  auto [place, fresh] = table(*owner).try_emplace(address);
  Mbarrier &barrier = place->second;
  if (!fresh) {
    misuse(thread, site,
           "initialises the " + barrier.describe() + " again; mbarrier_inval must end the first one");
    barrier.waiting.wakeAll();
    table(*owner).erase(place);
    return initMbarrier(thread, address, count, site);
  }
  barrier.address = address;
  barrier.block = owner;
  barrier.generation = ++owner->family.get<MbarrierTable>().made;
  barrier.expected = barrier.pending = count;
  barrier.initSite = site;
  barrier.initialised = thread.clock.epoch();
  memoryOf(thread).unpublished.push_back(keyOf(barrier));
  std::memcpy(reinterpret_cast<void *>(address), &tag, sizeof tag);
  return barrier;
}

void invalidateMbarrier(Thread &thread, uint64_t address, const Site *site) {
  Mbarrier &barrier = findMbarrier(thread, address, site);
  if (!barrier.waiting.empty())
    fatal(thread, site, "ends the " + barrier.describe() + ", at which threads wait");
  if (barrier.transactions)
    misuse(thread, site, "ends the " + barrier.describe() + " before the bytes have come");
  thread.machine->access(thread, address, 8, Touch::Write, 8, site);
  std::memset(reinterpret_cast<void *>(address), poisonByte, 8);
  table(*barrier.block).erase(address);
}

Mbarrier &findMbarrier(Agent &agent, uint64_t address, const Site *site) {
  Block *owner = agent.machine->windowOwner(address);
  if (!owner)
    fatal(agent, site,
          "uses an mbarrier at " + hex(address) + ", which is no shared memory of a running block");
  auto place = table(*owner).find(address);
  if (place == table(*owner).end())
    fatal(agent, site, "uses the " + at(address) + ", which is not initialised");
  uint64_t found;
  std::memcpy(&found, reinterpret_cast<const void *>(address), sizeof found);
  if (found != tag)
    fatal(agent, site,
          "uses the " + at(address) +
              ", whose memory something else has overwritten; mbarrier_inval must end it first");
  return place->second;
}

uint64_t arriveAtMbarrier(Thread &thread, uint64_t address, uint32_t count, uint32_t bytes,
                          MbarrierOrder order, const Site *site) {
  Mbarrier &barrier = findMbarrier(thread, address, site);
  checkUse(thread, barrier, site);
  uint64_t state = barrier.phase;
  addTransactions(thread, barrier, bytes, site);
  if (count) {
    countArrivals(thread, barrier, count, site);
    noteArrival(thread, barrier, site);
    // A release at block scope orders nothing for another block's threads.
    bool releases = !order.relaxed && (order.clusterScope || thread.block == barrier.block);
    if (releases) {
      barrier.current.release(thread);
    } else {
      SyncClock handed = handover(thread);
      barrier.current.merge(handed);
    }
  }
  completeIfDone(barrier);
  return state;
}

void completeTransactions(Agent &agent, uint64_t address, uint32_t bytes, const Site *site) {
  Mbarrier &barrier = findMbarrier(agent, address, site);
  if (agent.asyncProxy && !barrier.published)
    misuse(agent, site,
           "signals the " + at(address) + ", whose initialisation (" + place(barrier.initSite) +
               ") was not handed to copies: fence_mbarrier_init must follow it");
  addTransactions(agent, barrier, -int64_t(bytes), site);
  noteArrival(agent, barrier, site);
  barrier.current.release(agent);
  completeIfDone(barrier);
}

void arriveFor(Agent &agent, Mbarrier &barrier, uint32_t count, const Site *site) {
  countArrivals(agent, barrier, count, site);
  noteArrival(agent, barrier, site);
  barrier.current.release(agent);
  completeIfDone(barrier);
}

void expectOneMore(Thread &thread, uint64_t address, const Site *site) {
  Mbarrier &barrier = findMbarrier(thread, address, site);
  if (barrier.pending == Mbarrier::maxCount)
    fatal(thread, site,
          "expects one more arrival at the " + barrier.describe() + ", which can count no more");
  ++barrier.pending;
}

bool testMbarrier(Thread &thread, uint64_t address, PhaseName name, bool suspends, MbarrierOrder order,
                  const Site *site) {
  Machine &machine = *thread.machine;
  Mbarrier &barrier = findMbarrier(thread, address, site);
  machine.access(thread, address, 8, Touch::AtomicRead, 8, site);
  if (!name.isState && name.value > 1)
    machine.stop(
        fault(FindingKind::BadOperand, thread, site,
              "waits for a phase of parity " + std::to_string(name.value) + "; parities are 0 and 1"));
  int64_t known = latestKnown(thread, barrier);
  int64_t wanted = known; // where the parity is that of the phase known to be complete
  if (name.isState)
    wanted = int64_t(name.value);
  else if ((known & 1) != int64_t(name.value & 1))
    wanted = known + 1;
  while (int64_t(barrier.phase) <= wanted) {
    // The hardware's wait has a time limit: a loop around it must bear that.
    if (!suspends || machine.random(4) == 0) {
      yield();
      return false;
    }
    Key key = keyOf(barrier);
    barrier.waiting.wait({site, describeWait, &barrier, uint64_t(wanted)});
    if (keyOf(findMbarrier(thread, address, site)) != key)
      return false;
  }
  if (int64_t(barrier.phase) > wanted + 1)
    reportSlip(thread, barrier, wanted, site);
  if (!order.relaxed)
    barrier.completed.acquire(thread);
  witness(thread, barrier, wanted);
  // Who asks for what it knows may do so for ever.
  if (wanted == known)
    yield();
  return true;
}

void publishMbarriers(Thread &thread) {
  auto &unpublished = memoryOf(thread).unpublished;
  if (unpublished.empty())
    return;
  for (auto [address, generation] : unpublished)
    if (Block *owner = thread.machine->windowOwner(address))
      if (auto place = table(*owner).find(address);
          place != table(*owner).end() && place->second.generation == generation)
        place->second.published = true;
  unpublished.clear();
  handover(thread).release(thread);
}

void checkMbarriersAtExit(Block &block) {
  for (auto &[address, barrier] : table(block)) {
    Thread &witness = block.threads[0];
    if (barrier.transactions)
      misuse(witness, barrier.initSite,
             "ends with the " + barrier.describe() + ": the bytes announced and the bytes copied differ");
    if (barrier.latestRemote > barrier.seenByOwner)
      block.machine->report(fault(FindingKind::PendingAtExit, witness, barrier.remoteSite,
                                  "ends although another block arrives at its " + barrier.describe() +
                                      " in phase " + std::to_string(barrier.latestRemote) +
                                      ", which nobody here waits for: its memory may be gone by then"));
  }
}

} // namespace tilegym::sim
