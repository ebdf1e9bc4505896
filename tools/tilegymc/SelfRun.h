// SPDX-License-Identifier: MIT
// This program once more, as a process of its own: `verify` is made of the other commands, and a crash of one is a line of its list.
#pragma once
#include <string>
#include <vector>

namespace tilegym::cli {

struct SelfRun {
  int code = 0;         ///< its exit code
  std::string crash;    ///< how it ended where it did not exit; empty: it did
  std::string out, err; ///< what it wrote
  /// The text behind the first "error: " of its stderr; all of it where there is none.
  std::string firstError() const;
};
SelfRun runSelf(const std::vector<std::string> &arguments);

} // namespace tilegym::cli
