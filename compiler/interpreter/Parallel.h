// SPDX-License-Identifier: MIT
// A loop over threads; the body must not throw.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace tilegym::interp {

/// Calls body(i) for i in [0, count), in order on one thread, by `threads` of them otherwise.
template <class Body> void parallelFor(int64_t count, unsigned threads, Body body) {
  threads = unsigned(std::clamp<int64_t>(count, 1, std::max(threads, 1u)));
  if (threads == 1) {
    for (int64_t i = 0; i < count; ++i)
      body(i);
    return;
  }
  std::atomic<int64_t> next{0};
  auto work = [&] {
    for (int64_t i; (i = next.fetch_add(1)) < count;)
      body(i);
  };
  std::vector<std::thread> workers;
  for (unsigned t = 1; t < threads; ++t)
    workers.emplace_back(work);
  work();
  for (auto &worker : workers)
    worker.join();
}

} // namespace tilegym::interp
