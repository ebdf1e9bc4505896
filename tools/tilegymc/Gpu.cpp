// SPDX-License-Identifier: MIT
// Device memory through the runtime's own table of driver functions.
#include "Gpu.h"
#include <algorithm>
#include <cstring>

namespace tilegym::cli {
namespace {

constexpr unsigned char kGuardByte = 0xff; ///< NaN in every float dtype, so that a stray read shows

} // namespace

std::string Gpu::text(const char *what, runtime::CUresult result) const {
  driver->failure(what, result);
  return tilegym_last_error();
}

std::string Gpu::version() const {
  return std::to_string(driver->version / 1000) + "." + std::to_string(driver->version % 1000 / 10);
}

std::optional<Gpu> findGpu(std::string &why) {
  Gpu gpu;
  if (runtime::getDriver(&gpu.driver) == TILEGYM_OK &&
      runtime::currentDevice(*gpu.driver, 0, &gpu.device) == TILEGYM_OK)
    return gpu;
  why = tilegym_last_error();
  return std::nullopt;
}

DeviceBlock::~DeviceBlock() {
  if (driver)
    driver->memFree(start);
}

bool DeviceBlock::allocate(const Gpu &gpu, size_t size, std::string &error) {
  *this = DeviceBlock();
  if (runtime::CUresult result = gpu.driver->memAlloc(&start, std::max<size_t>(size, 1));
      result != runtime::kSuccess) {
    error = gpu.text(("allocating " + std::to_string(size) + " bytes on the GPU").c_str(), result);
    return false;
  }
  driver = gpu.driver;
  bytes = size;
  return true;
}

bool DeviceTensor::upload(const Gpu &gpu, const interp::HostTensor &from, std::string &error) {
  host = from;
  guard = gpu.guard;
  size_t size = from.buffer->size();
  if ((!block.address() || block.size() != size + 2 * guard) && !block.allocate(gpu, size + 2 * guard, error))
    return false;
  std::vector<unsigned char> image(size + 2 * guard, kGuardByte);
  std::memcpy(image.data() + guard, from.buffer->data(), size);
  if (runtime::CUresult result = gpu.driver->memcpyHtoD(block.address(), image.data(), image.size());
      result != runtime::kSuccess) {
    error = gpu.text("copying to the GPU", result);
    return false;
  }
  return true;
}

std::optional<interp::HostTensor> DeviceTensor::download(const Gpu &gpu, std::string &damage,
                                                         std::string &error) const {
  std::vector<unsigned char> image(block.size());
  if (runtime::CUresult result = gpu.driver->memcpyDtoH(image.data(), block.address(), image.size());
      result != runtime::kSuccess) {
    error = gpu.text("copying from the GPU", result);
    return std::nullopt;
  }
  auto isGuard = [](unsigned char byte) { return byte == kGuardByte; };
  if (!std::all_of(image.begin(), image.begin() + guard, isGuard))
    damage = "bytes before its memory were written";
  else if (!std::all_of(image.end() - guard, image.end(), isGuard))
    damage = "bytes after its memory were written";
  interp::HostTensor out = host;
  out.buffer = interp::HostBuffer::allocate(host.buffer->size());
  std::memcpy(out.buffer->data(), image.data() + guard, out.buffer->size());
  return out;
}

const TilegymTensor *DeviceTensor::view() {
  tensor.data =
      reinterpret_cast<void *>(block.address() + guard + size_t(host.offset) * sizeInBytes(host.dtype));
  tensor.shape = host.shape.data();
  tensor.strides = host.strides.data();
  tensor.rank = int32_t(host.rank());
  tensor.dtype = int32_t(host.dtype);
  return &tensor;
}

} // namespace tilegym::cli
