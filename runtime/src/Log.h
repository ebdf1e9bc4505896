// SPDX-License-Identifier: MIT
// What the runtime says beside its statuses. Nothing is formatted for a level that is off.
#pragma once
#include <cstdint>

namespace tilegym::runtime {

/// Whether `level` (TILEGYM_LOG_...) is on.
bool logs(int32_t level);
/// One line, where its level is on.
[[gnu::cold, gnu::format(printf, 2, 3)]] void log(int32_t level, const char *format, ...);

} // namespace tilegym::runtime
