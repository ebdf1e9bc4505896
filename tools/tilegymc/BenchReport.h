// SPDX-License-Identifier: MIT
// What `bench` shows: a table in the terminal, and a folder with bench.json, bench.csv, plots and index.html.
#pragma once
#include "BenchBaseline.h"
#include "BenchPlots.h"

namespace tilegym::cli {

/// printf's.
std::string formatted(const char *format, double value);
void printTable(const BenchRun &run, const Comparison *comparison);
/// One file that needs no other and no network: plots are part of it.
std::string pageText(const BenchRun &run, const Comparison *comparison, const std::vector<Plot> &plots,
                     const std::string &folder);
/// False after complaining.
bool writeReport(const BenchRun &run, const Comparison *comparison, const std::string &folder);

} // namespace tilegym::cli
