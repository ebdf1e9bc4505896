// SPDX-License-Identifier: MIT
// Pairs rows by op and case.
#include "BenchBaseline.h"
#include "Specs.h"
#include <algorithm>

namespace tilegym::cli {

const Comparison::Change *Comparison::find(const BenchRow &row) const {
  auto found = changes.find({row.op, row.name});
  return found == changes.end() ? nullptr : &found->second;
}

size_t Comparison::count(Change::Kind kind) const {
  return size_t(std::count_if(changes.begin(), changes.end(),
                              [&](const auto &change) { return change.second.kind == kind; }));
}

Json Comparison::json() const {
  Json j = {{"date", date},
            {"neutral", neutral},
            {"same", count(Change::Same)},
            {"faster", count(Change::Faster)},
            {"slower", count(Change::Slower)},
            {"only_before", onlyBefore},
            {"only_now", onlyNow},
            {"unrecorded", Json::array()},
            {"changes", Json::array()}};
  for (const auto &[op, path] : unrecorded)
    j["unrecorded"].push_back({{"op", op}, {"path", path}});
  static const char *const kinds[] = {"same", "faster", "slower"};
  for (const auto &[key, change] : changes)
    j["changes"].push_back({{"op", key.first},
                            {"case", key.second},
                            {"times_as_fast", change.factor},
                            {"is", kinds[change.kind]}});
  return j;
}

/// Seconds, or times a copy.
static double cost(const BenchRow &row, bool besideCopy) {
  return besideCopy ? row.ours().median / row.find("copy")->times.median : row.ours().median;
}

std::optional<Comparison> compareRuns(const BenchRun &now, const BenchRun &before, double neutral) {
  if (now.device != before.device) {
    complain("--baseline is of a %s, but this is a %s: what one measures says nothing of the other",
             before.device.c_str(), now.device.c_str());
    return std::nullopt;
  }
  Comparison comparison;
  comparison.date = before.date;
  comparison.neutral = neutral;
  auto rowOf = [](const BenchRun &run, const BenchRow &row) {
    return std::find_if(run.rows.begin(), run.rows.end(), [&](const BenchRow &other) {
      return other.isTimed() && other.op == row.op && other.name == row.name;
    });
  };
  for (const BenchRow &row : now.rows) {
    if (!row.isTimed())
      continue;
    auto old = rowOf(before, row);
    if (old == before.rows.end()) {
      comparison.onlyNow.push_back(row.op + " " + row.name);
      continue;
    }
    auto hasCopy = [](const BenchRow &r) { return r.find("copy") && r.find("copy")->times.median > 0; };
    bool besideCopy = hasCopy(*old) && hasCopy(row);
    Comparison::Change change{cost(*old, besideCopy) / cost(row, besideCopy), Comparison::Change::Same};
    if (change.factor < 1 - neutral)
      change.kind = Comparison::Change::Slower;
    else if (change.factor > 1 + neutral)
      change.kind = Comparison::Change::Faster;
    comparison.changes[{row.op, row.name}] = change;
  }
  std::vector<std::string> ops = now.ops();
  for (const BenchRow &row : before.rows)
    if (row.isTimed() && std::count(ops.begin(), ops.end(), row.op) && rowOf(now, row) == now.rows.end())
      comparison.onlyBefore.push_back(row.op + " " + row.name);
  return comparison;
}

} // namespace tilegym::cli
