// SPDX-License-Identifier: MIT
// A package in the simulator. Where that is not built in, nothing is ever run.
#pragma once
#include "tests/fuzz/kernels/KernelDevice.h"

namespace tilegym::fuzz {

class SimulatedKernel {
public:
  SimulatedKernel(const std::string &arch, std::string_view package);
  ~SimulatedKernel();
  const std::string &arch() const { return archName; }
  /// Every variant, in a schedule of its own from `seed`.
  std::vector<DeviceOutcome> run(const KernelCase &kernel, const sem::TestCall &call,
                                 const interp::Arguments &args, uint64_t layout, uint64_t seed);

private:
  struct Impl;
  std::string archName;
  std::unique_ptr<Impl> impl;
};

} // namespace tilegym::fuzz
