// SPDX-License-Identifier: MIT
// Several launches as one CUDA graph: the GPU starts them one after another without the host, whose time would hide that of a short kernel.
#pragma once
#include "Gpu.h"
#include <functional>

namespace tilegym::cli {

/// The driver's functions for graphs, which the runtime does not need.
struct GraphDriver;
/// Null where there are none: on the simulator, and with an old driver.
const GraphDriver *findGraphDriver(const Gpu &gpu);

class LaunchGraph {
public:
  explicit LaunchGraph(const GraphDriver &driver) : driver(driver) {}
  LaunchGraph(const LaunchGraph &) = delete;
  LaunchGraph &operator=(const LaunchGraph &) = delete;
  ~LaunchGraph();
  /// What `enqueue` puts on the stream that it is given; false, with `error` set, where it fails.
  bool record(const Gpu &gpu, const std::function<bool(runtime::CUstream, std::string &)> &enqueue,
              std::string &error);
  bool launch(const Gpu &gpu, std::string &error);
  /// On which it runs.
  runtime::CUstream stream() const { return own; }

private:
  const GraphDriver &driver;
  runtime::CUstream own = nullptr;
  void *executable = nullptr;
};

} // namespace tilegym::cli
