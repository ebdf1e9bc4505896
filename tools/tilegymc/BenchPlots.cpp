// SPDX-License-Identifier: MIT
// From rows to series, and from series to the two plotters' scripts.
#include "BenchPlots.h"
#include "ChildProcess.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

namespace tilegym::cli {
namespace {

/// Okabe and Ito's colours, which all eyes tell apart.
const std::map<std::string, std::string> kColours = {
    {"ours", "#0072B2"},    {"copy", "#999999"},     {"torch", "#D55E00"},   {"triton", "#009E73"},
    {"compile", "#CC79A7"}, {"cublaslt", "#E69F00"}, {"roofline", "#000000"}};

std::string colourOf(const std::string &series) {
  auto found = kColours.find(series);
  return found == kColours.end() ? "#56B4E9" : found->second;
}

std::vector<int64_t> valuesOf(const Plot &plot) {
  std::set<int64_t> values;
  for (const Plot::Series &series : plot.series)
    for (auto [x, y] : series.points)
      values.insert(x);
  return {values.begin(), values.end()};
}

std::string unitText(const std::string &unit) { return unit == "GBps" ? "GB/s" : unit; }

std::string gnuplotScript(const std::vector<Plot> &plots, const std::string &folder) {
  std::string text = "set grid xtics ytics lt 1 lc rgb '#dddddd'\nset key outside right noenhanced\nset "
                     "yrange [0:*]\nset border 3\n"
                     "set tics nomirror\nset logscale x 2\n";
  for (const Plot &plot : plots) {
    std::vector<int64_t> values = valuesOf(plot);
    text += "set xrange [" + std::to_string(double(values.front()) / 1.15) + ":" +
            std::to_string(double(values.back()) * 1.15) + "]\n";
    text += "set title \"" + plot.name + "\" noenhanced\nset xlabel \"" + plot.axis + "\"\nset ylabel \"" +
            unitText(plot.unit) + "\"\nset xtics (";
    for (int64_t value : values)
      text += (text.back() == '(' ? "" : ", ") + std::string("'") + std::to_string(value) + "' " +
              std::to_string(value);
    text += ")\n";
    std::string lines;
    for (size_t i = 0; i < plot.series.size(); ++i) {
      const Plot::Series &series = plot.series[i];
      std::string data = "$data" + std::to_string(i);
      text += data + " << EOD\n";
      for (auto [x, y] : series.points)
        text += std::to_string(x) + " " + std::to_string(y) + "\n";
      text += "EOD\n";
      bool isLimit = series.name == "roofline" || series.name == "copy";
      lines += (i ? ", " : "plot ") + data + " using 1:2 title \"" + series.name +
               "\" with linespoints lc rgb '" + colourOf(series.name) + "' lw " +
               (series.name == "ours" ? "3" : "1.5") + (isLimit ? " dt 2 pt 0" : " pt 7 ps 0.6");
    }
    text += "set terminal svg size 720,420 background '#ffffff' font 'sans,12'\nset output '" + folder + "/" +
            plot.name + ".svg'\n" + lines +
            "\nset terminal pngcairo size 1080,630 font 'sans,14'\nset output '" + folder + "/" + plot.name +
            ".png'\n" + lines + "\n";
  }
  return text + "set output\n";
}

std::string pythonScript(const std::vector<Plot> &plots, const std::string &folder) {
  Json all = Json::array();
  for (const Plot &plot : plots) {
    Json one = {{"file", folder + "/" + plot.name}, {"title", plot.name},      {"axis", plot.axis},
                {"unit", unitText(plot.unit)},      {"ticks", valuesOf(plot)}, {"series", Json::array()}};
    for (const Plot::Series &series : plot.series) {
      Json x = Json::array(), y = Json::array();
      for (auto [at, value] : series.points) {
        x.push_back(at);
        y.push_back(value);
      }
      one["series"].push_back({series.name, colourOf(series.name), x, y});
    }
    all.push_back(std::move(one));
  }
  return "import json\nimport matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\nfor p in "
         "json.loads('''" +
         all.dump() + R"('''):
    figure, axes = plt.subplots(figsize=(7.2, 4.2), layout='constrained')
    for name, colour, x, y in p['series']:
        limit = name in ('roofline', 'copy')
        axes.plot(x, y, '--' if limit else 'o-', color=colour, label=name, linewidth=3 if name == 'ours' else 1.5, markersize=4)
    axes.set(title=p['title'], xlabel=p['axis'], ylabel=p['unit'], xscale='log')
    axes.set_xticks(p['ticks'], [str(t) for t in p['ticks']])
    axes.set_xticks([], minor=True)
    axes.set_ylim(bottom=0)
    axes.grid(color='#dddddd')
    axes.legend(loc='center left', bbox_to_anchor=(1, 0.5), frameon=False)
    figure.savefig(p['file'] + '.svg')
    figure.savefig(p['file'] + '.png', dpi=150)
    plt.close(figure)
)";
}

const char *python() {
  const char *named = std::getenv("TILEGYM_PYTHON");
  return named ? named : "python3";
}

std::string wordOf(const sem::ScalarParam &scalar, int64_t value) {
  return scalar.enumerators.empty() ? std::to_string(value) : "_" + scalar.enumerators[size_t(value)];
}

} // namespace

