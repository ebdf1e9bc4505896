// SPDX-License-Identifier: MIT
// Lanes meet.
#include "compiler/simulator/Collective.h"
#include "compiler/simulator/Scheduler.h"
#include <bit>

namespace tilegym::sim {
namespace {

std::string describeMeeting(const void *object, uint64_t) {
  auto &meeting = *static_cast<const Meeting *>(object);
  return std::string(meeting.width == 32 ? "its warp" : "its warpgroup") + " at " + meeting.site->mnemonic +
         ", where only " + meeting.whoArrived() + " came";
}

// The texts of findings are made out of line: what a waiting fiber keeps on its stack is what each switch brings into the cache.

[[noreturn, gnu::noinline]] void diverged(const Meeting &meeting, const Thread &thread, const Site *site) {
  thread.machine->stop(fault(FindingKind::Divergence, thread, site,
                             std::string("comes to ") + site->mnemonic + " while " + meeting.whoArrived() +
                                 " wait for it at " + meeting.site->mnemonic + " (" + place(meeting.site) +
                                 ")"));
}

[[noreturn, gnu::noinline]] void missesExited(const Warp &warp, uint32_t lanes, const Thread &thread,
                                              const Site *site) {
  thread.machine->stop(fault(FindingKind::Divergence, thread, site,
                             std::string("comes to ") + site->mnemonic + ", where " +
                                 std::to_string(std::popcount(lanes)) + " lanes of warp " +
                                 std::to_string(warp.index) + " must take part that have exited"));
}

/// Stops where lanes of its own warp wait for this thread elsewhere. (Other warps of a warpgroup may be further on.)
void checkConverged(const Warp &warp, const Thread &thread, const Site *site, const Meeting *mine) {
  for (const auto &meeting : warp.meetings)
    if (meeting->site && meeting.get() != mine && meeting->expects(thread) &&
        meeting->arrived[thread.warp->index - warp.index]) [[unlikely]]
      diverged(*meeting, thread, site);
}

/// The meeting that this thread joins: one that waits for it at this site, or a new one. `mask` is that of each warp.
[[gnu::always_inline]] inline Meeting &join(const Thread &thread, Warp &leader, uint32_t width, uint32_t mask,
                                            const Site *site) {
  Meeting *mine = nullptr, *unused = nullptr;
  for (const auto &meeting : leader.meetings) {
    if (!meeting->site)
      unused = meeting.get();
    else if (meeting->site == site && meeting->width == width && meeting->expected[0] == mask &&
             meeting->expects(thread))
      mine = meeting.get();
  }
  checkConverged(leader, thread, site, mine);
  Warp &group = thread.block->warps[thread.warp->index & ~3u];
  if (Warp &other = width == 32 ? group : *thread.warp; &other != &leader)
    checkConverged(other, thread, site, mine);
  if (mine)
    return *mine;
  if (!unused)
    unused = leader.meetings.emplace_back(std::make_unique<Meeting>()).get();
  unused->site = site;
  unused->warp = &leader;
  unused->width = width;
  unused->arrived = unused->expected = {};
  unused->missing = 0;
  for (uint32_t i = 0; i < width / 32; ++i) {
    unused->expected[i] = mask;
    unused->missing += uint32_t(std::popcount(mask));
    const Warp &warp = thread.block->warps[leader.index + i];
    if (uint32_t gone = mask & warp.exited) [[unlikely]]
      missesExited(warp, gone, thread, site);
  }
  return *unused;
}

/// The last one computes, and lets the others go on.
[[gnu::noinline]] void complete(Meeting &meeting, const Thread &last, Compute compute) {
  for (uint32_t i = 0; i < meeting.width; ++i)
    if (!(meeting.expected[i / 32] >> i % 32 & 1)) {
      meeting.operands[i] = nullptr;
      meeting.results[i] = nullptr;
      meeting.threads[i] = nullptr;
    }
  compute(meeting);
  for (uint32_t i = 0; i < meeting.width; ++i)
    if (meeting.threads[i] && meeting.threads[i] != &last)
      wake(*meeting.threads[i]);
  meeting.site = nullptr;
  last.machine->progress();
}

[[gnu::always_inline]] inline void meet(Thread &thread, Warp &leader, uint32_t width, uint32_t mask,
                                        const uint64_t *operands, uint64_t *results, const Site *site,
                                        Compute compute) {
  Meeting &meeting = join(thread, leader, width, mask, site);
  uint32_t part = thread.warp->index - leader.index, place = part * 32 + thread.lane;
  meeting.arrived[part] |= 1u << thread.lane;
  meeting.operands[place] = operands;
  meeting.results[place] = results;
  meeting.threads[place] = &thread;
  if (--meeting.missing == 0)
    return complete(meeting, thread, compute);
  // suspend(), with nothing left to do after it: each return on a resumed fiber is one that the processor does not foresee.
  thread.reason = {.site = site, .describe = describeMeeting, .object = &meeting};
  thread.state = ThreadState::Waiting;
  thread.machine->scheduler().leave();
}

[[noreturn, gnu::noinline]] void badMask(const Thread &thread, const Site *site) {
  thread.machine->stop(
      fault(FindingKind::BadOperand, thread, site,
            std::string("carries out ") + site->mnemonic + " with a mask that does not name its own lane"));
}

[[noreturn, gnu::noinline]] void noWarpgroup(const Thread &thread, const Site *site) {
  thread.machine->stop(fault(FindingKind::BadOperand, thread, site,
                             std::string("carries out ") + site->mnemonic +
                                 ", which needs a whole warpgroup of 128 threads; this block has " +
                                 std::to_string(thread.block->threads.size())));
}

} // namespace

bool Meeting::expects(const Thread &thread) const {
  uint32_t part = thread.warp->index - warp->index;
  return part < width / 32 && expected[part] & ~arrived[part] & 1u << thread.lane;
}

std::string Meeting::whoArrived() const {
  uint32_t count = 0;
  for (uint32_t mask : arrived)
    count += uint32_t(std::popcount(mask));
  std::string text = std::to_string(count) + (count == 1 ? " lane of warp " : " lanes of warp ");
  return text + std::to_string(warp->index) + (width == 32 ? "" : " and the three after it");
}

Finding leftAlone(const Thread &thread) {
  for (const Warp *warp : {thread.warp, &thread.block->warps[thread.warp->index & ~3u]})
    for (const auto &meeting : warp->meetings)
      if (meeting->site && meeting->expects(thread))
        return fault(FindingKind::Divergence, thread, meeting->site,
                     "exits while " + meeting->whoArrived() + " wait for it at " + meeting->site->mnemonic);
  return {};
}

void meetWarp(uint32_t mask, const uint64_t *operands, uint64_t *results, const Site *site, Compute compute) {
  Thread &thread = current();
  mask &= thread.warp->lanes;
  if (!(mask >> thread.lane & 1)) [[unlikely]]
    badMask(thread, site);
  meet(thread, *thread.warp, 32, mask, operands, results, site, compute);
}

void meetWarpgroup(const uint64_t *operands, uint64_t *results, const Site *site, Compute compute) {
  Thread &thread = current();
  uint32_t first = thread.warp->index & ~3u;
  if (first + 4 > thread.block->warps.size() || thread.block->warps[first + 3].lanes != ~0u) [[unlikely]]
    noWarpgroup(thread, site);
  meet(thread, thread.block->warps[first], 128, ~0u, operands, results, site, compute);
}

} // namespace tilegym::sim
