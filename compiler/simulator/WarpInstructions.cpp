// SPDX-License-Identifier: MIT
// What a warp's lanes do together: shuffle, vote, match, redux, elect, and the warp's barrier. Only the last orders memory.
#include "compiler/simulator/Collective.h"
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/Machine.h"
#include <algorithm>
#include <bit>

namespace tilegym::sim {
namespace {

constexpr uint32_t allLanes = ~0u;

template <class Visit> void eachLane(const Meeting &meeting, Visit visit) {
  for (uint32_t lanes = meeting.expected[0]; lanes; lanes &= lanes - 1)
    visit(unsigned(std::countr_zero(lanes)));
}

enum class Shuffle { Xor, Up, Down, Index };

int sourceLane(Shuffle kind, int lane, int operand) {
  switch (kind) {
  case Shuffle::Xor:
    return lane ^ operand;
  case Shuffle::Up:
    return lane - operand;
  case Shuffle::Down:
    return lane + operand;
  case Shuffle::Index:
    return operand;
  }
  return lane;
}

/// value, lane
void exchange(Meeting &meeting) {
  auto kind = Shuffle(meeting.site->attributes[0]);
  eachLane(meeting, [&](unsigned lane) {
    int from = sourceLane(kind, int(lane), int(meeting.operands[lane][1] & 31));
    if (from < 0 || from > 31)
      from = int(lane);
    if (!meeting.operands[size_t(from)]) {
      Thread &thread = *meeting.threads[lane];
      thread.machine->report(fault(FindingKind::Divergence, thread, meeting.site,
                                   "takes the value of lane " + std::to_string(from) +
                                       ", which its warp does not have; the result is undefined"));
      from = int(lane);
    }
    // Some lane may read this one's operand later: the results lie elsewhere.
    meeting.results[lane][0] = meeting.operands[size_t(from)][0];
  });
}

void shuffle(const uint64_t *operands, uint64_t *results, const Site *site) {
  meetWarp(allLanes, operands, results, site, exchange);
}

enum class Vote { Any, All, Uniform, Ballot };

void countVotes(Meeting &meeting) {
  uint32_t ballot = 0, all = meeting.expected[0], result = 0;
  eachLane(meeting, [&](unsigned lane) { ballot |= uint32_t(meeting.operands[lane][0] & 1) << lane; });
  switch (Vote(meeting.site->attributes[0])) {
  case Vote::Any:
    result = ballot != 0;
    break;
  case Vote::All:
    result = ballot == all;
    break;
  case Vote::Uniform:
    result = ballot == 0 || ballot == all;
    break;
  case Vote::Ballot:
    result = ballot;
    break;
  }
  eachLane(meeting, [&](unsigned lane) { meeting.results[lane][0] = result; });
}

void vote(const uint64_t *operands, uint64_t *results, const Site *site) {
  meetWarp(allLanes, operands, results, site, countVotes);
}

enum class Match { Any, All };

void compare(Meeting &meeting) {
  bool isAll = Match(meeting.site->attributes[0]) == Match::All;
  eachLane(meeting, [&](unsigned lane) {
    uint32_t same = 0;
    eachLane(meeting, [&](unsigned other) {
      same |= uint32_t(meeting.operands[lane][0] == meeting.operands[other][0]) << other;
    });
    meeting.results[lane][0] = isAll && same != meeting.expected[0] ? 0 : same;
  });
}

void match(const uint64_t *operands, uint64_t *results, const Site *site) {
  meetWarp(allLanes, operands, results, site, compare);
}

enum class Redux { Add, MinS, MaxS, MinU, MaxU, And, Or, Xor };

uint32_t reduceWords(Redux kind, uint32_t a, uint32_t b) {
  switch (kind) {
  case Redux::Add:
    return a + b;
  case Redux::MinS:
    return int32_t(a) < int32_t(b) ? a : b;
  case Redux::MaxS:
    return int32_t(a) < int32_t(b) ? b : a;
  case Redux::MinU:
    return std::min(a, b);
  case Redux::MaxU:
    return std::max(a, b);
  case Redux::And:
    return a & b;
  case Redux::Or:
    return a | b;
  case Redux::Xor:
    return a ^ b;
  }
  return a;
}

void combineWarp(Meeting &meeting) {
  auto kind = Redux(meeting.site->attributes[0]);
  uint32_t total = 0;
  bool isFirst = true;
  eachLane(meeting, [&](unsigned lane) {
    auto value = uint32_t(meeting.operands[lane][0]);
    total = isFirst ? value : reduceWords(kind, total, value);
    isFirst = false;
  });
  eachLane(meeting, [&](unsigned lane) { meeting.results[lane][0] = total; });
}

void redux(const uint64_t *operands, uint64_t *results, const Site *site) {
  meetWarp(allLanes, operands, results, site, combineWarp);
}

/// Any lane may be the one, so that nothing relies on which it is; then it stays so.
struct Elected {
  uint32_t lane = 32;
};

void chooseLane(Meeting &meeting) {
  uint32_t &chosen = meeting.warp->family.get<Elected>().lane;
  while (chosen == 32 || !(meeting.expected[0] >> chosen & 1))
    chosen = uint32_t(meeting.warp->block->machine->random(32));
  eachLane(meeting, [&](unsigned lane) { meeting.results[lane][0] = lane == chosen; });
}

void elect(const uint64_t *operands, uint64_t *results, const Site *site) {
  meetWarp(allLanes, operands, results, site, chooseLane);
}

void orderWarp(Meeting &meeting) {
  SyncClock clock;
  eachLane(meeting, [&](unsigned lane) { clock.release(*meeting.threads[lane]); });
  eachLane(meeting, [&](unsigned lane) { clock.acquire(*meeting.threads[lane]); });
}

void warpBarrier(const uint64_t *operands, uint64_t *results, const Site *site) {
  meetWarp(allLanes, operands, results, site, orderWarp);
}

constexpr Row rows[] = {{"shuffle", shuffle}, {"vote", vote},   {"match", match},
                        {"redux", redux},     {"elect", elect}, {"warp_barrier", warpBarrier}};

} // namespace

std::span<const Row> warpInstructions() { return rows; }

} // namespace tilegym::sim