void assignPlots(const sem::OpModel &op, const std::vector<sem::TestCall> &calls,
                 std::vector<BenchRow> &rows) {
  size_t axis = 0, most = 0;
  for (size_t d = 0; d < op.dims.size(); ++d) {
    std::set<int64_t> values;
    for (const sem::TestCall &call : calls)
      values.insert(call.bound.values.dims[d]);
    if (values.size() >= most) {
      most = values.size();
      axis = d;
    }
  }
  // `N = M` goes where M goes: it is no size of its own.
  auto isTied = [&](size_t d) {
    std::map<int64_t, int64_t> there, back;
    for (const sem::TestCall &call : calls) {
      int64_t a = call.bound.values.dims[axis], b = call.bound.values.dims[d];
      if (there.emplace(a, b).first->second != b || back.emplace(b, a).first->second != a)
        return false;
    }
    return there.size() > 1;
  };
  for (size_t d = 0; d < op.dims.size(); ++d)
    if (isTied(d)) {
      axis = d;
      break;
    }
  // Of consts, those that differ from call to call are part of a plot's name.
  auto constsOf = [&](const sem::TestCall &call) {
    std::vector<std::string> words;
    for (size_t i = 0; i < op.scalars.size(); ++i)
      if (op.scalars[i].isConst)
        words.push_back(op.scalars[i].name + wordOf(op.scalars[i], call.bound.spec.consts[i].asInt()));
    return words;
  };
  auto differs = [&](size_t word) {
    return std::any_of(calls.begin(), calls.end(), [&](const sem::TestCall &call) {
      return constsOf(call)[word] != constsOf(calls[0])[word];
    });
  };
  for (size_t c = 0; c < calls.size(); ++c) {
    BenchRow &row = rows[c];
    const sem::TestCall &call = calls[c];
    row.graphOf = op.name;
    for (size_t d = 0; d < op.dims.size(); ++d)
      if (d != axis && !isTied(d))
        row.graphOf += "-" + op.dims[d].name + std::to_string(call.bound.values.dims[d]);
    std::vector<std::string> words = constsOf(call);
    for (size_t w = 0; w < words.size(); ++w)
      if (differs(w))
        row.graphOf += "-" + words[w];
    if (!op.dims.empty()) {
      row.axis = op.dims[axis].name;
      row.axisValue = call.bound.values.dims[axis];
    }
    for (size_t v = 0; v < op.typeVars.size(); ++v)
      if (op.typeVars[v].choices.size() > 1 || row.dtype.empty())
        row.dtype = std::string(name(call.bound.spec.dtypes[v]));
  }
}

std::vector<Plot> plotsOf(const BenchRun &run) {
  std::vector<Plot> plots;
  for (const BenchRow &row : run.rows) {
    if (!row.isTimed() || row.axis.empty() || row.axisValue <= 0)
      continue;
    std::string name = row.graphOf + "-" + row.dtype + "-" + row.unit();
    auto plot = std::find_if(plots.begin(), plots.end(), [&](const Plot &p) { return p.name == name; });
    if (plot == plots.end())
      plot = plots.insert(plots.end(), {row.op, name, row.axis, row.unit(), {}});
    auto add = [&](const std::string &series, double y) {
      auto found = std::find_if(plot->series.begin(), plot->series.end(),
                                [&](const Plot::Series &s) { return s.name == series; });
      if (found == plot->series.end())
        found = plot->series.insert(plot->series.end(), {series, {}});
      found->points.emplace_back(row.axisValue, y);
    };
    for (const BenchColumn &column : row.columns)
      if (column.lacking.empty())
        add(column.name, row.rate(column.times.median));
    if (row.roofline > 0)
      add("roofline", row.rate(row.roofline));
  }
  std::erase_if(plots, [](const Plot &plot) { return plot.series[0].points.size() < 2; });
  for (Plot &plot : plots)
    for (Plot::Series &series : plot.series)
      std::sort(series.points.begin(), series.points.end());
  return plots;
}

std::string plotter() {
  if (ChildProcess::run({"gnuplot", "--version"}).isGood())
    return "gnuplot";
  const char *search = "import importlib.util, sys; sys.exit(importlib.util.find_spec('matplotlib') is None)";
  return ChildProcess::run({python(), "-c", search}).isGood() ? "matplotlib" : "";
}

bool drawPlots(const std::vector<Plot> &plots, const std::string &plotter, const std::string &folder,
               std::string &error) {
  bool isGnuplot = plotter == "gnuplot";
  std::string script = folder + "/plots.script";
  if (!writeFile(script, isGnuplot ? gnuplotScript(plots, folder) : pythonScript(plots, folder)))
    return false;
  ChildProcess::Finished drawn = ChildProcess::run({isGnuplot ? "gnuplot" : python(), script});
  if (drawn.isGood())
    std::remove(script.c_str());
  else
    error = plotter + " does not draw the plots of '" + script + "': " + drawn.firstError();
  return drawn.isGood();
}

} // namespace tilegym::cli
