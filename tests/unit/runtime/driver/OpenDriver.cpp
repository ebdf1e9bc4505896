// SPDX-License-Identifier: MIT
// Asks for memory, so that the driver is opened, and prints the status and the text: a process of its own for each way in which opening fails.
#include "tilegym/tilegym.h"
#include <cstdio>

int main() {
  void *memory = nullptr;
  TilegymStatus status = tilegym_allocate(64, nullptr, &memory);
  std::printf("%d %s", int(status), status == TILEGYM_OK ? "" : tilegym_last_error());
  if (status == TILEGYM_OK)
    tilegym_free(memory, nullptr);
  return 0;
}
