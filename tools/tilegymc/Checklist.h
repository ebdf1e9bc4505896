// SPDX-License-Identifier: MIT
// The lines of `verify`: what each found, for people as it comes and as JSON at the end.
#pragma once
#include "Command.h"
#include <functional>
#include <nlohmann/json.hpp>

namespace tilegym::cli {

struct CheckLine {
  enum Status : uint8_t { Passed, Failed, Skipped } status = Passed;
  std::string text;                 ///< what was found in a few words; why it was skipped
  std::vector<std::string> details; ///< of a failure: what to read, whole lines
  std::string rerun;                ///< the command behind it

  static CheckLine passed(std::string text) { return {Passed, std::move(text), {}, {}}; }
  static CheckLine failed(std::string text, std::vector<std::string> details = {}) {
    return {Failed, std::move(text), std::move(details), {}};
  }
  static CheckLine skipped(std::string why) { return {Skipped, std::move(why), {}, {}}; }
};

/// "1 case", "2 cases".
inline std::string counted(size_t count, const std::string &what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

class Checklist {
public:
  Checklist(std::string op, bool json) : op(std::move(op)), quiet(json) {}
  /// Runs one check, and prints its line. Returns whether it passed.
  bool add(const std::string &name, const std::function<CheckLine()> &check);
  /// The line of a check that ran beside another.
  bool add(const std::string &name, CheckLine line, double seconds = 0);
  nlohmann::ordered_json toJson() const;
  /// The totals, and by name what failed and what was skipped.
  void printTotals() const;
  size_t count(CheckLine::Status status) const;

private:
  struct Entry {
    std::string name;
    CheckLine line;
    double seconds;
  };
  std::string op;
  bool quiet;
  std::vector<Entry> entries;
};

} // namespace tilegym::cli
