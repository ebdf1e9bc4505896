// SPDX-License-Identifier: MIT
// Runs and copies take turns, so that both see the same clocks.
#include "Timing.h"
#include "DeviceCall.h"
#include <algorithm>

namespace tilegym::cli {
namespace {

class Timer {
public:
  Timer(const Gpu &gpu, std::string &error) : gpu(gpu), error(error) {
    for (runtime::CUevent &event : events)
      keep("making an event", gpu.driver->eventCreate(&event, 0));
  }
  ~Timer() {
    for (runtime::CUevent event : events)
      if (event)
        gpu.driver->eventDestroy(event);
  }
  bool ok() const { return error.empty(); }
  void keep(const char *what, runtime::CUresult result) {
    if (result != runtime::kSuccess && error.empty())
      error = gpu.text(what, result);
  }
  /// Seconds of `body`; what it starts must be on the default stream.
  template <class Body> double time(Body body) {
    keep("recording an event", gpu.driver->eventRecord(events[0], nullptr));
    body();
    keep("recording an event", gpu.driver->eventRecord(events[1], nullptr));
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

Times summarize(std::vector<double> seconds) {
  if (seconds.empty())
    return {};
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds.front(), seconds.back()};
}

/// Device memory of a whole call, filled by repetition: a generator's values at full size would take longer than the timing.
struct Memory {
  std::vector<DeviceBlock> blocks;
  std::vector<interp::Dims> strides;
  std::vector<TilegymTensor> tensors;
  std::vector<uint64_t> scalars;
  std::vector<const void *> arguments;

  bool make(const Gpu &gpu, const sem::OpModel &op, const sem::TestCall &call,
            const interp::Arguments &pattern, std::string &error) {
    blocks.resize(op.tensors.size());
    strides.resize(op.tensors.size());
    tensors.resize(op.tensors.size());
    scalars.resize(op.scalars.size());
    for (const sem::Argument &argument : op.arguments) {
      size_t id = size_t(argument.id);
      if (!argument.isTensor) {
        scalars[id] = scalarArgument(op, call, id, pattern.scalars[id]);
        arguments.push_back(&scalars[id]);
      } else if (!call.bound.spec.present[id]) {
        arguments.push_back(nullptr);
      } else {
        if (!tensor(gpu, op, call, pattern, id, error))
          return false;
        arguments.push_back(&tensors[id]);
      }
    }
    return true;
  }

  bool tensor(const Gpu &gpu, const sem::OpModel &op, const sem::TestCall &call,
              const interp::Arguments &pattern, size_t id, std::string &error) {
    const interp::Dims &shape = call.bound.shapes[id][0];
    DType dtype = call.bound.spec.dtypes[size_t(op.tensors[id].typeVar)];
    size_t size = size_t(interp::numElements(shape)) * sizeInBytes(dtype);
    strides[id] = interp::contiguousStrides(shape);
    if (!blocks[id].allocate(gpu, size, error))
      return false;
    tensors[id] = {reinterpret_cast<void *>(blocks[id].address()), shape.data(), strides[id].data(),
                   int32_t(shape.size()), int32_t(dtype)};
    if (op.tensors[id].role == sem::Role::Output || size == 0)
      return true;
    const interp::HostBuffer &values = *pattern.tensors[id][0].buffer;
    size_t done = std::min(values.size(), size);
    runtime::CUresult result = gpu.driver->memcpyHtoD(blocks[id].address(), values.data(), done);
    while (result == runtime::kSuccess && done > 0 && done < size) {
      size_t more = std::min(done, size - done);
      result = gpu.driver->memcpyDtoDAsync(blocks[id].address() + done, blocks[id].address(), more, nullptr);
      done += more;
    }
    if (result != runtime::kSuccess)
      error = gpu.text("filling inputs on the GPU", result);
    return result == runtime::kSuccess;
  }
};

} // namespace

Timing timeCall(const Gpu &gpu, const PackageFile &package, size_t number, const sem::OpModel &op,
                const sem::TestCall &call, const interp::Arguments &pattern, int64_t traffic,
                const TimingOptions &options) {
  Timing timing;
  Memory memory;
  DeviceBlock flush, from, to;
  size_t half = size_t(std::max<int64_t>(traffic, 0)) / 2;
  if (!memory.make(gpu, op, call, pattern, timing.error) ||
      !flush.allocate(gpu, options.flushBytes, timing.error) || !from.allocate(gpu, half, timing.error) ||
      !to.allocate(gpu, half, timing.error))
    return timing;
  Timer timer(gpu, timing.error);
  std::vector<double> runs, copies;
  for (unsigned i = 0; timer.ok() && i < options.warmUp + options.iterations; ++i) {
    auto cold = [&] {
      timer.keep("flushing the L2 cache",
                 gpu.driver->memsetD8Async(flush.address(), uint8_t(i), flush.size(), nullptr));
    };
    cold();
    double run = timer.time([&] {
      if (tilegym_call(package.handle(), number, memory.arguments.data(), nullptr) != TILEGYM_OK &&
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
