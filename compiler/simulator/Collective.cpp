// SPDX-License-Identifier: MIT
// Lanes meet.
#include "compiler/simulator/Collective.h"
#include "compiler/simulator/Machine.h"

namespace tilegym::sim {
namespace {

std::string describeMeeting(const void *object, uint64_t) {
  auto &meeting = *static_cast<const Meeting *>(object);
  return std::string(meeting.width == 32 ? "its warp" : "its warpgroup") + " at " + meeting.site->mnemonic +
         ", where only " + meeting.whoArrived() + " came";
}

/// Stops where lanes of its own warp wait for this thread elsewhere. (Other warps of a warpgroup may be further on.)
void checkConverged(const Warp &warp, const Thread &thread, const Site *site, const Meeting *mine) {
  for (const auto &meeting : warp.meetings)
    if (meeting->site && meeting.get() != mine && meeting->expects(thread) &&
        meeting->arrived[thread.warp->index - warp.index])
      thread.machine->stop(fault(FindingKind::Divergence, thread, site,
                                 std::string("comes to ") + site->mnemonic + " while " +
                                     meeting->whoArrived() + " wait for it at " + meeting->site->mnemonic +
                                     " (" + place(meeting->site) + ")"));
}

void meet(Warp &leader, uint32_t width, const std::array<uint32_t, 4> &expected, const uint64_t *operands,
          uint64_t *results, const Site *site, Compute compute) {
  Thread &thread = current();
  uint32_t part = thread.warp->index - leader.index, bit = 1u << thread.lane;
  Meeting *mine = nullptr, *unused = nullptr;
  for (const auto &meeting : leader.meetings) {
    if (!meeting->site)
      unused = meeting.get();
    else if (meeting->site == site && meeting->width == width && meeting->expected == expected &&
             !(meeting->arrived[part] & bit))
      mine = meeting.get();
  }
  checkConverged(leader, thread, site, mine);
  if (&leader != thread.warp || width == 32)
    if (Warp &other = width == 32 ? thread.block->warps[thread.warp->index & ~3u] : *thread.warp;
        &other != &leader)
      checkConverged(other, thread, site, mine);
  if (!mine) {
    if (!unused)
      unused = leader.meetings.emplace_back(std::make_unique<Meeting>()).get();
    mine = unused;
    mine->site = site;
    mine->warp = &leader;
    mine->width = width;
    mine->expected = expected;
    mine->arrived = {};
    for (uint32_t i = 0; i < width / 32; ++i)
      if (uint32_t gone = expected[i] & thread.block->warps[leader.index + i].exited)
        thread.machine->stop(fault(
            FindingKind::Divergence, thread, site,
            std::string("comes to ") + site->mnemonic + ", where " + std::to_string(std::popcount(gone)) +
                " lanes of warp " + std::to_string(leader.index + i) + " must take part that have exited"));
  }
  mine->arrived[part] |= bit;
  mine->operands[part * 32 + thread.lane] = operands;
  mine->results[part * 32 + thread.lane] = results;
  mine->threads[part * 32 + thread.lane] = &thread;
  if (!mine->isComplete())
    return suspend({.site = site, .describe = describeMeeting, .object = mine});
  for (uint32_t i = 0; i < width; ++i)
    if (!(expected[i / 32] >> i % 32 & 1)) {
      mine->operands[i] = nullptr;
      mine->results[i] = nullptr;
      mine->threads[i] = nullptr;
    }
  compute(*mine);
  for (uint32_t i = 0; i < width; ++i)
    if (mine->threads[i] && mine->threads[i] != &thread)
      wake(*mine->threads[i]);
  mine->site = nullptr;
  thread.machine->progress();
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
  if (!(mask >> thread.lane & 1))
    thread.machine->stop(
        fault(FindingKind::BadOperand, thread, site,
              std::string("carries out ") + site->mnemonic + " with a mask that does not name its own lane"));
  meet(*thread.warp, 32, {mask, 0, 0, 0}, operands, results, site, compute);
}

void meetWarpgroup(const uint64_t *operands, uint64_t *results, const Site *site, Compute compute) {
  Thread &thread = current();
  uint32_t first = thread.warp->index & ~3u;
  if (first + 4 > thread.block->warps.size() || thread.block->warps[first + 3].lanes != ~0u)
    thread.machine->stop(fault(FindingKind::BadOperand, thread, site,
                               std::string("carries out ") + site->mnemonic +
                                   ", which needs a whole warpgroup of 128 threads; this block has " +
                                   std::to_string(thread.block->threads.size())));
  meet(thread.block->warps[first], 128, {~0u, ~0u, ~0u, ~0u}, operands, results, site, compute);
}

} // namespace tilegym::sim
