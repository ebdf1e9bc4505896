// SPDX-License-Identifier: MIT
// Results as JSON, there and back, and as CSV.
#include "BenchResult.h"
#include "Specs.h"
#include "TunePlan.h"
#include <algorithm>
#include <cmath>

namespace tilegym::cli {
namespace {

constexpr int kFormat = 1;

/// Six digits are more than is measured.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value))
    return value;
  double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

Json timesJson(const Times &t, const BenchRow &row) {
  return {{"median_us", rounded(t.median * 1e6)},
          {"min_us", rounded(t.least * 1e6)},
          {"max_us", rounded(t.most * 1e6)},
          {"spread", rounded(t.spread())},
          {row.unit(), rounded(row.rate(t.median))}};
}

Times timesOf(const Json &j) {
  Times t{j.at("median_us").get<double>() * 1e-6, j.at("min_us").get<double>() * 1e-6,
          j.at("max_us").get<double>() * 1e-6, 0};
  t.middleHalf = j.at("spread").get<double>() * t.median;
  return t;
}

Json rowJson(const BenchRow &row) {
  Json j = {{"op", row.op}, {"case", row.name}, {"checked", row.checked}};
  if (!row.isTimed()) {
    j[row.skipped ? "skipped" : "error"] = row.failure;
    return j;
  }
  j["variant"] = row.variant;
  j["dtype"] = row.dtype;
  j["plot"] = {{"name", row.graphOf}, {"axis", row.axis}, {"at", row.axisValue}};
  j["timed"] = row.inGraph ? "in a graph" : "by events";
  j["metric"] = row.unit();
  j[row.bytes ? "bytes" : "flops"] = row.bytes ? row.bytes : row.flops;
  j.update(timesJson(row.ours(), row));
  if (row.roofline > 0)
    j["of_roofline"] = rounded(row.roofline / row.ours().median);
  for (size_t i = 1; i < row.columns.size(); ++i) {
    const BenchColumn &column = row.columns[i];
    Json &peer = j["peers"][column.name];
    peer = column.lacking.empty() ? timesJson(column.times, row) : Json{{"lacking", column.lacking}};
    if (column.lacking.empty())
      peer["ours_is"] = rounded(column.times.median / row.ours().median); // times as fast
  }
  return j;
}

BenchRow rowOf(const Json &j) {
  BenchRow row;
  row.op = j.at("op");
  row.name = j.at("case");
  row.checked = j.at("checked");
  row.skipped = j.contains("skipped");
  if (row.skipped || j.contains("error")) {
    row.failure = j[row.skipped ? "skipped" : "error"];
    return row;
  }
  row.variant = j.at("variant");
  row.dtype = j.at("dtype");
  row.graphOf = j.at("plot").at("name");
  row.axis = j.at("plot").at("axis");
  row.axisValue = j.at("plot").at("at");
  row.inGraph = j.at("timed") == "in a graph";
  row.bytes = j.value("bytes", int64_t(0));
  row.flops = j.value("flops", int64_t(0));
  row.columns.push_back({"ours", "", timesOf(j)});
  row.roofline = j.value("of_roofline", 0.0) * row.ours().median;
  if (j.contains("peers"))
    for (const auto &[name, peer] : j["peers"].items()) {
      BenchColumn column{name, peer.value("lacking", ""), {}};
      if (column.lacking.empty())
        column.times = timesOf(peer);
      row.columns.push_back(std::move(column));
    }
  return row;
}

std::string csvText(const std::string &text) {
  std::string out = "\"";
  for (char c : text)
    out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

} // namespace

const BenchColumn *BenchRow::find(const std::string &column) const {
  auto found =
      std::find_if(columns.begin(), columns.end(), [&](const BenchColumn &c) { return c.name == column; });
  return found == columns.end() ? nullptr : &*found;
}

double BenchRow::rate(double seconds) const {
  if (seconds <= 0)
    return 0;
  return bytes ? double(bytes) / seconds * 1e-9 : double(flops) / seconds * 1e-12;
}

Json BenchRun::json() const {
  Json j = {{"format", kFormat},
            {"device", device},
            {"driver", driver},
            {"date", date},
            {"peers", peers},
            {"iterations", iterations},
            {"peak_GBps", rounded(peakBytes * 1e-9)},
            {"rows", Json::array()}};
  for (const BenchRow &row : rows)
    j["rows"].push_back(rowJson(row));
  return j;
}

std::vector<std::string> BenchRun::columns() const {
  std::vector<std::string> names;
  for (const BenchRow &row : rows)
    for (const BenchColumn &column : row.columns)
      if (std::find(names.begin(), names.end(), column.name) == names.end())
        names.push_back(column.name);
  return names;
}

std::vector<std::string> BenchRun::ops() const {
  std::vector<std::string> names;
  for (const BenchRow &row : rows)
    if (std::find(names.begin(), names.end(), row.op) == names.end())
      names.push_back(row.op);
  return names;
}

BenchRun BenchRun::of(const std::string &op) const {
  BenchRun part = *this;
  std::erase_if(part.rows, [&](const BenchRow &row) { return row.op != op; });
  return part;
}

std::string BenchRun::csv() const {
  std::vector<std::string> names = columns();
  std::string text = "op,case,dtype,metric,us,spread,of_roofline";
  for (const std::string &name : names)
    text += "," + name;
  text += ",remark\n";
  for (const BenchRow &row : rows) {
    text += row.op + "," + csvText(row.name) + "," + row.dtype + ",";
    if (!row.isTimed()) {
      text += ",,," + std::string(names.size(), ',') + "," + csvText(row.failure) + "\n";
      continue;
    }
    text += std::string(row.unit()) + "," + number(row.ours().median * 1e6) + "," +
            number(row.ours().spread()) + "," +
            (row.roofline > 0 ? number(row.roofline / row.ours().median) : "");
    std::string remark = row.inGraph ? "in a graph" : "";
    for (const std::string &name : names) {
      const BenchColumn *column = row.find(name);
      bool timed = column && column->lacking.empty();
      text += "," + (timed ? number(row.rate(column->times.median)) : "");
      if (column && !timed)
        remark += (remark.empty() ? "" : "; ") + name + ": " + column->lacking;
    }
    text += "," + (remark.empty() ? "" : csvText(remark)) + "\n";
  }
  return text;
}

std::optional<BenchRun> readBenchRun(const std::string &path) {
  std::optional<std::string> text = readFile(path);
  if (!text) {
    complain("cannot read '%s', expected the bench.json of an earlier `tilegymc bench -o FOLDER`",
             path.c_str());
    return std::nullopt;
  }
  try {
    Json j = Json::parse(*text);
    if (j.at("format") != kFormat) {
      complain("'%s' has format %s, expected %d: run `tilegymc bench` again", path.c_str(),
               j.at("format").dump().c_str(), kFormat);
      return std::nullopt;
    }
    BenchRun run;
    run.device = j.at("device");
    run.driver = j.at("driver");
    run.date = j.at("date");
    run.peers = j.at("peers");
    run.iterations = j.at("iterations");
    run.peakBytes = j.at("peak_GBps").get<double>() * 1e9;
    for (const Json &row : j.at("rows"))
      run.rows.push_back(rowOf(row));
    return run;
  } catch (const Json::exception &error) {
    complain("'%s' is no bench.json of `tilegymc bench -o FOLDER`: %s", path.c_str(), error.what());
    return std::nullopt;
  }
}

std::string jsonByLines(Json object, const std::string &list) {
  Json entries = object.at(list);
  object.erase(list);
  std::string text = object.dump(2);
  text.resize(text.size() - 2); // the newline and the brace
  text += ",\n  \"" + list + "\": [";
  for (size_t i = 0; i < entries.size(); ++i)
    text += (i ? ",\n    " : "\n    ") + entries[i].dump();
  return text + "\n  ]\n}\n";
}

double geometricMean(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += std::log(value);
  return values.empty() ? 0 : std::exp(sum / double(values.size()));
}

} // namespace tilegym::cli
