// SPDX-License-Identifier: MIT
// Runs and copies take turns, so that both see the same clocks.
#include "Timing.h"
#include "BenchMemory.h"
#include "EventTimer.h"

namespace tilegym::cli {

Timing timeCall(const Gpu &gpu, const PackageFile &package, size_t number, const sem::OpModel &op,
                const sem::TestCall &call, const interp::Arguments &pattern, int64_t traffic,
                const TimingOptions &options) {
  Timing timing;
  BenchMemory memory;
  DeviceBlock flush, from, to;
  size_t half = size_t(std::max<int64_t>(traffic, 0)) / 2;
  if (!memory.make(gpu, op, call, pattern, timing.error) ||
      !flush.allocate(gpu, options.flushBytes, timing.error) || !from.allocate(gpu, half, timing.error) ||
      !to.allocate(gpu, half, timing.error))
    return timing;
  EventTimer timer(gpu, timing.error);
  std::vector<double> runs, copies;
  for (unsigned i = 0; timer.ok() && i < options.warmUp + options.iterations; ++i) {
    auto cold = [&] {
      timer.keep("flushing the L2 cache",
                 gpu.driver->memsetD8Async(flush.address(), uint8_t(i), flush.size(), nullptr));
    };
    cold();
    double run = timer.time([&] {
      if (tilegym_call(package.handle(), number, memory.arguments().data(), nullptr) != TILEGYM_OK &&
          timing.error.empty())
        timing.error = tilegym_last_error();
    });
    cold();
    double copy = half ? timer.time([&] {
      timer.keep("copying on the GPU",
                 gpu.driver->memcpyDtoDAsync(to.address(), from.address(), half, nullptr));
    })
                       : 0;
    if (i >= options.warmUp) {
      runs.push_back(run);
      copies.push_back(copy);
    }
  }
  timing.run = summarize(std::move(runs));
  timing.copy = summarize(std::move(copies));
  return timing;
}

} // namespace tilegym::cli
