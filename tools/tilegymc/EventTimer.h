// SPDX-License-Identifier: MIT
// Times of what runs on a stream of the GPU, by events.
#pragma once
#include "Gpu.h"
#include <algorithm>
#include <vector>

namespace tilegym::cli {

struct Times {
  double median = 0, least = 0, most = 0,
         middleHalf = 0; ///< seconds; the last: from the first quartile to the third
  /// Part of the median.
  double spread() const { return median > 0 ? middleHalf / median : 0; }
};
inline Times summarize(std::vector<double> seconds) {
  if (seconds.empty())
    return {};
  std::sort(seconds.begin(), seconds.end());
  size_t n = seconds.size();
  return {seconds[n / 2], seconds.front(), seconds.back(), seconds[n * 3 / 4] - seconds[n / 4]};
}

/// The first thing that fails is kept in `error`.
class EventTimer {
public:
  EventTimer(const Gpu &gpu, std::string &error) : gpu(gpu), error(error) {
    for (runtime::CUevent &event : events)
      keep("making an event", gpu.driver->eventCreate(&event, 0));
  }
  ~EventTimer() {
    for (runtime::CUevent event : events)
      if (event)
        gpu.driver->eventDestroy(event);
  }
  bool ok() const { return error.empty(); }
  void keep(const char *what, runtime::CUresult result) {
    if (result != runtime::kSuccess && error.empty())
      error = gpu.text(what, result);
  }
  /// Seconds of `body`; what it starts must be on the stream.
  template <class Body> double time(Body body, runtime::CUstream stream = nullptr) {
    keep("recording an event", gpu.driver->eventRecord(events[0], stream));
    body();
    keep("recording an event", gpu.driver->eventRecord(events[1], stream));
    keep("the timed run", gpu.driver->eventSynchronize(events[1]));
    float milliseconds = 0;
    keep("reading the events", gpu.driver->eventElapsedTime(&milliseconds, events[0], events[1]));
    return milliseconds * 1e-3;
  }

private:
  const Gpu &gpu;
  std::string &error;
  runtime::CUevent events[2] = {};
};

} // namespace tilegym::cli
