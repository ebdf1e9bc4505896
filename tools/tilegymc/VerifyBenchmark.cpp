// SPDX-License-Identifier: MIT
// The line `benchmark`: the op is not slower than what was recorded of it on this card.
#include "BenchReport.h"
#include "Verify.h"
#include <filesystem>

namespace tilegym::cli {
namespace {

using json = nlohmann::json;

/// Why the run says nothing of slower or faster; empty where it does.
std::optional<CheckLine> troubleOf(const json &report, const std::string &op) {
  std::vector<std::string> failed, others;
  for (const json &row : report["rows"])
    if (row.contains("error"))
      failed.push_back(row["case"].get<std::string>() + ": " + row["error"].get<std::string>());
  if (!failed.empty())
    return CheckLine::failed(counted(failed.size(), "benchmark") + " failed", failed);
  const json &baseline = report["baseline"];
  const std::string device = report["device"], record = "`tilegymc bench " + op + " --record`";
  for (const json &missing : baseline["unrecorded"]) {
    const std::string path = missing["path"];
    std::error_code ec;
    if (!std::filesystem::is_directory(std::filesystem::path(path).parent_path(), ec))
      return CheckLine::skipped("nothing was recorded on a " + device + " yet; " + record + " begins");
    return CheckLine::failed("nothing is recorded of it on a " + device,
                             {path + ": missing; " + record + " makes it"});
  }
  for (const json &name : baseline["only_now"])
    others.push_back(name.get<std::string>() + ": not recorded");
  for (const json &name : baseline["only_before"])
    others.push_back(name.get<std::string>() + ": recorded, but not in the spec");
  if (others.empty())
    return std::nullopt;
  return CheckLine::failed("the recording is of other benchmarks; " + record + " makes it anew", others);
}

/// How many times as fast as recorded, of the cases that are slower.
std::map<std::string, double> slowerOnes(const json &report) {
  std::map<std::string, double> slower;
  for (const json &change : report["baseline"]["changes"])
    if (change["is"] == "slower")
      slower[change["case"]] = change["times_as_fast"];
  return slower;
}

} // namespace

CheckLine Verify::benchmark() {
  if (op->spec->bench->none)
    return CheckLine::skipped("the spec says: " + op->spec->bench->noneReason);
  const std::string band = cli::formatted("%g", options.neutral);
  std::vector<std::string> words = {"bench", "--no-peers", "--baseline", "recorded", "--neutral", band};
  if (!options.package.empty())
    words.insert(words.end(), {"--package", options.package});
  CheckLine line;
  std::map<std::string, double> slower;
  // A single run may be slow for no cause: what is slower has to be so twice.
  for (int turn = 0; turn < 2 && (turn == 0 || !slower.empty()); ++turn) {
    Finished child = command(words);
    if (child.code == EnvironmentLacks)
      return CheckLine::skipped(child.firstError());
    json report = json::parse(child.out, nullptr, /*allow_exceptions=*/false);
    std::optional<CheckLine> trouble = child.crash.empty() && report.is_object()
                                           ? troubleOf(report, op->name)
                                           : CheckLine::failed(child.firstError());
    if (trouble) {
      trouble->rerun = lastCommand;
      return *trouble;
    }
    std::map<std::string, double> now = slowerOnes(report);
    if (turn == 0)
      slower = now;
    std::erase_if(slower, [&](const auto &one) { return !now.count(one.first); });
    line = CheckLine::passed(counted(report["rows"].size(), "benchmark") + ", none slower than on " +
                             report["baseline"]["date"].get<std::string>() + " by more than " + band + "%");
  }
  if (!slower.empty()) {
    line = CheckLine::failed(counted(slower.size(), "benchmark") + " slower than recorded by more than " +
                             band + "%");
    for (const auto &[name, factor] : slower)
      line.details.push_back(name + cli::formatted(": %.3f times as fast as recorded", factor));
  }
  line.rerun = lastCommand;
  return line;
}

} // namespace tilegym::cli
