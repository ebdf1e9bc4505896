// SPDX-License-Identifier: MIT
// How the runtime fails: a status, and a text that the thread keeps. No exceptions of its own: this code runs under a C interface, which turns
// the standard library's into statuses.
#pragma once
#include "tilegym/tilegym.h"
#include <exception>
#include <new>
#include <string>

namespace tilegym::runtime {

/// Records the text for tilegym_last_error and returns `status`. Cold: what leads here is kept out of the way of calls that are right.
[[gnu::cold, gnu::format(printf, 2, 3)]] TilegymStatus fail(TilegymStatus status, const char *format, ...);
const char *lastError();
/// Makes it "", to see whether someone else's code gives a text.
void clearError();

#define TRY(expression)                                                                                      \
  if (TilegymStatus status = (expression); status != TILEGYM_OK) [[unlikely]]                                \
  return status

/// Runs `body`, which may meet the standard library's exceptions.
template <class Body> TilegymStatus guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return fail(TILEGYM_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception &error) {
    return fail(TILEGYM_OUT_OF_MEMORY, "the host's system refused something: %s", error.what());
  }
}

} // namespace tilegym::runtime
