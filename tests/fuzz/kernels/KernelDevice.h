// SPDX-License-Identifier: MIT
// Compiled kernels on a device: a GPU, or the simulator behind the same table of functions. Every variant that could take a call runs, not the one alone
// that the runtime would choose, in memory that is watched.
#pragma once
#include "runtime/src/KernelLaunch.h"
#include "tests/fuzz/kernels/KernelCase.h"
#include <functional>

namespace tilegym::fuzz {

struct DeviceOutcome {
  std::string variant, error; ///< no error: `tensors` hold what came out
  std::vector<std::vector<interp::HostTensor>> tensors;
};

class KernelDevice {
public:
  /// The thread's current device behind `driver`. With `apart`, each tensor has an allocation of its own that ends where it does, so that the device itself
  /// sees strays; else all lie in one, between guards, and travel at once.
  KernelDevice(const runtime::Driver &driver, const runtime::Device &device, bool apart)
      : driver(driver), device(device), apart(apart) {}
  KernelDevice(const KernelDevice &) = delete;
  ~KernelDevice();

  /// A package's bytes; null, with `error` set, where the runtime does not take them. The block outlives the device's use of it.
  struct Package {
    std::vector<uint64_t> storage;
    runtime::Table table;
    std::unique_ptr<runtime::Loader> loader;
    std::string_view text(size_t op) const; ///< the spec that the op was compiled from
  };
  static std::unique_ptr<Package> open(std::string_view bytes, std::string &error);

  /// Inputs lie as in `args`; outputs by `layout`, poisoned. `beforeLaunch` gets the variant's number.
  std::vector<DeviceOutcome> run(Package &package, size_t op, const KernelCase &kernel,
                                 const sem::TestCall &call, const interp::Arguments &args, uint64_t layout,
                                 const std::function<void(uint32_t)> &beforeLaunch);

  /// After a fault that the device does not recover from.
  bool isLost() const { return lost; }

private:
  struct Placed {
    std::optional<interp::HostTensor> host;
    runtime::CUdeviceptr address = 0; ///< of the buffer's first byte
  };
  bool upload(std::vector<Placed> &placed, std::string &error);
  bool download(const KernelCase &kernel, const std::vector<Placed> &placed, DeviceOutcome &outcome);
  void release(std::vector<Placed> &placed);
  std::string launch(Package &package, const runtime::Call &bound, uint32_t op, uint32_t variant);
  bool reserve(size_t bytes, std::string &error);
  std::string failure(const char *what, runtime::CUresult result) const;

  const runtime::Driver &driver;
  const runtime::Device &device;
  bool apart, lost = false;
  runtime::CUdeviceptr arena = 0;
  size_t arenaBytes = 0;
  std::vector<unsigned char> image;
};

} // namespace tilegym::fuzz
