// SPDX-License-Identifier: MIT
// `tune --finish`: of each key the point that is nearest to the best over its calls, as a tuned table.
#include "BenchResult.h"
#include "Tune.h"
#include "TuneResults.h"
#include <algorithm>
#include <cmath>
#include <filesystem>

namespace tilegym::cli {
namespace {

constexpr int kFormat = 1;      ///< compiler/driver/TunedTable.cpp reads it
constexpr double kEqual = 1.01; ///< so near each other, points count as equal

/// One entry to be: the points of a key, and the calls that chose among them.
struct Group {
  Json key;
  std::vector<const TunePoint *> points;
  std::vector<std::pair<std::string, const CallResults *>> calls;
};

/// How far a point is from the best of each call, as a geometric mean; 0: some call has no time of it.
double scoreOf(const Group &group, const TunePoint &point) {
  double sum = 0;
  for (const auto &[name, call] : group.calls) {
    std::map<std::string, double> ratios = call->ratios();
    auto found = ratios.find(point.entry);
    if (found == ratios.end())
      return 0;
    sum += std::log(found->second);
  }
  return std::exp(sum / double(group.calls.size()));
}

/// The first of those that are as good as the best; null where none was right in every call.
const TunePoint *winnerOf(const Group &group) {
  double best = 0;
  for (const TunePoint *point : group.points)
    if (double score = scoreOf(group, *point); score > 0)
      best = best == 0 ? score : std::min(best, score);
  for (const TunePoint *point : group.points)
    if (double score = scoreOf(group, *point); score > 0 && score <= best * kEqual)
      return point;
  return nullptr;
}

/// Keys whose calls were all measured, in the plan's order. False after complaining of one that is missing.
bool groupsOf(const TuneOp &part, const sem::OpModel &op, const TuneResults &results,
              std::vector<Group> &groups, DiagnosticSink &sink) {
  for (const TunePoint &point : part.points) {
    auto found =
        std::find_if(groups.begin(), groups.end(), [&](const Group &g) { return g.key == point.key; });
    if (found == groups.end())
      found = groups.insert(groups.end(), {point.key, {}, {}});
    found->points.push_back(&point);
  }
  sem::BenchModel bench = sem::readBench(op, *op.spec->bench, sink);
  for (const sem::TestCall &call : plannedCalls(op, bench, part, sink)) {
    const CallResults *measured = results.find(op.name, call.name);
    if (!measured || !measured->done) {
      complain("%s %s is not measured to the end: run `tilegymc tune --measure` again, which goes on",
               op.name.c_str(), call.name.c_str());
      return false;
    }
    for (Group &group : groups)
      if (std::any_of(group.points.begin(), group.points.end(), [&](const TunePoint *point) {
            return measured->rounds.front().microseconds.count(point->entry) != 0;
          }))
        group.calls.emplace_back(call.name, measured);
  }
  return true;
}

/// Optional tensors that no measured call had are of no account: the entry holds with and without them.
void dropUnmeasured(std::vector<Group> &groups) {
  std::map<std::string, std::set<bool>> seen;
  for (const Group &group : groups)
    if (group.key.contains("present"))
      for (const auto &[tensor, given] : group.key["present"].items())
        seen[tensor].insert(given.get<bool>());
  for (Group &group : groups) {
    for (const auto &[tensor, values] : seen)
      if (values.size() == 1)
        group.key["present"].erase(tensor);
    if (group.key.contains("present") && group.key["present"].empty())
      group.key.erase("present");
  }
}

Json summaryOf(const Group &group, const TunePoint &winner) {
  Json calls = Json::array();
  for (const auto &[name, call] : group.calls) {
    std::map<std::string, double> ratios = call->ratios();
    const CallResults::Round &last = call->rounds.back();
    double best = 0;
    for (const auto &[entry, time] : last.microseconds)
      best = best == 0 ? time : std::min(best, time);
    double time = best * ratios[winner.entry];
    Json one = {{"call", name}, {"us", time}, {"of_copy", time > 0 ? last.copyMicroseconds / time : 0}};
    if (auto found = ratios.find(group.points[0]->entry); found != ratios.end())
      one["untuned_over_tuned"] = found->second / ratios[winner.entry];
    calls.push_back(std::move(one));
  }
  return {{"key", group.key}, {"point", winner.point}, {"calls", std::move(calls)}};
}

void print(const Json &summary) {
  std::printf("%s -> %s\n", summary["key"].dump().c_str(), summary["point"].dump().c_str());
  for (const Json &call : summary["calls"])
    std::printf(
        "  %-36s %9.2f us  %.3f of a copy  the cost model's point takes %s\n",
        call["call"].get<std::string>().c_str(), call["us"].get<double>(), call["of_copy"].get<double>(),
        call.contains("untuned_over_tuned")
            ? (std::to_string(call["untuned_over_tuned"].get<double>()).substr(0, 5) + " times as long")
                  .c_str()
            : "no time: it was wrong");
}

} // namespace

int tuneFinish(const TuneOptions &o, const std::vector<OpPtr> &ops, const Globals &globals) {
  std::optional<TunePlan> plan = readPlan(o.finish);
  std::vector<const TuneOp *> parts = plan ? partsOf(*plan, ops) : std::vector<const TuneOp *>();
  TuneResults results;
  if (parts.empty() || !results.read(resultsOf(o, o.finish)))
    return InputWrong;
  if (results.header()["plan"] != plan->hash) {
    complain("the results in '%s' are of another plan than %s: measure this one",
             resultsOf(o, o.finish).c_str(), planPath(o.finish).c_str());
    return InputWrong;
  }
  Json said = Json::array();
  DiagnosticSink sink;
  for (size_t i = 0; i < ops.size(); ++i) {
    std::vector<Group> groups;
    if (!groupsOf(*parts[i], *ops[i], results, groups, sink)) {
      report(sink, globals);
      return InputWrong;
    }
    dropUnmeasured(groups);
    Json entries = Json::array();
    for (const Group &group : groups) {
      const TunePoint *winner = group.calls.empty() ? nullptr : winnerOf(group);
      if (!winner) {
        complain("no point of %s %s was right in every call", ops[i]->name.c_str(), group.key.dump().c_str());
        return CheckFailed;
      }
      Json entry = group.key;
      entry["point"] = winner->point;
      entries.push_back(std::move(entry));
      said.push_back({{"op", ops[i]->name}});
      said.back().update(summaryOf(group, *winner));
      if (!globals.json && !o.dryRun)
        print(said.back());
    }
    Json head = {{"format", kFormat},
                 {"op", ops[i]->name},
                 {"arch", plan->arch},
                 {"card", results.header()["card"]},
                 {"driver", results.header()["driver"]},
                 {"versions", plan->versions},
                 {"date", results.header()["date"]},
                 {"entries", std::move(entries)}};
    std::string text = jsonByLines(head, "entries"); // a retune's diff and an error's line show an entry
    namespace fs = std::filesystem;
    fs::path folder = o.output.empty()
                          ? fs::path(ops[i]->spec->file->name()).parent_path() / ".." / "kernels" / "tuned"
                          : fs::path(o.output);
    folder = folder.lexically_normal() / plan->arch;
    std::error_code ec;
    if (o.dryRun) {
      std::fputs(text.c_str(), stdout);
      continue;
    }
    fs::create_directories(folder, ec);
    if (!writeFile((folder / (ops[i]->name + ".json")).string(), text))
      return EnvironmentLacks;
  }
  if (globals.json && !o.dryRun)
    std::puts(said.dump(2).c_str());
  return Ok;
}

} // namespace tilegym::cli
