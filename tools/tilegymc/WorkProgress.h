// SPDX-License-Identifier: MIT
// How much of a long work is done, and when the rest will be: a line of progress.
#pragma once
#include "Command.h"
#include <chrono>

namespace tilegym::cli {

class WorkProgress {
public:
  /// `what` is counted: "calls".
  WorkProgress(size_t all, std::string what) : all(all), what(std::move(what)) {}
  void say(const std::string &now) const {
    std::string bar(kWidth * done / std::max<size_t>(1, all), '#');
    std::string line = "[" + bar + std::string(kWidth - bar.size(), ' ') + "] " + now + " (" +
                       std::to_string(done) + "/" + std::to_string(all) + " " + what;
    if (timed > 0)
      line += ", about " + std::to_string(int(spent / double(timed) * double(all - done) + 0.5)) + " s left";
    progress(line + ")");
  }
  /// One more; what was known before took no time.
  void next(bool measured) {
    auto now = std::chrono::steady_clock::now();
    if (measured) {
      spent += std::chrono::duration<double>(now - last).count();
      ++timed;
    }
    last = now;
    ++done;
  }

private:
  static constexpr size_t kWidth = 20;
  size_t all, done = 0, timed = 0;
  std::string what;
  double spent = 0;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

} // namespace tilegym::cli
