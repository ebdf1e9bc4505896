// SPDX-License-Identifier: MIT
// Stream-ordered memory for outputs: the driver's pool, or the host's heap while the thread's calls go to the reference backend. A block goes back where it
// came from, whatever is in use by then.
#include "Backend.h"
#include "Driver.h"
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unordered_set>

using namespace tilegym::runtime;

namespace {

struct HostBlocks {
  std::mutex mutex;
  std::unordered_set<void *> blocks;
};
HostBlocks &hostBlocks() {
  static auto *blocks = new HostBlocks; // never destroyed: tensors with static storage are freed late
  return *blocks;
}

constexpr size_t kAlignment = 256; // what the driver gives

TilegymStatus allocateOnHost(size_t bytes, void **out) {
  if (bytes > SIZE_MAX - kAlignment)
    return fail(TILEGYM_OUT_OF_MEMORY, "the host has no %zu bytes", bytes);
  void *block = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (!block)
    return fail(TILEGYM_OUT_OF_MEMORY, "the host has no %zu bytes", bytes);
  HostBlocks &host = hostBlocks();
  std::lock_guard lock(host.mutex);
  host.blocks.insert(block);
  *out = block;
  return TILEGYM_OK;
}

bool freeOnHost(void *data) {
  HostBlocks &host = hostBlocks();
  {
    std::lock_guard lock(host.mutex);
    if (!host.blocks.erase(data))
      return false;
  }
  std::free(data);
  return true;
}

} // namespace

extern "C" {

TilegymStatus tilegym_allocate(size_t bytes, void *stream, void **out) {
  if (!out)
    return fail(TILEGYM_INVALID_ARGUMENT, "the address for the memory is null");
  *out = nullptr;
  if (bytes == 0)
    return TILEGYM_OK;
  if (usesHostMemory())
    return guarded([&] { return allocateOnHost(bytes, out); });
  const Driver *driver = nullptr;
  TRY(getDriver(&driver));
  const Device *device = nullptr;
  TRY(currentDevice(*driver, nullptr, &device));
  CUdeviceptr address = 0;
  CUresult result = driver->memAllocAsync(&address, bytes, static_cast<CUstream>(stream));
  if (result != kSuccess) {
    char what[128];
    std::snprintf(what, sizeof what, "allocating %zu bytes on the GPU", bytes);
    return driver->failure(what, result);
  }
  *out = reinterpret_cast<void *>(address);
  return TILEGYM_OK;
}

TilegymStatus tilegym_free(void *data, void *stream) {
  if (!data || freeOnHost(data))
    return TILEGYM_OK;
  const Driver *driver = nullptr;
  TRY(getDriver(&driver));
  CUresult result = driver->memFreeAsync(reinterpret_cast<CUdeviceptr>(data), static_cast<CUstream>(stream));
  return result == kSuccess ? TILEGYM_OK : driver->failure("freeing memory of the GPU", result);
}

} // extern "C"
