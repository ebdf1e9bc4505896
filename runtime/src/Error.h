// SPDX-License-Identifier: MIT
// How the runtime fails: a status, and a text that the thread keeps. No exceptions: this code runs under a C interface.
#pragma once
#include "tilegym/tilegym.h"
#include <string>

namespace tilegym::runtime {

/// Records the text for tilegym_last_error and returns `status`.
[[gnu::format(printf, 2, 3)]] TilegymStatus fail(TilegymStatus status, const char *format, ...);
const char *lastError();

} // namespace tilegym::runtime
