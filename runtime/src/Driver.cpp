// SPDX-License-Identifier: MIT
// Opening of the driver, and the devices' facts. TILEGYM_DRIVER names another library, for tests.
#include "Driver.h"
#include <array>
#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <string>

namespace tilegym::runtime {
namespace {

struct Opened {
  Driver driver;
  TilegymStatus status = TILEGYM_OK;
  std::string error;
};

Opened openDriver() {
  Opened o;
  const char *override = std::getenv("TILEGYM_DRIVER");
  const char *names[] = {override ? override : "libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"};
  void *library = nullptr;
  for (const char *name : names) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library || override)
      break;
  }
  if (!library) {
    const char *text = dlerror();
    o.status = TILEGYM_NO_DRIVER;
    o.error = std::string("no CUDA driver: ") + (text ? text : "libcuda.so.1 not found") +
              "; install NVIDIA's driver, or use the reference backend";
    return o;
  }
// NOLINTBEGIN(bugprone-macro-parentheses): names and parameter lists take no parentheses
#define X(name, symbol, parameters)                                                                          \
  if (!(o.driver.name = reinterpret_cast<CUresult(*) parameters>(dlsym(library, symbol)))) {                 \
    o.status = TILEGYM_NO_DRIVER;                                                                            \
    o.error = "the CUDA driver lacks " symbol ": it is older than CUDA 12.0; update NVIDIA's driver";        \
    return o;                                                                                                \
  }
#include "CudaSymbols.inc"
#undef X
  // NOLINTEND(bugprone-macro-parentheses)
  if (CUresult result = o.driver.init(0); result != kSuccess) {
    const char *name = nullptr;
    o.driver.getErrorName(result, &name);
    o.status = TILEGYM_NO_DEVICE;
    o.error = std::string("the CUDA driver found no usable GPU: cuInit gave ") +
              (name ? name : std::to_string(result).c_str());
    return o;
  }
  o.driver.driverGetVersion(&o.driver.version);
  if (o.driver.version < 12000) {
    o.status = TILEGYM_NO_DRIVER;
    o.error = "the CUDA driver is of CUDA " + std::to_string(o.driver.version / 1000) + "." +
              std::to_string(o.driver.version % 1000 / 10) + ", older than CUDA 12.0; update NVIDIA's driver";
  }
  return o;
}

} // namespace

TilegymStatus Driver::failure(const char *what, CUresult result, TilegymStatus status) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  return fail(status, "%s failed: %s (%d): %s", what, name ? name : "unknown error", result,
              text ? text : "no description");
}

static thread_local const Driver *given = nullptr;

void useDriver(const Driver *driver) { given = driver; }

TilegymStatus getDriver(const Driver **driver) {
  if (given) {
    *driver = given;
    return TILEGYM_OK;
  }
  // Never closed: CUDA's own teardown order at exit is not ours to disturb.
  static const Opened *opened = new Opened(openDriver());
  if (opened->status != TILEGYM_OK)
    return fail(opened->status, "%s", opened->error.c_str());
  *driver = &opened->driver;
  return TILEGYM_OK;
}

namespace {

/// A thread that never used CUDA gets the context that the CUDA runtime would give it.
TilegymStatus makeContext(const Driver &driver, const void *memory, CUdevice *ordinal) {
  int name[] = {kPointerDeviceOrdinal}, found = -1;
  void *value[] = {&found};
  bool known = memory &&
               driver.pointerGetAttributes(1, name, value, reinterpret_cast<CUdeviceptr>(memory)) == kSuccess;
  *ordinal = known && found >= 0 ? found : 0;
  CUcontext context = nullptr;
  if (CUresult result = driver.devicePrimaryCtxRetain(&context, *ordinal); result != kSuccess)
    return driver.failure("making a context on the GPU", result, TILEGYM_NO_DEVICE);
  if (CUresult result = driver.ctxSetCurrent(context); result != kSuccess)
    return driver.failure("making the GPU's context current", result, TILEGYM_NO_DEVICE);
  return TILEGYM_OK;
}

TilegymStatus readDevice(const Driver &driver, CUdevice ordinal, Device *device) {
  int major = 0, minor = 0;
  CUresult result = driver.deviceGetAttribute(&major, kAttributeComputeMajor, ordinal);
  if (result == kSuccess)
    result = driver.deviceGetAttribute(&minor, kAttributeComputeMinor, ordinal);
  if (result == kSuccess)
    result = driver.deviceGetAttribute(&device->multiprocessors, kAttributeMultiprocessors, ordinal);
  if (result == kSuccess)
    result = driver.deviceGetName(device->name, sizeof device->name, ordinal);
  if (result != kSuccess)
    return driver.failure("asking for the GPU's properties", result, TILEGYM_NO_DEVICE);
  device->arch = major * 10 + minor;
  device->ordinal = ordinal;
  return TILEGYM_OK;
}

} // namespace

static TilegymStatus askForDevice(const Driver &driver, const void *memory, const Device **device) {
  static std::array<Device, 64> devices;
  static std::array<std::atomic<bool>, 64> known;
  static std::mutex mutex;
  CUdevice ordinal = 0;
  CUresult result = driver.ctxGetDevice(&ordinal);
  if (result == kErrorInvalidContext) {
    if (TilegymStatus status = makeContext(driver, memory, &ordinal); status != TILEGYM_OK)
      return status;
  } else if (result != kSuccess) {
    return driver.failure("asking for the current GPU", result);
  }
  if (ordinal < 0 || ordinal >= int(devices.size()))
    return fail(TILEGYM_NO_DEVICE, "device number %d is beyond the %zu that this runtime knows", ordinal,
                devices.size());
  if (!known[ordinal].load(std::memory_order_acquire)) {
    std::lock_guard lock(mutex);
    if (!known[ordinal].load(std::memory_order_relaxed))
      if (TilegymStatus status = readDevice(driver, ordinal, &devices[ordinal]); status != TILEGYM_OK)
        return status;
    known[ordinal].store(true, std::memory_order_release);
  }
  *device = &devices[ordinal];
  return TILEGYM_OK;
}

/// One question a call: while the context is the one of the thread's last call, so is its device.
TilegymStatus currentDevice(const Driver &driver, const void *memory, const Device **device,
                            uint64_t *context) {
  static thread_local struct {
    const Driver *driver = nullptr;
    uint64_t context = 0;
    const Device *device = nullptr;
  } last;
  unsigned long long number = 0;
  bool isKnown = driver.ctxGetId(nullptr, &number) == kSuccess && number && number == last.context &&
                 &driver == last.driver;
  if (!isKnown) {
    TRY(askForDevice(driver, memory, &last.device));
    last.driver = &driver;
    last.context =
        driver.ctxGetId(nullptr, &number) == kSuccess ? number : 0; // it may have been made just now
  }
  *device = last.device;
  if (context)
    *context = last.context;
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
