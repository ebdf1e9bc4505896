// SPDX-License-Identifier: MIT
// The table and the folder.
#include "BenchReport.h"
#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace tilegym::cli {
std::string formatted(const char *format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

namespace {

std::string rateText(const BenchRow &row, double seconds) {
  return formatted(row.bytes ? "%.0f" : "%.1f", row.rate(seconds));
}

using Lines = std::vector<std::vector<std::string>>;

/// The first cell to the left, the others to the right, each column as wide as it must be.
void printAligned(const Lines &lines) {
  std::vector<size_t> widths;
  for (const auto &line : lines)
    for (size_t i = 0; line.size() > 1 && i < line.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], line[i].size());
    }
  for (const auto &line : lines) {
    for (size_t i = 0; i < line.size(); ++i)
      std::printf(i == 0 ? "%-*s" : "  %*s", line.size() > 1 ? int(widths[i]) : 0, line[i].c_str());
    std::printf("\n");
  }
}

std::string changeText(const Comparison::Change *change) {
  if (!change)
    return "new";
  return formatted("%.3f", change->factor) + (change->kind == Comparison::Change::Slower   ? " slower"
                                              : change->kind == Comparison::Change::Faster ? " faster"
                                                                                           : "");
}

} // namespace

void printTable(const BenchRun &run, const Comparison *comparison) {
  std::printf("%s, driver of CUDA %s; medians of %u with cold caches; peers: %s\n", run.device.c_str(),
              run.driver.c_str(), run.iterations, run.peers.c_str());
  for (const std::string &op : run.ops()) {
    BenchRun part = run.of(op);
    std::vector<std::string> columns = part.columns();
    auto timed =
        std::find_if(part.rows.begin(), part.rows.end(), [](const BenchRow &r) { return r.isTimed(); });
    std::string unit = timed == part.rows.end() ? "" : timed->bytes ? " GB/s" : " TFLOPS";
    Lines lines = {{op, "us", "spread", "of roofline"}};
    for (const std::string &column : columns)
      lines[0].push_back(column + unit);
    if (comparison)
      lines[0].push_back("of baseline");
    std::vector<std::string> remarks;
    for (const BenchRow &row : part.rows) {
      if (!row.isTimed()) {
        lines.push_back({"  " + row.name + (row.skipped ? "  skipped: " : "  failed: ") + row.failure});
        continue;
      }
      std::vector<std::string> line = {"  " + row.name, formatted("%.2f", row.ours().median * 1e6),
                                       formatted("%.1f%%", row.ours().spread() * 100),
                                       row.roofline > 0 ? formatted("%.2f", row.roofline / row.ours().median)
                                                        : "-"};
      for (const std::string &name : columns) {
        const BenchColumn *column = row.find(name);
        line.push_back(column && column->lacking.empty() ? rateText(row, column->times.median) : "-");
        std::string remark = column && !column->lacking.empty() ? "  " + name + ": " + column->lacking : "";
        if (!remark.empty() && std::find(remarks.begin(), remarks.end(), remark) == remarks.end())
          remarks.push_back(remark);
      }
      if (comparison)
        line.push_back(changeText(comparison->find(row)));
      lines.push_back(std::move(line));
    }
    printAligned(lines);
    for (const std::string &remark : remarks)
      std::printf("%s\n", remark.c_str());
  }
  if (!comparison)
    return;
  if (!comparison->changes.empty())
    std::printf("against the baseline of %s: %zu slower, %zu faster, %zu the same within %g%%\n",
                comparison->date.c_str(), comparison->count(Comparison::Change::Slower),
                comparison->count(Comparison::Change::Faster), comparison->count(Comparison::Change::Same),
                comparison->neutral * 100);
  for (const std::string &name : comparison->onlyBefore)
    std::printf("  only in the baseline: %s\n", name.c_str());
  for (const auto &[op, path] : comparison->unrecorded)
    std::printf("  nothing is recorded of %s: %s is missing; `tilegymc bench %s --record` makes it\n",
                op.c_str(), path.c_str(), op.c_str());
}

bool writeReport(const BenchRun &run, const Comparison *comparison, const std::string &folder) {
  namespace fs = std::filesystem;
  std::error_code ec;
  fs::create_directories(folder + "/plots", ec);
  if (!writeFile(folder + "/bench.json",
                 run.json().dump(1, ' ', false, Json::error_handler_t::replace) + "\n") ||
      !writeFile(folder + "/bench.csv", run.csv()))
    return false;
  std::vector<Plot> plots = plotsOf(run);
  std::string with = plotter(), error;
  if (with.empty())
    std::fprintf(
        stderr,
        "note: neither gnuplot nor Python's matplotlib is here, so there are no plots; where one is: "
        "tilegymc bench --from %s/bench.json -o %s\n",
        folder.c_str(), folder.c_str());
  else if (!plots.empty() && !drawPlots(plots, with, folder + "/plots", error)) {
    complain("%s", error.c_str());
    return false;
  }
  return writeFile(folder + "/index.html",
                   pageText(run, comparison, with.empty() ? std::vector<Plot>() : plots, folder + "/plots"));
}

} // namespace tilegym::cli
