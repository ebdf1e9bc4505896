// SPDX-License-Identifier: MIT
// Printing of checklists.
#include "Checklist.h"
#include <algorithm>
#include <chrono>
#include <cstdio>

namespace tilegym::cli {
namespace {

const char *const kWords[] = {"pass", "FAIL", "skip"};
const char *const kStatuses[] = {"passed", "failed", "skipped"};
constexpr size_t kMaxDetails =
    9; ///< lines of one failure; the command that is named shows all, and so does --json

} // namespace

bool Checklist::add(const std::string &name, const std::function<CheckLine()> &check) {
  progress(op + ": " + name);
  auto start = std::chrono::steady_clock::now();
  CheckLine line = check();
  progress("");
  return add(name, std::move(line),
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

bool Checklist::add(const std::string &name, CheckLine line, double seconds) {
  entries.push_back({name, std::move(line), seconds});
  const CheckLine &added = entries.back().line;
  if (!quiet) {
    std::printf("%s  %-18s %s", kWords[added.status], name.c_str(), added.text.c_str());
    if (seconds >= 1)
      std::printf(" (%.0f s)", seconds);
    std::printf("\n");
    for (size_t i = 0; i < std::min(added.details.size(), kMaxDetails); ++i)
      std::printf("      %s\n", added.details[i].c_str());
    if (added.details.size() > kMaxDetails)
      std::printf("      ... %zu more lines\n", added.details.size() - kMaxDetails);
    if (added.status == CheckLine::Failed && !added.rerun.empty())
      std::printf("      again: %s\n", added.rerun.c_str());
    std::fflush(stdout);
  }
  return added.status == CheckLine::Passed;
}

size_t Checklist::count(CheckLine::Status status) const {
  return size_t(
      std::count_if(entries.begin(), entries.end(), [&](const Entry &e) { return e.line.status == status; }));
}

nlohmann::ordered_json Checklist::toJson() const {
  nlohmann::ordered_json j = {{"op", op}};
  for (CheckLine::Status status : {CheckLine::Passed, CheckLine::Failed, CheckLine::Skipped})
    j[kStatuses[status]] = count(status);
  j["lines"] = nlohmann::ordered_json::array();
  for (const Entry &e : entries) {
    nlohmann::ordered_json line = {{"name", e.name},
                                   {"status", kStatuses[e.line.status]},
                                   {"text", e.line.text},
                                   {"seconds", e.seconds}};
    if (!e.line.details.empty())
      line["details"] = e.line.details;
    if (!e.line.rerun.empty())
      line["command"] = e.line.rerun;
    j["lines"].push_back(std::move(line));
  }
  return j;
}

void Checklist::printTotals() const {
  std::printf("%s: %zu passed, %zu failed, %zu skipped", op.c_str(), count(CheckLine::Passed),
              count(CheckLine::Failed), count(CheckLine::Skipped));
  for (CheckLine::Status status : {CheckLine::Failed, CheckLine::Skipped}) {
    std::string names;
    for (const Entry &e : entries)
      if (e.line.status == status)
        names += (names.empty() ? "" : ", ") + e.name;
    if (!names.empty())
      std::printf("; %s: %s", kStatuses[status], names.c_str());
  }
  std::printf("\n");
}

} // namespace tilegym::cli
