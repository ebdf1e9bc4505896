// SPDX-License-Identifier: MIT
// The page. Plots are data: URLs, so that the names inside one SVG do not meet those of another.
#include "BenchReport.h"
#include "TunePlan.h"
#include <algorithm>

namespace tilegym::cli {
namespace {

constexpr const char *kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>tilegymc bench</title><style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: .15em .8em; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
th { border-bottom: 2px solid #888; }
.slower, .failed { color: #b02000; } .faster { color: #00703c; } .quiet { color: #777; }
td.remark { text-align: left; white-space: normal; }
.plots { display: flex; flex-wrap: wrap; gap: 1em; } .plots img { width: 34em; max-width: 100%; }
</style></head><body>
)";

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

std::string base64(const std::string &bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    unsigned word = 0;
    for (size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k)
      out += i + k <= bytes.size() ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::string cell(const std::string &text, const std::string &kind = "") {
  return "<td" + (kind.empty() ? "" : " class=\"" + kind + "\"") + ">" + text + "</td>";
}

/// One line an op: means over its rows.
std::string summary(const BenchRun &run) {
  std::vector<std::string> columns = run.columns();
  std::string text = "<table><tr><th>op</th><th>rows</th><th>of roofline</th>";
  for (size_t i = 1; i < columns.size(); ++i)
    text += "<th>times " + escaped(columns[i]) + "</th>";
  text += "<th>least, of any peer</th></tr>\n";
  for (const std::string &op : run.ops()) {
    std::vector<double> roofline, worst;
    std::vector<std::vector<double>> faster(columns.size());
    size_t timed = 0, all = 0;
    for (const BenchRow &row : run.of(op).rows) {
      ++all;
      if (!row.isTimed())
        continue;
      ++timed;
      if (row.roofline > 0)
        roofline.push_back(row.roofline / row.ours().median);
      for (size_t i = 1; i < columns.size(); ++i)
        if (const BenchColumn *c = row.find(columns[i]); c && c->lacking.empty()) {
          faster[i].push_back(c->times.median / row.ours().median);
          worst.push_back(faster[i].back());
        }
    }
    auto mean = [](const std::vector<double> &values) {
      return cell(values.empty() ? "" : formatted("%.2f", geometricMean(values)));
    };
    text += "<tr><td><a href=\"#" + escaped(op) + "\">" + escaped(op) + "</a></td>" +
            cell(std::to_string(timed) + (timed < all ? " of " + std::to_string(all) : ""),
                 timed < all ? "failed" : "") +
            mean(roofline);
    for (size_t i = 1; i < columns.size(); ++i)
      text += mean(faster[i]);
    text += cell(worst.empty() ? "" : formatted("%.2f", *std::min_element(worst.begin(), worst.end()))) +
            "</tr>\n";
  }
  return text +
         "</table>\n<p class=\"quiet\">Geometric means over an op's rows of how many times as fast as each "
         "peer ours is.</p>\n";
}

std::string rows(const BenchRun &run, const std::string &op, const Comparison *comparison) {
  BenchRun part = run.of(op);
  std::vector<std::string> columns = part.columns();
  std::string text = "<table><tr><th>case</th><th>&micro;s</th><th>spread</th><th>of roofline</th>";
  for (const std::string &column : columns)
    text += "<th>" + escaped(column) + "</th>";
  text += std::string(comparison ? "<th>of baseline</th>" : "") + "<th></th></tr>\n";
  for (const BenchRow &row : part.rows) {
    text += "<tr>" + cell(escaped(row.name));
    if (!row.isTimed()) {
      text += "<td colspan=\"" + std::to_string(columns.size() + 4) + "\" class=\"remark " +
              (row.skipped ? "quiet\">" : "failed\">") + escaped(row.failure) + "</td></tr>\n";
      continue;
    }
    text += cell(formatted("%.2f", row.ours().median * 1e6)) +
            cell(formatted("%.1f%%", row.ours().spread() * 100)) +
            cell(row.roofline > 0 ? formatted("%.2f", row.roofline / row.ours().median) : "");
    std::string remark = row.inGraph ? "in a graph" : "";
    for (const std::string &name : columns) {
      const BenchColumn *column = row.find(name);
      bool timed = column && column->lacking.empty();
      text += cell(timed ? formatted(row.bytes ? "%.0f" : "%.1f", row.rate(column->times.median)) : "");
      if (column && !timed)
        remark += (remark.empty() ? "" : "; ") + name + ": " + column->lacking;
    }
    if (comparison) {
      const Comparison::Change *change = comparison->find(row);
      text += cell(change ? formatted("%.3f", change->factor) : "new",
                   !change                                      ? "quiet"
                   : change->kind == Comparison::Change::Slower ? "slower"
                   : change->kind == Comparison::Change::Faster ? "faster"
                                                                : "");
    }
    text += cell(escaped(remark), "remark quiet") + "</tr>\n";
  }
  return text + "</table>\n";
}

} // namespace

std::string pageText(const BenchRun &run, const Comparison *comparison, const std::vector<Plot> &plots,
                     const std::string &folder) {
  std::string text = kHead;
  text += "<h1>" + escaped(run.device) + "</h1>\n<p>" + escaped(run.date) + ", driver of CUDA " +
          escaped(run.driver) + "; peers: " + escaped(run.peers) +
          ". Each row: the result was checked, then ours and its peers ran in "
          "turns with cold caches, " +
          std::to_string(run.iterations) +
          " times; medians, and the middle half's spread. Rows as GB/s or TFLOPS of what the op must move or "
          "compute. Copy: device to "
          "device, of as many bytes." +
          (run.peakBytes > 0 ? " The memory's peak is " + formatted("%.0f", run.peakBytes * 1e-9) + " GB/s."
                             : "") +
          " Rows <em>in a graph</em> are short: many launches, on inputs in turn.</p>\n" + summary(run);
  if (comparison)
    text += "<p>Against the baseline of " + escaped(comparison->date) + ": <span class=\"slower\">" +
            std::to_string(comparison->count(Comparison::Change::Slower)) +
            " slower</span>, <span class=\"faster\">" +
            std::to_string(comparison->count(Comparison::Change::Faster)) + " faster</span>, " +
            std::to_string(comparison->count(Comparison::Change::Same)) + " the same within " +
            formatted("%g", comparison->neutral * 100) + "%.</p>\n";
  for (const std::string &op : run.ops()) {
    text += "<h2 id=\"" + escaped(op) + "\">" + escaped(op) + "</h2>\n<div class=\"plots\">\n";
    for (const Plot &plot : plots)
      if (plot.op == op)
        if (std::optional<std::string> svg = readFile(folder + "/" + plot.name + ".svg"))
          text += "<img alt=\"" + escaped(plot.name) + "\" src=\"data:image/svg+xml;base64," + base64(*svg) +
                  "\">\n";
    text += "</div>\n" + rows(run, op, comparison);
  }
  return text + "</body></html>\n";
}

} // namespace tilegym::cli
