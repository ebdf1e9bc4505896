// SPDX-License-Identifier: MIT
// What `tune --measure` found: results.jsonl, to which a line is added as soon as it is known, so that a run that was killed goes on where it was. The
// first line says on what card and for which plan.
#pragma once
#include "TunePlan.h"
#include <cstdio>
#include <map>
#include <set>

namespace tilegym::cli {

/// One call: which points gave wrong results, and the rounds of the halving.
struct CallResults {
  bool checked = false;
  std::map<std::string, std::string> failed; ///< by entry: why
  struct Round {
    double copyMicroseconds = 0;
    std::map<std::string, double> microseconds; ///< by entry: the median
  };
  std::vector<Round> rounds;
  std::vector<Json> lines; ///< of the file, that say all this

  /// One more line.
  void take(const Json &line);

  /// The entries of the next round, in the order of `entries`: of those in the last one, the faster half, and what is within 2 % of the best.
  std::vector<std::string> survivors(const std::vector<std::string> &entries) const;
  bool isDone(const std::vector<std::string> &entries) const;
  /// How many times the best of its last round each entry took there.
  std::map<std::string, double> ratios() const;
};
/// Timed runs of each point, by round.
extern const std::vector<unsigned> kIterations;

class TuneResults {
public:
  /// Opens or makes the file. False after complaining: it is another card's or another plan's.
  bool open(const std::string &path, const Json &header);
  /// For reading alone.
  bool read(const std::string &path);
  ~TuneResults();

  const Json &header() const { return first; }
  CallResults &of(const std::string &op, const std::string &call) { return calls[{op, call}]; }
  const CallResults *find(const std::string &op, const std::string &call) const;
  /// Takes a line and adds it to the file.
  bool add(const Json &line);

private:
  bool append(const Json &line);

  std::FILE *file = nullptr;
  std::string name;
  Json first;
  std::map<std::pair<std::string, std::string>, CallResults> calls;
};

/// Lines: which points gave wrong results; a point that the GPU did not survive; a round's times.
Json checkedLine(const std::string &op, const std::string &call,
                 const std::map<std::string, std::string> &failed);
Json lostLine(const std::string &op, const std::string &call, const std::string &entry,
              const std::string &why);
Json roundLine(const std::string &op, const std::string &call, const CallResults &known,
               const CallResults::Round &round);

std::string resultsPath(const std::string &folder);

} // namespace tilegym::cli
