// SPDX-License-Identifier: MIT
// What `tune --measure` found: results.jsonl, to which a line is added as soon as it is known, so that a run that was killed goes on where it was. The
// first line says on what card and for which plan.
#pragma once
#include "TunePlan.h"
#include <cstdio>
#include <map>
#include <set>

namespace tilegym::cli {

/// One call: which points gave right and wrong results, and the rounds of the halving. A plan may get more points later: then only these are checked and
/// timed, and a round has the times of several sittings.
struct CallResults {
  std::set<std::string> right;               ///< entries that were checked
  std::map<std::string, std::string> failed; ///< by entry: why
  struct Round {
    double copyMicroseconds = 0;
    std::map<std::string, double> microseconds; ///< by entry: the median
  };
  std::vector<Round> rounds;
  bool done = false;       ///< for all of the plan's points
  std::vector<Json> lines; ///< of the file, that say all this

  /// One more line.
  void take(const Json &line);
  /// Those whose result nobody has looked at.
  std::vector<std::string> toCheck(const std::vector<std::string> &entries) const;
  /// What is to be timed next, and in which round; none: all is. Of those in a round, the faster half, and what is within 2 % of the best, come into the next.
  std::pair<size_t, std::vector<std::string>> due(const std::vector<std::string> &entries) const;
  /// How many times the best of its last round each entry took there.
  std::map<std::string, double> ratios() const;
};
/// Timed runs of each point, by round.
extern const std::vector<unsigned> kIterations;

class TuneResults {
public:
  /// Opens or makes the file. What it has of another plan stays where the code is the same. False after complaining: it is another card's.
  bool open(const std::string &path, const Json &header, const TunePlan &plan);
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
  /// The file again, for another plan.
  bool carryOver(const Json &header, const TunePlan &plan);

  std::FILE *file = nullptr;
  std::string name;
  Json first;
  std::map<std::pair<std::string, std::string>, CallResults> calls;
};

/// Lines: what checks found; a point that the GPU did not survive; times of a round; that a call has all that the plan asks for.
Json checkedLine(const std::string &op, const std::string &call, const std::vector<std::string> &right,
                 const std::map<std::string, std::string> &failed);
Json lostLine(const std::string &op, const std::string &call, const std::string &entry,
              const std::string &why);
Json roundLine(const std::string &op, const std::string &call, size_t number,
               const CallResults::Round &round);
Json doneLine(const std::string &op, const std::string &call);

std::string resultsPath(const std::string &folder);

} // namespace tilegym::cli
