// SPDX-License-Identifier: MIT
// A piece of work in a process of its own, which may hang, crash or leave anything behind.
#pragma once
#include <functional>
#include <string>

namespace tilegym::mutation {

struct Ended {
  std::string said; ///< what the work returned
  std::string how;  ///< "never ends" or "crash (signal 11)"; empty: it returned
};
/// `seconds` of processor time at most. The caller has one thread.
Ended runInChild(unsigned seconds, const std::function<std::string()> &work);

} // namespace tilegym::mutation
