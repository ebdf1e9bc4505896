// SPDX-License-Identifier: MIT
// What a run of `bench` found: one row a call, a column for ours and one for each peer. Tables, CSV, plots and the page are made from this
// alone, so that they can be made again, elsewhere, from its JSON.
#pragma once
#include "EventTimer.h"
#include <nlohmann/json.hpp>
#include <string>

namespace tilegym::cli {

using Json = nlohmann::ordered_json;

struct BenchColumn {
  std::string name;    ///< "ours", "copy", "cublaslt", "torch"
  std::string lacking; ///< why there are no times
  Times times;
};

struct BenchRow {
  std::string op, name; ///< `name`: dims, dtypes, consts
  std::string checked;  ///< the call whose result was compared with the reference
  std::string variant;  ///< that the runtime chose
  std::string failure;  ///< why ours has no times
  bool skipped = false; ///< nothing is wrong: it cannot be here
  std::string dtype;    ///< in names of plots
  std::string
      graphOf;      ///< the plot that the row is a point of: dims that others share, without dtype and unit
  std::string axis; ///< the dim along that plot's axis; empty: none
  int64_t axisValue = 0; ///< its value
  int64_t bytes = 0, flops = 0;
  double roofline = 0; ///< the least seconds that the card's peaks allow; 0: not known
  bool inGraph = false;
  std::vector<BenchColumn> columns; ///< ours first

  const BenchColumn *find(const std::string &column) const;
  const Times &ours() const { return columns[0].times; }
  bool isTimed() const { return failure.empty() && !columns.empty(); }
  /// GB/s or TFLOPS at so many seconds, and which of the two.
  double rate(double seconds) const;
  const char *unit() const { return bytes ? "GBps" : "TFLOPS"; }
};

struct BenchRun {
  std::string device, driver, date;
  std::string peers; ///< versions of what the peers run on, or why there are none
  unsigned iterations = 0;
  double peakBytes = 0; ///< a second
  std::vector<BenchRow> rows;

  Json json() const;
  std::string csv() const;
  /// Names of all columns, and of all ops, in the order of their first rows.
  std::vector<std::string> columns() const;
  std::vector<std::string> ops() const;
  /// The rows of one op.
  BenchRun of(const std::string &op) const;
};

/// Nothing after complaining.
std::optional<BenchRun> readBenchRun(const std::string &path);
/// The object's members as usual, but each entry of the list that is named, its last, on a line of its own.
std::string jsonByLines(Json object, const std::string &list);
/// Of a positive list; 0 for none.
double geometricMean(const std::vector<double> &values);

} // namespace tilegym::cli
