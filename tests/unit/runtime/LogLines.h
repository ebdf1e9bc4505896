// SPDX-License-Identifier: MIT
// What the runtime logs, for tests.
#pragma once
#include "tilegym/tilegym.h"
#include <string>
#include <vector>

namespace tilegym::testing {

/// "LEVEL TEXT" of each line that is logged while it lives.
struct Lines {
  std::vector<std::string> lines;
  Lines() {
    tilegym_set_log(
        [](void *user, int32_t level, const char *text) {
          static_cast<Lines *>(user)->lines.push_back(std::to_string(level) + " " + text);
        },
        this);
  }
  ~Lines() { tilegym_set_log(nullptr, nullptr); }
};

} // namespace tilegym::testing
