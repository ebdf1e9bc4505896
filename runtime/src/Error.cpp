// SPDX-License-Identifier: MIT
// The thread's last error.
#include "Error.h"
#include <cstdarg>
#include <cstdio>

namespace tilegym::runtime {

static thread_local char text[2048] = "no error";

TilegymStatus fail(TilegymStatus status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return status;
}

const char *lastError() { return text; }
void clearError() { text[0] = 0; }

} // namespace tilegym::runtime
