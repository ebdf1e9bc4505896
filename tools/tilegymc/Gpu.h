// SPDX-License-Identifier: MIT
// The GPU as the commands use it: found or not, memory, and tensors that lie between guards.
#pragma once
#include "compiler/interpreter/HostTensor.h"
#include "runtime/src/Driver.h"
#include "tilegym/tilegym.h"
#include <optional>
#include <string>
#include <utility>

namespace tilegym::cli {

struct Gpu {
  const runtime::Driver *driver = nullptr;
  const runtime::Device *device = nullptr;
  /// Bytes watched on both sides of a tensor; none where the device notices every stray access itself.
  size_t guard = 256; // keeps the alignment that the driver gives
  /// "13.0": the CUDA that the driver is of.
  std::string version() const;
  /// The driver's name and text for a result.
  std::string text(const char *what, runtime::CUresult result) const;
};
/// Makes the first GPU's context the thread's. Null, with `why` set, where there is none.
std::optional<Gpu> findGpu(std::string &why);

/// Device memory, freed at the end.
class DeviceBlock {
public:
  DeviceBlock() = default;
  DeviceBlock(DeviceBlock &&other) noexcept { *this = std::move(other); }
  DeviceBlock &operator=(DeviceBlock &&other) noexcept {
    std::swap(driver, other.driver);
    std::swap(start, other.start);
    std::swap(bytes, other.bytes);
    return *this;
  }
  ~DeviceBlock();
  /// False, with `error` set, where there is no room.
  bool allocate(const Gpu &gpu, size_t size, std::string &error);
  runtime::CUdeviceptr address() const { return start; }
  size_t size() const { return bytes; }

private:
  const runtime::Driver *driver = nullptr;
  runtime::CUdeviceptr start = 0;
  size_t bytes = 0;
};

/// A host tensor's buffer on the device, with guards on both sides that nothing may write.
class DeviceTensor {
public:
  bool upload(const Gpu &gpu, const interp::HostTensor &tensor, std::string &error);
  /// The buffer as it is now, in a tensor of the same strides. `damage` says which guard was written.
  std::optional<interp::HostTensor> download(const Gpu &gpu, std::string &damage, std::string &error) const;
  /// Valid as long as this object stays where it is.
  const TilegymTensor *view();

private:
  DeviceBlock block;
  size_t guard = 0;
  interp::HostTensor host; ///< shape, strides and the bytes uploaded
  TilegymTensor tensor{};
};

} // namespace tilegym::cli
