// SPDX-License-Identifier: MIT
// Plots of a benchmark: one for each op, dtype and set of sizes that a dim runs through, as SVG and PNG, by gnuplot or else matplotlib.
#pragma once
#include "BenchCalls.h"
#include "BenchResult.h"

namespace tilegym::cli {

struct Plot {
  struct Series {
    std::string name;
    std::vector<std::pair<int64_t, double>> points;
  };
  std::string op, name; ///< `name` is of its files: OP-...-DTYPE-GBps
  std::string axis, unit;
  std::vector<Series> series; ///< ours first
};

/// Which rows make one plot, and along which dim, from all calls of one op.
void assignPlots(const sem::OpModel &op, const std::vector<sem::TestCall> &calls,
                 std::vector<BenchRow> &rows);
/// Those of at least two points.
std::vector<Plot> plotsOf(const BenchRun &run);
/// What draws here: "gnuplot", "matplotlib"; empty: neither.
std::string plotter();
/// Writes NAME.svg and NAME.png for each. False, with `error` set, where the plotter fails.
bool drawPlots(const std::vector<Plot> &plots, const std::string &plotter, const std::string &folder,
               std::string &error);

} // namespace tilegym::cli
