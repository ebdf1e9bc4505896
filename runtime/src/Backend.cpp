// SPDX-License-Identifier: MIT
// The backend in use, for all threads.
#include "Backend.h"
#include <atomic>

namespace tilegym::runtime {

static std::atomic<const Backend *> current{nullptr};

const Backend *currentBackend() { return current.load(std::memory_order_acquire); }

const Backend *useBackend(const Backend *backend) {
  return current.exchange(backend, std::memory_order_acq_rel);
}

} // namespace tilegym::runtime
