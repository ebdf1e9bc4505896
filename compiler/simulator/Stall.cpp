// SPDX-License-Identifier: MIT
// When a launch does not go on: who waits for what.
#include "compiler/simulator/Scheduler.h"
#include <algorithm>

namespace tilegym::sim {
namespace {

/// "threads 0-31, 40" of sorted numbers.
std::string ranges(const std::vector<uint32_t> &numbers) {
  std::string text = numbers.size() == 1 ? "thread " : "threads ";
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1)
      ++end;
    text += (i ? ", " : "") + std::to_string(numbers[i]);
    if (end - i > 1)
      text += "-" + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

/// Who waits for what, and who has exited, a line each.
std::string waiters(const std::vector<std::unique_ptr<Cluster>> &clusters) {
  std::string text;
  for (const auto &cluster : clusters)
    for (const auto &block : cluster->blocks) {
      std::vector<std::pair<std::string, std::vector<uint32_t>>> groups;
      for (const Thread &thread : block->threads) {
        std::string what = "can run";
        if (thread.state == ThreadState::Exited)
          what = "exited";
        else if (thread.state == ThreadState::Waiting)
          what = "waits at " + place(thread.reason.site) + " for " +
                 thread.reason.describe(thread.reason.object, thread.reason.detail);
        auto group = std::find_if(groups.begin(), groups.end(), [&](auto &one) { return one.first == what; });
        if (group == groups.end())
          group = groups.insert(group, {what, {}});
        group->second.push_back(thread.index);
      }
      for (auto &[what, numbers] : groups)
        text += "\n  block " + std::to_string(block->index) + " " + ranges(numbers) + ": " + what;
    }
  return text;
}

/// The first site that somebody waits at.
const Site *waitingSite(const std::vector<std::unique_ptr<Cluster>> &clusters) {
  for (const auto &cluster : clusters)
    for (const auto &block : cluster->blocks)
      for (const Thread &thread : block->threads)
        if (thread.state == ThreadState::Waiting)
          return thread.reason.site;
  return nullptr;
}

} // namespace

void Scheduler::deadlock() {
  machine.report({.kind = FindingKind::Deadlock,
                  .text = "deadlock: nothing can run any more" + waiters(clusters),
                  .site = waitingSite(clusters)});
  stopped = true;
}

void Scheduler::livelock(const std::string &why) {
  machine.report({.kind = FindingKind::Livelock, .text = "livelock: " + why + waiters(clusters)});
  stopped = true;
}

} // namespace tilegym::sim
