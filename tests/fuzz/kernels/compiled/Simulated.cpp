// SPDX-License-Identifier: MIT
// The simulator as the thread's device, for one arch at a time.
#include "tests/fuzz/kernels/compiled/Simulated.h"
#ifdef TILEGYM_HAS_SIMULATOR
#include "tools/simdriver/SimDriver.h"
#endif

namespace tilegym::fuzz {

#ifdef TILEGYM_HAS_SIMULATOR

struct SimulatedKernel::Impl {
  std::unique_ptr<KernelDevice::Package> package;
  std::string error;
};

SimulatedKernel::SimulatedKernel(const std::string &arch, std::string_view package)
    : archName(arch), impl(std::make_unique<Impl>()) {
  impl->package = KernelDevice::open(package, impl->error);
}
SimulatedKernel::~SimulatedKernel() = default;

std::vector<DeviceOutcome> SimulatedKernel::run(const KernelCase &kernel, const sem::TestCall &call,
                                                const interp::Arguments &args, uint64_t layout,
                                                uint64_t seed) {
  auto failed = [](const std::string &why) { return std::vector<DeviceOutcome>{{"", why, {}}}; };
  if (!impl->package)
    return failed(impl->error);
  simdriver::Settings settings;
  settings.capability = std::atoi(archName.c_str() + 3);
  simdriver::Session session(settings);
  const runtime::Device *device = nullptr;
  if (runtime::currentDevice(session.driver(), nullptr, &device) != TILEGYM_OK)
    return failed(tilegym_last_error());
  KernelDevice runner(session.driver(), *device, /*apart=*/true);
  return runner.run(*impl->package, 0, kernel, call, args, layout, [&](uint32_t variant) {
    session.settings().seed = seed * 16 + variant;
    session.takeReports();
  });
}

#else

struct SimulatedKernel::Impl {};
SimulatedKernel::SimulatedKernel(const std::string &arch, std::string_view) : archName(arch) {}
SimulatedKernel::~SimulatedKernel() = default;
std::vector<DeviceOutcome> SimulatedKernel::run(const KernelCase &, const sem::TestCall &,
                                                const interp::Arguments &, uint64_t, uint64_t) {
  return {};
}

#endif

} // namespace tilegym::fuzz
